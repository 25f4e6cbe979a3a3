// Geometry of a recording's time axis. Pure functions.

/** @import {SpokenWord} from "../types" */

export const FOLD = 72; // CSS pixels that folded padding takes
const LEAST = 84; // CSS pixels a second takes at least
const GAP = 4; // between words of a row

/**
 * @typedef {object} TimeAxis
 * @property {number} heard seconds without padding
 * @property {number} seconds with it
 * @property {boolean} folded whether padding is a narrow strip
 * @property {number} wide CSS pixels of it all
 * @property {number} scale CSS pixels of a second
 */

/**
 * @param {{heard: number, seconds: number}} length
 * @param {number} room CSS pixels there are
 * @param {boolean} folded
 * @returns {TimeAxis}
 */
export function timeAxis({ heard, seconds }, room, folded) {
  const padded = seconds - heard > 0.05;
  const fold = folded && padded ? FOLD : 0;
  const span = folded ? heard : seconds;
  const scale = Math.max(LEAST, (room - fold) / Math.max(span, 0.01));
  return { heard, seconds, folded: fold > 0, wide: Math.round(span * scale + fold), scale };
}

/**
 * The second at a place, null in folded padding and outside.
 *
 * @param {TimeAxis} axis
 * @param {number} x CSS pixels
 */
export function secondAt({ scale, heard, seconds, folded }, x) {
  const second = x / scale;
  return second < 0 || second >= (folded ? heard : seconds) ? null : second;
}

/**
 * The row of each word, so that none covers another: the first row that has room.
 *
 * @param {{start: number}[]} words
 * @param {number[]} widths CSS pixels
 * @param {number} scale CSS pixels of a second
 */
export function lanesOf(words, widths, scale) {
  /** @type {number[]} where each row ends */
  const ends = [];
  return words.map(({ start }, i) => {
    const left = start * scale;
    const free = ends.findIndex((end) => end <= left);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = left + widths[i] + GAP;
    return lane;
  });
}

/**
 * The mean of some rows; null without any.
 *
 * @param {Float32Array[]} rows
 */
export function meanOf(rows) {
  if (!rows.length) return null;
  const mean = new Float32Array(rows[0].length);
  for (const row of rows) row.forEach((value, i) => (mean[i] += value / rows.length));
  return mean;
}

/**
 * The share of a row's weight after a second.
 *
 * @param {Float32Array} row
 * @param {{heard: number, seconds: number}} length
 */
export function shareAfter(row, { heard, seconds }) {
  const from = Math.ceil((heard / seconds) * row.length - 1e-6);
  const [all, after] = [row, row.subarray(from)].map((part) => part.reduce((sum, value) => sum + value, 0));
  return all > 0 ? after / all : 0;
}

/**
 * The word that a row of the decoder writes, or part of it; −1 for none.
 *
 * @param {SpokenWord[]} words
 * @param {number} row
 */
export const wordOf = (words, row) => words.findIndex(({ rows }) => rows.includes(row));

/**
 * The word that is spoken at a second; −1 for none.
 *
 * @param {SpokenWord[]} words
 * @param {number} second
 */
export const wordAt = (words, second) => words.findIndex(({ start, end }) => start <= second && second < end);
