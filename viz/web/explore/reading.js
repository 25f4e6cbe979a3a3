// What the page is about at a moment: the word in question, and what it looks at most, or who looks at it.

import { useWanted } from "../core/hooks.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { Bars } from "../parts/controls.js";
import { PLAIN } from "../text/maps.js";
import { restingIn, strongest } from "../text/weights.js";

/** @import {Axis} from "../types" */
/** @import {TextState} from "../text/state.js" */

/**
 * A word, and its weights: what it gives to each key, or what each query gives to it.
 *
 * @typedef {object} Focus
 * @property {Axis} axis on which the word stands
 * @property {number} index
 * @property {ArrayLike<number> | null} values null until they are here
 * @property {[number, number][]} best places and their weights, the largest first
 */

/**
 * The word in question: under the pointer, else the chosen one, else the one that looks most clearly at another.
 *
 * @param {TextState} state
 * @returns {Focus | null} null while no weights are here
 */
export function useFocus(state) {
  const { site, head, token, direction, sinks } = state.selection;
  const axis = state.isolated?.axis ?? (direction === "in" ? "key" : "query");
  const index = state.isolated?.index ?? token ?? clearest(state);
  const variant = { ...PLAIN, sinks };
  const path = index === null ? null : state.rowPath(axis, index, variant);
  useWanted(state, "focus", path, state.isolated ? 30 : 0);
  if (index === null) return null;
  const exact = state.maps.exact(site, head, axis, index, variant)?.weights;
  const values = exact ?? (sinks === "shown" ? (state.along(site, head, axis, index)?.values ?? null) : null);
  return { axis, index, values, best: values ? strongest(values, 5) : [] };
}

/** The query with the largest weight on another token that is no special one, and on which not all rest. */
function clearest(state) {
  const { site, head } = state.selection;
  const { queries, keys } = state.site();
  const weights = state.maps.window(site, head, [0, queries], [0, keys]);
  if (!weights) return null;
  const { query, key, one } = state.texts();
  const rest = restingIn(weights, queries, keys)?.key;
  const [plainQuery, plainKey] = [query, key].map(({ special }) => new Set(special));
  let [best, most] = [queries - 1, 0];
  for (let row = 0; row < queries; row++) {
    if (plainQuery.has(row)) continue;
    for (let col = 0; col < keys; col++) {
      if (plainKey.has(col) || col === rest || (one && Math.abs(row - col) < 2) || (!rest && col === 0))
        continue;
      const weight = weights[row * keys + col];
      if (weight > most) [best, most] = [row, weight];
    }
  }
  return best;
}

/**
 * A word as a sentence names it, in quotes; a special token as it is.
 *
 * @param {TextState} state
 * @param {Axis} axis
 * @param {number} index
 */
export function wordOf(state, axis, index) {
  const { labels, special } = state.texts()[axis];
  const label = labels[index] ?? "";
  const word = legible(label.trim() || label);
  return special.includes(index) ? word : `“${word}”`;
}

/** What the chosen head does with the word, in one sentence. @param {TextState} state @param {Focus | null} focus */
export function headlineOf(state, focus) {
  if (!focus?.best.length) return "";
  const { axis, index, best } = focus;
  const [[place, weight]] = best;
  const word = wordOf(state, axis, index);
  const { head } = state.selection;
  const who = typeof head === "number" ? "this head looks" : "these heads look";
  if (axis === "key") {
    const other = wordOf(state, "query", place);
    return place === index && state.texts().one
      ? `${word} is read most by itself.`
      : `${word} is read most by ${other}.`;
  }
  const { key, one } = state.texts();
  const other = wordOf(state, "key", place);
  const reading = state.site().kind === "cross" ? `Writing after ${word}` : `Reading ${word}`;
  if (weight < EVEN) return `${reading}, ${who} at many words.`;
  if (one && place === index) return `${reading}, ${who} at itself.`;
  if (key.special.includes(place)) return `${reading}, ${who.replace("look", "rest")} on ${other}.`;
  const way = !one ? "" : place < index ? " back" : " ahead";
  return `${reading}, ${who}${way} at ${other}.`;
}

const EVEN = 0.15; // of a row: less is no clear look

/** What the numbers behind the headline say beside it. */
function sentenceOf(state, { axis, best, values }) {
  const [[place, weight]] = best;
  const share = `${(100 * weight).toFixed(0)} %`;
  if (axis === "key") return `It receives ${share} of what ${wordOf(state, "query", place)} reads.`;
  const [, second] = best[1] ?? [0, 0];
  const few = Array.from(values ?? []).filter((each) => each > weight / 20).length;
  if (weight < EVEN) return `Its attention is spread over ${few} words.`;
  if (second && weight > 3 * second) return `Nothing else gets a third of that.`;
  return `${wordOf(state, "key", best[1]?.[0] ?? place)} comes next, with ${(100 * second).toFixed(0)} %.`;
}

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
