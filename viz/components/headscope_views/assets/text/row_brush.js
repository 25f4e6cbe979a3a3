// Weights painted across the cells of a row: which cells, what becomes of the row, and the keys that
// paint. The row is set by one edit.

import { quoted } from "../core/dom.js";
import { legible } from "../core/labels.js";

/** @import {TextState} from "./state.js" */

const STEP = 0.05; // by which a key changes the weight

/**
 * Cells of a row that are being painted with one weight.
 *
 * @typedef {object} PaintedRow
 * @property {number} query
 * @property {number} first the key at which it began
 * @property {number} last
 * @property {number} value
 */

/**
 * The keys of the painted cells, in order.
 *
 * @param {PaintedRow} row
 */
export function keysOf({ first, last }) {
  const from = Math.min(first, last);
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, i) => from + i);
}

/**
 * What becomes of a row: the weight of each painted cell, what the others have together, their sum.
 * As `SetWeights` does it: a row that keeps its sum scales its other cells; where these have no
 * weight to give, the painted ones.
 *
 * @param {ArrayLike<number>} weights of the row
 * @param {number[]} keys
 * @param {number} value
 * @param {{visible: number, keepsSum: boolean}} of how many keys the query may attend to
 */
export function rowAfter(weights, keys, value, { visible, keepsSum }) {
  const total = Array.from(weights).reduce((sum, weight) => sum + weight, 0);
  const given = keys.length * value;
  const rest = total - keys.reduce((sum, key) => sum + weights[key], 0);
  if (!keepsSum) return { each: value, others: rest, sum: given + rest };
  const fits = given <= total && keys.length < visible;
  if (fits) return { each: value, others: total - given, sum: total };
  return { each: given ? (value * total) / given : 0, others: 0, sum: given ? total : 0 };
}

/**
 * What is painted, and what becomes of the row, as nodes.
 *
 * @param {TextState} state
 * @param {PaintedRow} row
 * @returns {(Node | string)[]}
 */
export function paintedText(state, row) {
  const keys = keysOf(row);
  const { query, key } = state.labels();
  const [from, to] = [keys[0], keys[keys.length - 1]];
  const span = [...quoted(legible(key[from])), ` (${from})`, ...(to > from ? [" … ", ...quoted(legible(key[to])), ` (${to})`] : [])];
  const weights = state.exactRow("query", row.query)?.weights;
  const { keepsSum } = state.painting;
  const after = weights && rowAfter(weights, keys, row.value, { visible: state.lastKey(row.query) + 1, keepsSum });
  const scaled = after && Math.abs(after.each - row.value) > 5e-4 ? ` (${after.each.toFixed(3)} to keep the row’s sum)` : "";
  return [
    ...quoted(legible(query[row.query])),
    ` (${row.query}) gives `,
    ...span,
    ` the weight ${row.value.toFixed(3)}${keys.length > 1 ? " each" : ""}${scaled}`,
    after ? `; the others share ${after.others.toFixed(3)}; row sum ${after.sum.toFixed(3)}. ` : ". ",
  ];
}

/**
 * Alt + Shift with the arrows left and right paints cells of a row, Alt with up and down changes their
 * weight; Enter sets it, Escape leaves it.
 *
 * @param {TextState} state
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key was one of these
 */
export function paintRowByKey(state, event) {
  const { painted, hover } = state;
  const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const up = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
  if (across && event.altKey && event.shiftKey) {
    if (painted) state.paintTo(painted.last + across);
    else if (hover && state.beginRow(hover)) state.paintTo(hover.key + across);
    else return false;
  } else if (!painted) return false;
  else if (up && event.altKey) state.paintWith(painted.value + up);
  else if (event.key === "Enter") state.endRow(true);
  else if (event.key === "Escape") state.endRow(false);
  else return false;
  return true;
}
