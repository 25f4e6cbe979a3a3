// What is said of maps over pictures: how much of a word's weight lies on them, and the heads that look at them most.

import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, layerName } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { probability } from "../../web/core/ticks.js";

/** @import {AnswerWord, HeadOnPicture, Need, SampledPoints, Versus} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Sheet} from "./sheets.js" */

/**
 * An answer of the server, or one that a file holds.
 *
 * @template {string} R
 * @param {TextState} state
 * @param {R} name of the slot, and of the route
 * @param {Record<string, any> | null | false | "" | undefined} query none asks nothing
 */
export function useHeld(state, name, query) {
  const path = query ? pathOf(name, query) : null;
  return useAnswer(state, name, path && state.holds(path) ? path : null, "The model reads again");
}

const MOST_NAMED = 6; // words that look at an area
const UNIFORM = 2; // a largest weight below this many means is nearly uniform

/**
 * What a row's weight on each group of frames says.
 *
 * @param {Sheet[]} sheets of a video
 * @param {number} at the group that is shown
 * @param {ArrayLike<number> | null} row of all tokens
 */
export function momentText(sheets, at, row) {
  const { frames, name } = sheets[at];
  const shared =
    frames.length > 1 ? `${capital(name)} share their tokens` : `${capital(name)} has tokens of its own`;
  if (!row) return `${shared}.`;
  const sums = sheets.map(({ grids }) =>
    grids.flatMap(({ places }) => places).reduce((sum, place) => sum + (row[place] ?? 0), 0),
  );
  const most = sums.indexOf(Math.max(...sums));
  const other =
    most === at ? ", the most of all" : `; the most, ${probability(sums[most])}, on ${sheets[most].name}`;
  return `${shared}: ${probability(sums[at])} of the weight${sheets.length > 1 ? other : ""}.`;
}

/**
 * Which words looked at an area, the largest weight first.
 *
 * @param {AnswerWord[]} words
 * @param {number[]} weights of each word on the area
 * @param {number} patches in it
 */
export function readersText(words, weights, patches) {
  const order = words.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
  const named = order.slice(0, MOST_NAMED).map((i) => `“${words[i].text}” ${probability(weights[i])}`);
  const more = order.length > MOST_NAMED ? ", …" : ".";
  return `Weight on the area (${patches} ${patches === 1 ? "token" : "tokens"}) while each word was written, the largest first: ${named.join(", ")}${more}`;
}

/**
 * By how much a word's logit is above a rival's, or below.
 *
 * @param {Pick<Versus, "word" | "rival" | "difference">} versus
 */
export const differenceText = ({ word, rival, difference }) =>
  `The logit of “${word}” is ${Math.abs(difference).toFixed(2)} ${difference < 0 ? "below" : "above"} that of “${rival}”`;

/**
 * What is said of the colours of a picture, whose maps may share them with others.
 *
 * @param {ArrayLike<number>[]} maps
 * @param {number} top the weight with the last colour
 */
export function scaleText(maps, top) {
  const values = maps.flatMap((map) => Array.from(map));
  const most = Math.max(0, ...values);
  const mean = values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
  if (!most) return "no weight on this picture";
  const largest = most < 0.999 * top ? `largest ${shortOf(most)}, ` : "";
  return `${largest}colours up to ${shortOf(top)}${most < UNIFORM * mean ? ", nearly uniform" : ""}`;
}

/** Two digits, or a whole number. */
const shortOf = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));

/**
 * Whether a word needs an area, as a sentence.
 *
 * @param {string} word
 * @param {Need} need
 * @param {boolean} [isWhole] whether the area is the picture as a whole
 */
export function needText(word, { before, after, elsewhere }, isWhole = false) {
  const hidden = `${probability(after)} with ${isWhole ? "all of it" : "the area"} in its mean colour`;
  const numbers = `“${word}”: ${probability(before)} with the picture as it is, ${hidden}`;
  if (!elsewhere.length) {
    const verdict = after < before ? "makes" : "does not make";
    return `${numbers}. Hiding it ${verdict} the word less likely; no other area of this size is left to compare with.`;
  }
  const isNeeded = after < before && after < Math.min(...elsewhere);
  const verdict = isNeeded
    ? "Needed: it loses more here than elsewhere."
    : "Not shown to be needed: another area of this size costs it as much.";
  return `${numbers}; with areas of the same size elsewhere ${elsewhere.map(probability).join(", ")}. ${verdict}`;
}

/**
 * How many sampling points there are, and how many of them lie outside the picture.
 *
 * @param {Pick<SampledPoints, "places">} points
 */
export function pointsText({ places }) {
  const outside = places.filter((place) => place.some((share) => share < 0 || share > 1)).length;
  return `${places.length} sampling points${outside ? `, ${outside} outside the picture` : ""}`;
}

/**
 * @param {object} props
 * @param {import("../../web/text/state.js").TextState} props.state
 * @param {import("./sheets.js").Look} props.look
 * @param {any} props.shares
 */
export function Shares({ state, look, shares }) {
  const { head } = state.selection;
  const ranked = useHeld(state, "ranked", look.span);
  const of = (values) => {
    if (typeof head === "number") return values[head];
    return head === "max" ? Math.max(...values) : values.reduce((a, b) => a + b, 0) / values.length;
  };
  const parts = shares && [
    ["on the picture", of(shares.image)],
    ["on sinks", of(shares.sinks)],
    ["on other text", of(shares.text)],
  ];
  return html`
    <div class="hs-pictures-beside">
      ${
        parts &&
        html`
        <dl class="hs-pictures-shares">
          ${parts.map(
            ([name, share]) => html`
              <dt>${name}</dt>
              <dd><span class="hs-bar-line" aria-hidden="true" style=${{ "--share": `${100 * share}%` }}></span>${probability(share)}</dd>
            `,
          )}
        </dl>
      `
      }
      ${
        ranked.answer?.heads &&
        html`
        <p class="hs-heading">Heads that look at the picture</p>
        <ol class="hs-pictures-heads">
          ${ranked.answer.heads.map((each) => html`<li><${Ranked} ...${{ state, look, each }} /></li>`)}
        </ol>
      `
      }
    </div>
  `;
}

/** @param {{state: any, look: any, each: HeadOnPicture}} props */
function Ranked({ state, look, each: { site, head, mass } }) {
  const { selection, base } = state;
  const isHeld = state.remote || look.holdsRow(site, head, look.placeOf(look.span.first, site));
  return html`
    <button
      type="button"
      class="hs-button hs-pictures-head"
      title=${`${probability(mass)} of the weight on pictures`}
      aria-pressed=${site === selection.site && head === selection.head}
      disabled=${!isHeld}
      onClick=${() => state.select({ site, head })}
    >
      ${`layer ${layerName(base, site)} · head ${head}: ${probability(mass)}`}
    </button>
  `;
}
