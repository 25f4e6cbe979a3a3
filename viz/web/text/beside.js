// Beside a matrix that leaves room: where the chosen token looks most, with the words below the
// matrix. Where there is no room, these stay below.

import { changes } from "../core/changes.js";
import { element, quoted } from "../core/dom.js";
import { legible } from "../core/labels.js";
import { strongest } from "./strands.js";

/** @import {Layout} from "./viewport.js" */
/** @import {TextState} from "./state.js" */

const COUNT = 6; // tokens in the list
const LEAST = 0.005; // less is 0.00
const GAP = 26; // CSS pixels
const ROOM = 190; // that are needed
const SHARES = 52; // what bars beside the rows take
const SCALE = 205; // what the colour scale below a small matrix takes

/**
 * @param {TextState} state
 * @param {HTMLElement} stage the matrix's
 * @param {HTMLElement[]} words that stand below it where there is no room beside it
 */
export function besideMatrix(state, stage, words) {
  const heading = element("p", "hs-aside-heading");
  const list = element("ol", "hs-bars");
  const box = element("aside", "hs-aside", {}, heading, list);
  const stale = changes();
  const moved = changes();
  box.hidden = true;

  /**
   * @param {Layout} layout
   * @param {number} wide of the stage
   */
  function place({ left, top, width, unit }, wide) {
    const shares = state.selection.sinks === "shown" ? 0 : SHARES * unit;
    const from = Math.round(left + Math.max(width + shares, SCALE * unit) + GAP * unit);
    const fits = wide - from >= ROOM * unit;
    if (!moved(fits, from, Math.round(top))) return;
    box.hidden = !fits;
    if (fits) box.append(...words);
    else stage.after(...words);
    box.style.insetInlineStart = `${from}px`;
    box.style.top = `${Math.round(top)}px`;
  }

  return {
    box,
    /**
     * @param {Layout | null} layout
     * @param {number} wide
     */
    render(layout, wide) {
      if (!layout) return;
      place(layout, wide);
      const { token, direction } = state.selection;
      const inward = direction === "in";
      const variant = state.variant();
      const row = token === null || box.hidden ? null : state.exactRow(inward ? "key" : "query", token, variant);
      if (!stale(row, token, direction, variant.values)) return;
      const plain = variant.values === "weights";
      heading.hidden = list.hidden = !row || !plain;
      if (!row || !plain || token === null) return;
      const labels = state.labels();
      const chosen = labels[inward ? "key" : "query"][token];
      heading.replaceChildren(...quoted(chosen.trim() || chosen), inward ? " is looked at most by" : " looks most at");
      const others = labels[inward ? "query" : "key"];
      const best = strongest(row.weights, COUNT).filter(([, weight]) => weight >= LEAST);
      list.replaceChildren(...best.map(([index, weight]) => bar(others[index], weight, best[0][1])));
    },
  };
}

/**
 * @param {string} label
 * @param {number} weight
 * @param {number} most whose bar is whole
 */
function bar(label, weight, most) {
  const name = element("bdi", "hs-bar-label", {}, legible(label).trim());
  const line = element("span", "hs-bar-line", { "aria-hidden": "true" });
  line.style.setProperty("--share", `${(100 * weight) / most}%`);
  return element("li", "hs-bar-row", {}, name, line, element("span", "hs-bar-number", {}, weight.toFixed(2)));
}
