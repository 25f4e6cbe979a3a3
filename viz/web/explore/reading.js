// What the word in question looks at most, or who looks at it: five bars, a sentence, and a doubt.

import { html } from "../core/html.js";
import { Bars } from "../parts/controls.js";
import { sentenceOf, wordOf } from "./focus.js";

/** @import {TextState} from "../text/state.js" */
/** @import {Focus} from "./focus.js" */

const DOUBT = "A weight shows where information may come from. It does not prove what decided the answer.";

/** @param {{state: TextState, focus: Focus | null}} props */
export function Reading({ state, focus }) {
  if (!focus) return html`<p class="hs-card-title">…</p>`;
  const { axis, index, best } = focus;
  const other = axis === "key" ? "query" : "key";
  const word = wordOf(state, axis, index);
  const asked = state.texts().one || !best.length ? word : wordOf(state, other, best[0][0]);
  const rows = best.map(([place, value]) => ({
    label: nameIn(state, other, place),
    value,
    text: percentOf(value),
  }));
  const there = state.texts().one ? index : (best[0]?.[0] ?? null); // of another text what was looked at
  const turn = () => state.select({ token: there, direction: axis === "key" ? "out" : "in" });
  return html`<${ReadingCard}
    title=${`${word} ${axis === "key" ? "is read most by" : "looks most at"}`}
    turned=${axis === "key" ? `What does ${asked} look at?` : `Who looks at ${asked}?`}
    sentence=${best.length ? sentenceOf(state, focus) : "…"}
    ...${{ onTurn: turn, rows, doubt: DOUBT }}
  />`;
}

/**
 * Bars under their title, with the way to the other direction, a sentence and a doubt.
 *
 * @param {{title: string, turned: string, onTurn: () => void, rows: object[], sentence: string, doubt: string}} props
 */
export const ReadingCard = ({ title, turned, onTurn, rows, sentence, doubt }) => html`
  <div class="hs-card-head">
    <h3 class="hs-card-title">${title}</h3>
    <button type="button" class="hs-link" onClick=${onTurn}>${turned}</button>
  </div>
  <${Bars} ...${{ rows, full: 1 }} />
  <p class="hs-card-sentence">${sentence}</p>
  <p class="hs-card-doubt">${doubt}</p>
`;

/** @param {number} share */
export function percentOf(share) {
  const value = 100 * share;
  return `${value >= 1.95 || value < 0.05 ? value.toFixed(0) : value.toFixed(1)} %`;
}

/** A token, with its number where another one has the same letters. */
function nameIn(state, axis, place) {
  const { labels } = state.texts()[axis];
  const bare = labels.map((label) => label.trim());
  const name = bare[place] || labels[place];
  const same = bare.flatMap((label, at) => (label === bare[place] ? [at] : []));
  return same.length > 1 ? `${name} (${ordinal(same.indexOf(place) + 1)})` : name;
}

const ordinal = (n) =>
  `${n}${n % 10 === 1 && n % 100 !== 11 ? "st" : n % 10 === 2 && n % 100 !== 12 ? "nd" : n % 10 === 3 && n % 100 !== 13 ? "rd" : "th"}`;
