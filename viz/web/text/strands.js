// The lines between two columns of tokens, as pure functions of weights and sizes.

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
