// Why a pair has its score: what earlier parts of the network wrote into its query and its key.

import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { pathOf } from "../../web/core/sources.js";
import { figures } from "../../web/core/ticks.js";
import { useState } from "../../web/vendor/hooks.js";

/** @import {Share} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const MOST = 8; // terms beside the folded ones
const SENTENCE =
  "The score once split over what was written into the query, once over what was written into the" +
  " key; each list sums to the score. Norms are linearised: they keep this input’s deviation.";

/** @param {{state: TextState, pair: {query: number, key: number}}} props */
export function Split({ state, pair: { query, key } }) {
  const [isOpen, setOpen] = useState(false);
  const { site, head } = state.selection;
  const path = isOpen ? pathOf("split", { site, head, query, key }) : null;
  const { answer, ...reply } = useAnswer(state, "split", path, "Splitting the score");
  return html`
    <details class="hs-details hs-why" onToggle=${({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Why this score?</summary>
      <div class="hs-why-body">
        <p class="hs-sentence">${answer ? SENTENCE : reply.reason}</p>
        ${
          answer &&
          html`<div class="hs-why-lists">
            <${Terms} name="Written into the query" terms=${answer.query} score=${answer.score} />
            <${Terms} name="Written into the key" terms=${answer.key} score=${answer.score} />
          </div>`
        }
      </div>
    </details>
  `;
}

/** The terms of a sum that matter most, whatever their sign; the rest is folded. */
function Terms({ name, terms, score }) {
  const sorted = /** @type {Share[]} */ ([...terms].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)));
  const most = Math.max(Math.abs(sorted[0]?.value ?? 0), 1e-9);
  const rest = sorted.slice(MOST);
  const sum = rest.reduce((total, { value }) => total + value, 0);
  const row = ({ name: label, value }) => {
    const share = (50 * value) / most;
    const bar = { "--from": `${50 + Math.min(0, share)}%`, "--wide": `${Math.abs(share)}%` };
    return html`
      <li class="hs-why-row">
        <span class="hs-why-name">${label}</span>
        <span class="hs-why-bar" aria-hidden="true" style=${bar}></span>
        <span class="hs-why-number">${figures(value)}</span>
      </li>
    `;
  };
  return html`
    <section>
      <h3 class="hs-heading">${`${name}: ${figures(score)}`}</h3>
      <ol class="hs-why-list">${sorted.slice(0, MOST).map(row)}</ol>
      ${
        rest.length > 0 &&
        html`<details class="hs-why-rest">
          <summary>${`${rest.length} more, together ${figures(sum)}`}</summary>
          <ol class="hs-why-list">${rest.map(row)}</ol>
        </details>`
      }
    </section>
  `;
}
