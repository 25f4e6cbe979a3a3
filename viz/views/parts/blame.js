// What an output rests on: tokens, edges and a path, and what cutting these edges does to its
// probability, beside random edges of the same layers.

import { colourOf, textOn } from "../../web/core/colours.js";
import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { legible, placeIn } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { probability, signed } from "../../web/core/ticks.js";
import { OnRequest, Quoted } from "../../web/parts/controls.js";
import { largest } from "../../web/methods/choices.js";

/** @import {BlameAnswer, Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const DOUBT =
  "What it does not prove: effects are estimated with the rest of the network linearised, and a cut leaves what the" +
  " model was trained on. Where the text says the same thing twice, cutting one changes little.";

/** @param {{state: TextState, theme: Theme}} props */
export function Blame({ state, theme }) {
  const { tested, output } = state.selection;
  const isOn = tested === "yes";
  const path = isOn ? pathOf("blame", { output: output || undefined }) : null;
  const { answer, reason } = useAnswer(state, "blame", path, "Cutting edges");
  return html`
    <${OnRequest}
      ...${{ isOn, reason, kind: "hs-blame" }}
      text="What it rests on"
      title="Blame: find the edges of all heads that the output rests on, and cut them"
      onToggle=${() => state.select({ tested: isOn ? "no" : "yes" })}
    >
      ${answer && html`<${Answer} ...${{ state, theme, answer }} />`}
    <//>
  `;
}

/** @param {{state: TextState, theme: Theme, answer: BlameAnswer}} props */
function Answer({ state, theme, answer }) {
  const { labels, edges, path, before, after, controls, name, position } = answer;
  const lower = controls.filter((each) => each > after).length;
  const where = position === null ? "" : ` at position ${position}`;
  const random = `${probability(Math.min(...controls))} to ${probability(Math.max(...controls))}`;
  const check =
    ` ${probability(before)} → ${probability(after)}. As many random edges of the same layers, ${controls.length} times:` +
    ` ${random}; ${lower} of ${controls.length} keep more.`;
  const moves = path.filter(({ query, key }) => query !== key);
  const others = path.length - moves.length;
  return html`
    <p class="hs-check" aria-live="polite">${`These ${edges.length} edges cut: probability of `}<${Quoted} label=${name} />${where}${check}</p>
    <p class="hs-sentence">
      ${`Relevance of each token, Σ A ⊙ ∇A of log p. Spans with the most: ${spansOf(answer)}.`}
    </p>
    <${Chips} ...${{ theme, answer }} />
    <div class="hs-why-lists">
      <section>
        <h3 class="hs-heading">Edges that were cut, by effect on log p</h3>
        <${Edges} ...${{ state, labels, edges }} />
      </section>
      <section>
        <h3 class="hs-heading">The path, from the output down</h3>
        <${Edges} ...${{ state, labels, edges: moves }} />
        <p class="hs-doubt">${others > 0 && `${others} more edges of it stay at their token.`}</p>
      </section>
    </div>
    <p class="hs-doubt">${DOUBT}</p>
  `;
}

function Chips({ theme, answer: { labels, tokens } }) {
  const signs = tokens.some((value) => value < 0);
  const top = largest(tokens);
  return html`
    <div class="hs-chips" role="group" aria-label="Tokens that the output rests on">
      ${labels.map((label, i) => {
        const ground = colourOf(theme, tokens[i], top, signs);
        const style = { background: `rgb(${ground.join()})`, color: textOn(ground, theme.text) };
        const title = `${legible(label)} (${i}): ${signed(tokens[i], 3)}`;
        return html`<span class="hs-chip" ...${{ title, style }}>${legible(label)}</span>`;
      })}
    </div>
  `;
}

/** Edges; chosen, the view goes to the head and query. */
function Edges({ state, labels, edges }) {
  const { query: text } = state.texts();
  const tokenOf = (query) => {
    const token = placeIn(text, query);
    return token < 0 ? {} : { token, direction: "out" };
  };
  const edge = ({ site, head, query, key, effect }) => html`
    <li>
      <button
        type="button"
        class="hs-edge"
        title="Show this head and query"
        onClick=${() => state.select({ site, head, ...tokenOf(query) })}
      >
        <span class="hs-edge-effect">${signed(effect, 3)}</span>${`${state.siteName(site)}, head ${head}: `}
        <${Quoted} label=${labels[query]} />${" → "}<${Quoted} label=${labels[key]} />
      </button>
    </li>
  `;
  return html`<ol class="hs-edges">
    ${edges.map(edge)}
  </ol>`;
}

const spansOf = ({ spans }) =>
  spans
    .slice(0, 3)
    .map(([text, share]) => `“${legible(text)}” ${(100 * share).toFixed(0)}\u00a0%`)
    .join(", ") || "none";
