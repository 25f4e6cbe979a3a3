// Running text broken into rows, as pure functions of the widths of its tokens.

/**
 * One row of tokens.
 *
 * @typedef {object} Row
 * @property {number} from the first token
 * @property {number} to one past the last
 * @property {number} top
 * @property {number} height
 */

/**
 * Rows of a width; a token that is wider than a row stands alone, on as many lines as it takes.
 *
 * @param {number[]} widths of the tokens
 * @param {number} width of a row
 * @param {{gap: number, row: number, line: number}} sizes between tokens; heights of a row, and of
 *   each further line of a token
 * @param {number} [first] number of the first token
 * @returns {Row[]}
 */
export function wrapped(widths, width, { gap, row, line }, first = 0) {
  /** @type {Row[]} */
  const rows = [];
  let [from, used, top] = [0, 0, 0];
  /** @type {(to: number, height: number) => void} */
  const close = (to, height) => {
    rows.push({ from: from + first, to: to + first, top, height });
    [from, used, top] = [to, 0, top + height];
  };
  widths.forEach((wide, i) => {
    if (i > from && used + wide > width) close(i, row);
    used += wide + gap;
    if (wide > width) close(i + 1, row + line * Math.ceil(wide / width));
  });
  if (from < widths.length) close(widths.length, row);
  return rows;
}

/**
 * The rows that are in sight, at least in part: the first, and one past the last.
 *
 * @param {Row[]} rows
 * @param {number} scroll
 * @param {number} height
 * @returns {[number, number]}
 */
export function rowsInSight(rows, scroll, height) {
  const first = firstWhere(rows, ({ top, height: tall }) => top + tall > scroll);
  return [first, Math.max(first, firstWhere(rows, ({ top }) => top >= scroll + height))];
}

/**
 * The row of a token; −1 if there is none.
 *
 * @param {Row[]} rows
 * @param {number} token
 */
export function rowOf(rows, token) {
  const index = firstWhere(rows, ({ to }) => to > token);
  return index < rows.length && rows[index].from <= token ? index : -1;
}

/** The index of the first row for which something holds that holds for all later ones. */
function firstWhere(rows, holds) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(rows[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
