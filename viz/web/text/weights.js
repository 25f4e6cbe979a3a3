// Rows of weights: as lines between two columns of tokens, the token on which a head rests, the mean of several.

import { useWanted } from "../core/hooks.js";
import { pathOf } from "../core/sources.js";
import { useMemo } from "../vendor/hooks.js";

/** @import {TextState} from "./state.js" */

/**
 * One line of one head.
 *
 * @typedef {object} Strand
 * @property {number} query
 * @property {number} key
 * @property {number} weight
 */

export const LEAST = 0.01; // of the weight of a full line; smaller weights would be too faint to see

/**
 * The tokens of a column that are in sight, at least in part.
 *
 * @param {number} scroll pixels above the window
 * @param {number} height of the window
 * @param {number} row height of a token
 * @param {number} count tokens
 * @returns {[number, number]} the first, and one past the last
 */
export function inSight(scroll, height, row, count) {
  const first = Math.min(Math.max(0, Math.floor(scroll / row)), Math.max(0, count - 1));
  return [first, Math.min(count, Math.max(first + 1, Math.ceil((scroll + height) / row)))];
}

/**
 * The lines of a window of weights, the weakest first.
 *
 * @param {Float32Array} weights row by row
 * @param {readonly [number, number]} rows
 * @param {readonly [number, number]} cols
 * @param {number} least smaller weights have no line
 * @returns {Strand[]}
 */
export function strandsOf(weights, rows, cols, least) {
  /** @type {Strand[]} */
  const strands = [];
  const width = cols[1] - cols[0];
  weights.forEach((weight, i) => {
    if (weight >= least)
      strands.push({ query: rows[0] + Math.floor(i / width), key: cols[0] + (i % width), weight });
  });
  return strands.sort((a, b) => a.weight - b.weight);
}

/**
 * How far below its place each of several heads' lines is drawn, so that equal ones lie side by side.
 *
 * @param {number} count of heads
 * @param {number} row height of a token
 * @param {number} thick pixels of a line
 * @returns {number[]}
 */
export function apart(count, row, thick) {
  const step = Math.min(thick, (0.8 * row) / count);
  return Array.from({ length: count }, (_, i) => (i - (count - 1) / 2) * step);
}

/**
 * The largest values with their places, the largest first; of equal ones the first.
 *
 * @param {ArrayLike<number>} values
 * @param {number} count
 * @returns {[number, number][]} place and value
 */
export const strongest = (values, count) =>
  Array.from(values, (value, place) => /** @type {[number, number]} */ ([place, value]))
    .sort((a, b) => b[1] - a[1])
    .slice(0, count);

const MOST = 0.5; // of a row, on average; as in analysis/sinks.py

/** @typedef {{key: number, share: number}} Resting a token that takes over half of the weight, and the share */

/**
 * The key on which a matrix rests: the mean over the rows that see it, which are at least half of
 * all, is over a half. Null where there is none.
 *
 * @param {ArrayLike<number>} cells row by row
 * @param {number} rows
 * @param {number} keys
 * @returns {Resting | null}
 */
export function restingIn(cells, rows, keys) {
  /** @type {Resting | null} */
  let most = null;
  for (let key = 0; key < keys; key++) {
    let [total, seen] = [0, 0];
    for (let at = key; at < cells.length; at += keys) {
      total += cells[at];
      if (cells[at] > 0) seen += 1;
    }
    if (2 * seen < rows || total <= MOST * seen) continue;
    if (!most || total > most.share * seen) most = { key, share: total / seen };
  }
  return most;
}

/**
 * Each cell of a matrix as a share of its row.
 *
 * @param {number[]} cells row by row
 * @param {number} rows
 * @param {number} keys
 */
export function sharesOf(cells, rows, keys) {
  const sums = Array.from({ length: rows }, (_, row) =>
    cells.slice(row * keys, (row + 1) * keys).reduce((sum, value) => sum + value, 0),
  );
  return cells.map((value, at) => value / (sums[Math.floor(at / keys)] || 1));
}

/**
 * The key on which the chosen head rests; null too while the weights of single tokens are not known.
 *
 * @param {TextState} state
 */
export function restingOn(state) {
  const { site, head } = state.selection;
  if (head === "max" || state.variant().values !== "weights") return null;
  const { queries, keys } = state.site();
  const weights = state.maps.window(site, head, [0, queries], [0, keys]);
  return weights && restingIn(weights, queries, keys);
}

const ROWS = 8; // rows of a word, whose weights are fetched

/**
 * The mean of the exact weights of these rows, once all are here; fetches those that are not.
 *
 * @param {TextState} state
 * @param {number[]} rows
 * @param {string} slot name of the requests
 */
export function useMeanRow(state, rows, slot) {
  const { site, head } = state.selection;
  const known = Array.from({ length: ROWS }, (_, i) =>
    i < rows.length ? (state.maps.exact(site, head, "query", rows[i])?.weights ?? null) : undefined,
  );
  known.forEach((weights, i) => {
    const path = weights === null ? pathOf("row", { site, head, axis: "query", index: rows[i] }) : null;
    useWanted(state, `${slot} ${i}`, path);
  });
  return useMemo(() => {
    const weights = known.filter((each) => each !== undefined);
    return weights.includes(null) ? null : meanOf(/** @type {Float32Array[]} */ (weights));
  }, known);
}

function meanOf(rows) {
  if (!rows.length) return null;
  return rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
}
