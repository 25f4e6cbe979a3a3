// Which rows and columns of a site are drawn: those of the two texts of a pair that were chosen, and
// of these the brushed ones. Pure functions.

/** @import {Axis, Block, Selection, Text} from "../types" */

/** @typedef {[number, number]} Range the first token, and one past the last */

/** @typedef {{rows: Range, cols: Range}} Ranges */

/** @type {Block[]} */
export const BLOCKS = ["all", "aa", "ab", "ba", "bb"];

/**
 * The range that a link lists as "3-9", the last excluded; null for anything else.
 *
 * @param {string} listed
 * @returns {Range | null}
 */
export function parsed(listed) {
  const match = /^(\d{1,9})-(\d{1,9})$/.exec(listed);
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from < to ? [from, to] : null;
}

/** @param {Range | null} range */
export const listed = (range) => (range ? range.join("-") : "");

/**
 * Two ends in any order as a range.
 *
 * @param {number} one
 * @param {number} other
 * @returns {Range}
 */
export const between = (one, other) => [Math.min(one, other), Math.max(one, other) + 1];

/** The common part of two ranges; the first where they have none. */
function within(whole, part) {
  if (!part) return whole;
  const [from, to] = [Math.max(whole[0], part[0]), Math.min(whole[1], part[1])];
  return from < to ? [from, to] : whole;
}

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
 * @param {Pick<Selection, "block" | "rows" | "columns">} selection
 * @param {import("../types").Heard | null} [sound] whose padding is left out where nothing is brushed
 * @returns {Ranges}
 */
export function rangesOf({ query, key }, { block, rows, columns }, sound) {
  /** @type {(text: Text, which: string, brushed: string) => Range} */
  const side = (text, which, brushed) => {
    const whole = block === "all" ? /** @type {Range} */ ([0, text.labels.length]) : half(text, which);
    return within(whole, parsed(brushed) ?? [0, framesHeard(text, sound)]);
  };
  return { rows: side(query, block[0], rows), cols: side(key, block[1], columns) };
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
