// What the threshold and the strongest keys leave of a picture. Pure functions.

/** @import {Strand} from "./strands.js" */

/**
 * The largest weights' places of one row or column, the largest first; of equal ones the first.
 *
 * @param {ArrayLike<number>} weights
 * @param {number} count
 * @param {readonly [number, number]} [range] places that are looked at
 * @returns {number[]}
 */
export function strongestPlaces(weights, count, [from, to] = [0, weights.length]) {
  const places = Array.from({ length: to - from }, (_, i) => from + i);
  return places.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, count);
}

/**
 * The strongest keys of each row of a window of weights, as the server tells them.
 *
 * @param {Float32Array} weights row by row
 * @param {readonly [number, number]} rows
 * @param {readonly [number, number]} cols
 * @param {number} count
 * @returns {{first: number, keys: number[][]}}
 */
export function strongestKeys(weights, rows, cols, count) {
  const width = cols[1] - cols[0];
  const keys = Array.from({ length: rows[1] - rows[0] }, (_, i) =>
    strongestPlaces(weights.subarray(i * width, (i + 1) * width), count).map((at) => at + cols[0]),
  );
  return { first: rows[0], keys };
}

/**
 * The lines to the strongest keys of their rows.
 *
 * @param {Strand[]} strands
 * @param {{first: number, keys: number[][]}} strongest
 */
export const strongestOnly = (strands, { first, keys }) =>
  strands.filter(({ query, key }) => keys[query - first]?.includes(key));

/**
 * The share of a row or column that is not drawn: outside the range, and below the threshold.
 *
 * @param {ArrayLike<number>} weights
 * @param {readonly [number, number]} range
 * @param {number} least
 */
export const hiddenShare = (weights, range, least) =>
  hiddenIn(Float32Array.from(weights), weights.length, range, least, 0);

/**
 * The share of several whole rows that is not drawn, of which the strongest keys alone may be drawn.
 *
 * @param {Float32Array} weights row by row
 * @param {number} width of a row
 * @param {readonly [number, number]} cols that are drawn
 * @param {number} least
 * @param {number} top how many keys of each row are drawn; 0 for all
 */
export function hiddenIn(weights, width, cols, least, top) {
  let [whole, drawn] = [0, 0];
  for (let start = 0; start < weights.length; start += width) {
    const row = weights.subarray(start, start + width);
    const kept = new Set(top ? strongestPlaces(row, top, cols) : []);
    row.forEach((weight, key) => {
      whole += weight;
      const inside = key >= cols[0] && key < cols[1] && weight >= least;
      if (inside && (!top || kept.has(key))) drawn += weight;
    });
  }
  return whole ? Math.max(0, 1 - drawn / whole) : 0;
}

/**
 * "12 %", and "0.3 %" below one.
 *
 * @param {number} share
 */
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1\u00a0%";
  return `${value.toFixed(value < 9.95 && value > 0 ? 1 : 0)}\u00a0%`;
}
