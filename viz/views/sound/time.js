// Geometry of a recording's time axis. Pure functions.

/** @import {Heard, SpokenWord} from "../../web/types" */

export const FOLD = 72; // CSS pixels that folded padding takes
const LEAST = 84; // CSS pixels a second takes at least
const GAP = 4; // between words of a row

/**
 * Seconds without padding and with it, which is a narrow strip; and the CSS pixels of all and of a second.
 *
 * @typedef {{heard: number, seconds: number, wide: number, scale: number}} TimeAxis
 */

/** @type {(length: Heard, room: number) => TimeAxis} */
export function timeAxis({ heard, seconds }, room) {
  const fold = seconds - heard > 0.05 ? FOLD : 0;
  const scale = Math.max(LEAST, (room - fold) / Math.max(heard, 0.01));
  return { heard, seconds, wide: Math.round(heard * scale + fold), scale };
}

/**
 * The second at a place, null in padding and outside.
 *
 * @type {(axis: TimeAxis, x: number) => number | null}
 */
export const secondAt = ({ scale, heard }, x) => (x < 0 || x >= heard * scale ? null : x / scale);

/**
 * The row of each word, so that none covers another: the first row that has room.
 *
 * @type {(words: {start: number}[], widths: number[], scale: number) => number[]}
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
 * The sum of a row of weights over time between two seconds.
 *
 * @type {(row: Float32Array, seconds: number, from: number, to: number) => number}
 */
export function weightWithin(row, seconds, from, to) {
  const at = (/** @type {number} */ second) => Math.round((second / seconds) * row.length);
  return row.subarray(at(from), at(to)).reduce((sum, value) => sum + value, 0);
}

/**
 * The word that is spoken at a second; −1 for none.
 *
 * @type {(words: SpokenWord[], second: number) => number}
 */
export const wordAt = (words, second) => words.findIndex(({ start, end }) => start <= second && second < end);
