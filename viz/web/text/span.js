// Which rows and columns of a site are drawn: those of the two texts of a pair that were chosen, and of a recording
// what was heard. Pure functions.

/** @import {Axis, Block, Text} from "../types" */

/** @typedef {[number, number]} Range the first token, and one past the last */

/** @typedef {{rows: Range, cols: Range}} Ranges */

/** @type {Block[]} */
export const BLOCKS = ["all", "aa", "ab", "ba", "bb"];

/**
 * The tokens of the first or of the second text of a pair; all of a single text.
 *
 * @param {Text} text
 * @param {string} which "a" or "b"
 * @returns {Range}
 */
function half({ labels, second }, which) {
  if (second === undefined) return [0, labels.length];
  return which === "a" ? [0, second] : [second, labels.length];
}

/**
 * How many frames of a recording lie before the padding; at least one.
 *
 * @param {Text} text
 * @param {import("../types").Heard | null | undefined} sound
 */
export function framesHeard({ labels, timed }, sound) {
  if (!timed || !sound) return labels.length;
  return Math.min(labels.length, Math.max(1, Math.ceil((labels.length * sound.heard) / sound.seconds - 1e-6)));
}

/**
 * @param {{query: Text, key: Text}} texts
 * @param {Block} block
 * @param {import("../types").Heard | null} [sound] whose padding is left out
 * @returns {Ranges}
 */
export function rangesOf({ query, key }, block, sound) {
  /** @type {(text: Text, which: string) => Range} */
  const side = (text, which) => (block === "all" ? [0, framesHeard(text, sound)] : half(text, which));
  return { rows: side(query, block[0]), cols: side(key, block[1]) };
}

/**
 * Whether a token of an axis is drawn.
 *
 * @param {Ranges} ranges
 * @param {Axis} axis
 * @param {number} index
 */
export function isDrawn({ rows, cols }, axis, index) {
  const [from, to] = axis === "query" ? rows : cols;
  return index >= from && index < to;
}
