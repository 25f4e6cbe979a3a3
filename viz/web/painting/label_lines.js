// Labels of cells that are smaller than type: lines that each name several tokens in reading order,
// the next line beside the cells of the next tokens. Pure functions; lengths are CSS pixels.

const PITCH = 10.5; // from one line to the next, at a unit of 1
const GAP = 6; // between two words of a line, at a unit of 1
const WORD = 62; // the most that a word takes of a line's room, at a unit of 1
const LEAST = 24; // room a token must have where lines are longer than their room, at a unit of 1

export const MOST = 6; // tokens of a line
export const LINE_TYPE = 9.5; // size of type, at a unit of 1

/**
 * A word of a line: the token, and where its label begins and how wide it may be.
 *
 * @typedef {{index: number, start: number, wide: number}} Word
 */

/**
 * How many tokens a line names so that lines keep apart.
 *
 * @param {number} scale pixels a token takes
 * @param {number} unit
 */
export const perLine = (scale, unit) => Math.max(1, Math.ceil((PITCH * unit) / scale - 1e-9));

/**
 * The length of the longest line that names `count` tokens.
 *
 * @param {readonly number[]} widths of all labels
 * @param {number} count
 * @param {number} unit
 */
export function longestLine(widths, count, unit) {
  let most = 0;
  for (let first = 0; first < widths.length; first += count) {
    const words = widths.slice(first, first + count).map((wide) => Math.min(wide, WORD * unit));
    most = Math.max(most, lengthOf(words, unit));
  }
  return most;
}

/**
 * The room for lines of `count` tokens; null where they would be cut off too early to be read.
 *
 * @param {number} longest line
 * @param {number} most room there is
 * @param {number} count
 * @param {number} unit
 */
export function roomFor(longest, most, count, unit) {
  if (longest <= most) return longest;
  return most >= count * LEAST * unit ? most : null;
}

/**
 * The lines that name a range of tokens. They begin at multiples of `count`, so that panning leaves
 * a token in its line.
 *
 * @param {[number, number]} range
 * @param {number} count
 * @param {number} size of the whole axis
 * @returns {[number, number][]}
 */
export function linesOf([start, stop], count, size) {
  /** @type {[number, number][]} */
  const lines = [];
  for (let first = start - (start % count); first < stop; first += count)
    lines.push([first, Math.min(size, first + count)]);
  return lines;
}

/**
 * The words of one line from its beginning; where they do not fit, the longest are cut off.
 *
 * @param {[number, number]} line
 * @param {(index: number) => number} widthOf
 * @param {number} room
 * @param {number} unit
 * @returns {{words: Word[], length: number}}
 */
export function wordsOf([first, end], widthOf, room, unit) {
  const indexes = Array.from({ length: end - first }, (_, i) => first + i);
  const widths = cutFairly(indexes.map(widthOf), room - (indexes.length - 1) * GAP * unit + 1e-6);
  let start = 0;
  const words = indexes.map((index, i) => {
    const word = { index, start, wide: widths[i] };
    start += widths[i] + GAP * unit;
    return word;
  });
  return { words, length: lengthOf(widths, unit) };
}

const lengthOf = (widths, unit) =>
  widths.reduce((sum, wide) => sum + wide, 0) + Math.max(0, widths.length - 1) * GAP * unit;

/**
 * Widths that together take no more than `room`: the longest are cut to one length, the others stay.
 *
 * @param {readonly number[]} widths
 * @param {number} room
 */
export function cutFairly(widths, room) {
  let left = Math.max(0, room);
  const sorted = [...widths].sort((a, b) => a - b);
  let most = Infinity;
  for (const [i, wide] of sorted.entries()) {
    const share = left / (sorted.length - i);
    if (wide > share) {
      most = share;
      break;
    }
    left -= wide;
  }
  return widths.map((wide) => Math.min(wide, most));
}
