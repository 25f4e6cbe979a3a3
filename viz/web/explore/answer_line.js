// What the model says, in a line that every model has: next words or classes, what was written, or the numbers of
// the output; with edits, before and after.

import { colourOf, pixelOf } from "../core/colours.js";
import { useAnswer, useNewest } from "../core/hooks.js";
import { html } from "../core/html.js";
import { distinct, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { probability } from "../core/ticks.js";
import { Pixels } from "../painting/pixels.js";
import { Stepper } from "../parts/controls.js";
import { useMemo } from "../vendor/hooks.js";

/** @import {Theme} from "../types" */

const NAMED = 4; // outputs in the line
const LEAST = 0.001; // of the probability, for all but the first

/**
 * @param {object} props
 * @param {import("../core/state.js").State<any>} props.state
 * @param {Theme} props.theme
 * @param {((output: string) => void) | null} props.explain shows what an output rests on
 * @param {unknown} props.children what stands behind the words
 */
export function AnswerLine({ state, theme, explain, children }) {
  const { predicts } = state.props;
  const { site, direction, token } = state.selection;
  const masks = useNewest(Boolean(state.baseOrNull), () => ({ of: /** @type {(number | null)[]} */ ([]) }), [
    state.trace,
  ]);
  const asked = state.props.given
    ? { token: state.props.given - 1 }
    : masks?.of.length && token !== null
      ? { token }
      : {};
  const way = masks?.of.length ? direction : "out";
  const path = predicts ? pathOf("predictions", { site, direction: way, ...asked }) : null;
  const { answer, newest } = useAnswer(state, "said", path);
  if (masks && answer?.masks) masks.of = answer.masks;
  return html`
    <div class="hs-answer" aria-live="polite">
      ${predicts ? html`<${Said} ...${{ answer: newest, explain, state }} />` : html`<${Barcode} ...${{ state, theme }} />`}
      ${children}
    </div>
  `;
}

function Said({ answer, explain, state }) {
  if (!answer?.lead) return html`<span class="hs-answer-lead">…</span>`;
  const { written, labels = [], values = [], probabilities = [], change, mask, masks = [] } = answer;
  const [words] = answer.lead;
  const lead = written
    ? "Written"
    : words.startsWith("What comes after")
      ? "Next word"
      : words === "Class"
        ? "Class"
        : "Here";
  const count = probabilities.findIndex((/** @type {number} */ share, i) => i > 0 && share < LEAST);
  const most = written ? 1 : Math.min(NAMED, count < 0 ? labels.length : count);
  const outputs = change
    ? change.labels.map((label, i) => ({ label, before: change.before[i], share: change.after[i] }))
    : labels.slice(0, most).map((label, i) => ({ label, share: probabilities[i] }));
  const names = distinct(outputs.map(({ label }) => label));
  const apart = masks.length > 1 && new Set(masks).size === masks.length && !masks.includes(null);
  return html`
    <span class="hs-answer-lead">${lead}</span>
    ${written && html`<bdi class="hs-written-text" title=${written[1]}>${written[1] || "nothing"}</bdi>`}
    ${
      apart &&
      state.remote &&
      html`<${Stepper}
        name="Mask"
        labels=${masks.map((_, i) => String(i + 1))}
        index=${mask ?? 0}
        onChoose=${(i) => state.select({ token: masks[i] })}
      />`
    }
    ${(!written || change) && outputs.map((each, i) => html`<${Chip} ...${{ ...each, name: names[i], first: i === 0 }} onClick=${explain && values[labels.indexOf(each.label)] !== undefined ? () => explain(values[labels.indexOf(each.label)]) : null} />`)}
    ${change && html`<span class="hs-answer-effect">${effectOf(change)}</span>`}
    ${change?.repeat && html`<span class="hs-answer-effect" title=${REPEAT}>${repeatOf(change.repeat)}</span>`}
  `;
}

/** A word, its share of the probability as a bar, and what it was before the edits. */
function Chip({ name, share, before, first, onClick }) {
  const number =
    before === undefined
      ? probability(share)
      : html`<s>${probability(before)}</s> → <b>${probability(share)}</b>`;
  const style = { "--share": `${100 * share}%`, "--before-part": before ?? share };
  const inner = html`<bdi>${legible(name)}</bdi><span class="hs-answer-share">${number}</span>`;
  const kind = `hs-answer-chip ${first ? "hs-first" : ""} ${before === undefined ? "" : "hs-moved"}`;
  if (!onClick) return html`<span class=${kind} style=${style}>${inner}</span>`;
  return html`<button type="button" class=${kind} style=${style} title="What this rests on" onClick=${onClick}>${inner}</button>`;
}

const REPEAT = "The mean loss, in nats, over the tokens at the end that came earlier in the same order";

const repeatOf = ([before, after]) =>
  html`loss on the repeat <s>${before.toFixed(2)}</s> → <b>${after.toFixed(2)}</b>`;

const effectOf = ({ kl }) =>
  kl < 0.001
    ? "hardly any change"
    : `${kl < 0.1 ? "a small" : kl < 1 ? "a clear" : "a large"} change (KL ${kl.toPrecision(2)})`;

const WIDE = 450;
const HIGH = 18;

function Barcode({ state, theme }) {
  const { newest } = useAnswer(state, "vector", state.holds("vector") ? "vector" : null);
  const values = newest?.values ?? [];
  const pixels = useMemo(() => {
    const most = Math.max(...values.map(Math.abs)) || 1;
    return Uint32Array.from(values, (value) => pixelOf(colourOf(theme, value, most, true)));
  }, [newest, theme]);
  if (!newest) return html`<span class="hs-answer-lead">Comes out</span>`;
  const { of, like } = newest;
  const { length } = values;
  return html`
    <span class="hs-answer-lead">Comes out</span>
    <${Pixels}
      ...${{ pixels, across: length }}
      class="hs-barcode"
      style=${{ width: `${WIDE}px`, height: `${HIGH}px` }}
      role="img"
      aria-label=${`The ${length} numbers, brown below zero, blue above`}
    />
    <span class="hs-answer-note">${`${length.toLocaleString("en")} numbers that stand for the ${of}`}</span>
    ${like !== null && html`<b class="hs-answer-effect">${`${(100 * like).toFixed(like > 0.999 ? 2 : 1)} % like before`}</b>`}
  `;
}
