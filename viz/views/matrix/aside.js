// Beside a matrix that leaves room: where the chosen token looks most.

import { html } from "../../web/core/html.js";
import { Bars, Quoted } from "../../web/parts/controls.js";
import { strongest } from "../../web/text/strands.js";

/** @import {ExactRow} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Layout} from "../../web/painting/viewport.js" */

const COUNT = 6; // tokens in the list
const LEAST = 0.005; // less is 0.00
const GAP = 26; // CSS pixels
const ROOM = 190; // that are needed
const SHARES = 52; // what bars beside the rows take
const SCALE = 205; // what the colour scale below a small matrix takes

/**
 * Where there is room beside the plot; null where there is none.
 *
 * @param {Layout} layout
 * @param {boolean} shares whether bars stand beside the rows
 * @param {number} wide of the stage
 */
export function roomBeside({ left, top, width, unit }, shares, wide) {
  const taken = Math.max(width + (shares ? SHARES * unit : 0), SCALE * unit);
  const from = Math.round(left + taken + GAP * unit);
  return wide - from >= ROOM * unit ? { insetInlineStart: `${from}px`, top: `${Math.round(top)}px` } : null;
}

/**
 * The tokens that the chosen one looks at most, or that look at it.
 *
 * @param {{state: TextState}} props
 */
export function Strongest({ state }) {
  const { token, direction } = state.selection;
  const variant = state.variant();
  if (token === null || variant.values !== "weights") return null;
  const [axis, other] =
    direction === "in" ? /** @type {const} */ (["key", "query"]) : /** @type {const} */ (["query", "key"]);
  const row = /** @type {ExactRow | null} */ (state.exactRow(axis, token, variant));
  if (!row) return null;
  const labels = state.labels();
  const chosen = labels[axis][token];
  const best = strongest(row.weights, COUNT).filter(([, weight]) => weight >= LEAST);
  const rows = best.map(([index, value]) => ({
    label: labels[other][index].trim(),
    value,
    text: value.toFixed(2),
  }));
  return html`
    <p class="hs-aside-heading">
      <${Quoted} label=${chosen.trim() || chosen} />
      ${direction === "in" ? " is looked at most by" : " looks most at"}
    </p>
    <${Bars} rows=${rows} />
  `;
}
