// Faithfulness of a relevance: what happens to the output without its tokens, beside random orders.

import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { pathOf } from "../core/sources.js";
import { Button, Menu } from "../parts/controls.js";

/** @import {Options} from "../types" */
/** @import {TextState} from "../text/state.js" */

const [WIDE, TALL, EDGE] = [220, 110, 12];
const SLOT = "faithful";
const LEAST = 0.01; // of the axis: smaller drops are noise
const NAMES = [
  { name: "comprehensiveness", what: "without the most relevant tokens", good: "large is faithful" },
  { name: "sufficiency", what: "with the most relevant tokens alone", good: "small is faithful" },
];
const REMOVED = { mask: "masked", drop: "left out" };

/** @type {Record<Options["proof"], [string, string]>} what happens to patches, and what they become */
const PERTURBED = {
  deletion: [
    "Patches are greyed out one after another: a faithful relevance makes the probability fall sooner with the most relevant ones first than in random orders.",
    "grey",
  ],
  insertion: [
    "Patches are put back into the blurred picture: a faithful relevance makes the probability rise sooner with the most relevant ones first than in random orders.",
    "blurred",
  ],
};

/**
 * @param {object} props
 * @param {TextState} props.state
 * @param {string} props.method
 * @param {boolean} [props.pictured] whether tokens are patches, which can be taken away in several ways
 */
export function Faithful({ state, method, pictured = false }) {
  const { tested, proof, output } = state.selection;
  const unit = pictured ? "patches" : "tokens";
  const isOn = tested === "yes";
  const proofs = /** @type {Options["proof"][]} */ (Object.keys(PERTURBED));
  const asked = { method, output: output || undefined, ...(pictured ? { proof } : {}) };
  return html`
    <div class="hs-faithful">
      <div class="hs-row">
        <${Button}
          title=${`Faithfulness: remove the relevant ${unit}`}
          aria-pressed=${isOn}
          onClick=${() => state.select({ tested: isOn ? "no" : "yes" })}
        >
          Test by removing ${unit}
        <//>
        ${
          pictured &&
          html`<${Menu}
          name="How patches are taken away"
          labels=${proofs}
          index=${proofs.indexOf(proof)}
          onChoose=${(index) => state.select({ proof: proofs[index] })}
        />`
        }
      </div>
      ${isOn && html`<${pictured ? Perturbed : Removed} ...${{ state, asked, proof }} />`}
    </div>
  `;
}

/** The output without tokens, by levels: for the relevance, and for random orders. */
function Removed({ state, asked }) {
  const { answer, ...reply } = useAnswer(state, SLOT, pathOf("faithfulness", asked), "Removing tokens");
  if (!answer) return html`<p class="hs-sentence" aria-live="polite">${reply.reason}</p>`;
  const { counts, value, tokens, removal, read } = answer;
  const lines = NAMES.map(({ name }) => answer[name]);
  const all = lines.flat(2);
  const span = spanOf(Math.min(0, ...all), Math.max(LEAST, ...all), counts, "tokens");
  const report = NAMES.map(({ name }, i) => {
    const [mine, ...random] = lines[i].map(mean);
    const band = `${Math.min(...random).toFixed(3)} to ${Math.max(...random).toFixed(3)}`;
    return `${name} ${mine.toFixed(3)} (random orders ${band})`;
  });
  const stays = read ? "special ones and what the decoder reads stay" : "special ones stay";
  return html`
    <div class="hs-curves">
      ${NAMES.map(
        ({ name, what, good }, i) => html`
          <figure class="hs-curve">
            <span>${`Drop ${what} (${good})`}</span>
            <${Chart} lines=${lines[i]} span=${span} label=${`${name}: drop of the output ${what}`} />
          </figure>
        `,
      )}
    </div>
    <p class="hs-sentence" aria-live="polite">
      ${
        `Mean over the levels: ${report.join(", ")}. Output of the whole input ${value.toFixed(3)};` +
        ` ${tokens} tokens are ${REMOVED[removal]}, ${stays}. A text without tokens is unlike those the model knows.`
      }
    </p>
  `;
}

function Perturbed({ state, asked, proof }) {
  const { answer, ...reply } = useAnswer(state, SLOT, pathOf("perturbation", asked), "Changing patches");
  if (!answer) return html`<p class="hs-sentence" aria-live="polite">${reply.reason}</p>`;
  const { counts, most, least, random, score } = answer;
  const [says, become] = PERTURBED[proof];
  const top = Math.max(LEAST, ...most, ...least, ...random.flat());
  const label =
    "Probability: line, the most relevant patches first; dashed, the least relevant first; band, random orders";
  return html`
    <div class="hs-curves">
      <figure class="hs-curve">
        <span>${label}</span>
        <${Chart} lines=${[most, ...random]} span=${spanOf(0, top, counts, "patches")} dashed=${least} label=${label} />
      </figure>
    </div>
    <p class="hs-sentence" aria-live="polite">
      ${
        `${says} Score ${score > 0 ? "+" : ""}${score.toFixed(4)}: half the difference of the areas under line and` +
        ` dashed line, above 0 is faithful. A picture with ${become} patches is unlike those the model knows.`
      }
    </p>
  `;
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

/** The axes of a chart. */
const spanOf = (low, high, counts, unit) => ({ counts, last: Math.max(...counts), low, high, unit });

/** The first line over a band of the others, and a further line. */
function Chart({ lines: [mine, ...random], span: { counts, last, low, high, unit }, dashed, label }) {
  const x = (count) => EDGE + (count / last) * (WIDE - 2 * EDGE);
  const y = (value) => TALL - EDGE - ((value - low) / (high - low || 1)) * (TALL - 2 * EDGE);
  const points = (values) => values.map((value, i) => `${x(counts[i])},${y(value)}`);
  const at = counts.map((_, i) => random.map((line) => line[i]));
  const upper = points(at.map((each) => Math.max(...each)));
  const lower = points(at.map((each) => Math.min(...each)));
  return html`
    <svg viewBox=${`0 0 ${WIDE} ${TALL}`} role="img" aria-label=${label}>
      <text x="2" y="9">${Number(high.toPrecision(2))}</text>
      <text x="2" y=${y(0) - 2}>0</text>
      <text x=${x(counts[0])} y=${TALL - 1} text-anchor="middle">${counts[0]}</text>
      <text x=${WIDE - 2} y=${TALL - 1} text-anchor="end">${last} ${unit}</text>
      <line class="hs-zero" x1="0" x2=${WIDE} y1=${y(0)} y2=${y(0)} />
      <polygon class="hs-band" points=${[...upper, ...lower.reverse()].join(" ")} />
      ${dashed && html`<polyline class="hs-mine hs-dashed" points=${points(dashed).join(" ")} />`}
      <polyline class="hs-mine" points=${points(mine).join(" ")} />
    </svg>
  `;
}
