// Where a matrix and its labels stand, and which part of it is in view. Pure functions: no canvas,
// no document. Lengths are CSS pixels.

/** @import {Cell} from "../types" */

const LARGEST_CELL = 64; // of a matrix that is shown whole
const DEEPEST_CELL = 72; // that zooming can reach
const SLANT = (-50 * Math.PI) / 180;
const NARROW = 480;
const SMALLEST_LABEL = 8; // pixels of type at a unit of 1
const SHARES = 48; // pixels beside the plot for the shares of hidden sinks

/**
 * What a layout is made from. The widths are those of the longest label of each axis and of the
 * title in one line; unit is the size of type, 1 at 16 pixels.
 *
 * @typedef {object} Sizes
 * @property {number} wide of the place there is
 * @property {number} tallest that the plot may be
 * @property {number} rows
 * @property {number} cols
 * @property {number} unit
 * @property {{query: number, key: number, title: number}} widths
 * @property {{row: number, col: number}} [first] token of the plot, where not all are drawn
 * @property {boolean} noted whether there is a note below the title
 * @property {boolean} [shares] whether bars stand beside the rows
 */

/**
 * @typedef {object} Layout
 * @property {number} unit
 * @property {number} wide of the whole picture
 * @property {number} tall of the whole picture
 * @property {number} rows
 * @property {number} cols
 * @property {{row: number, col: number}} first token of the plot
 * @property {number} left of the plot
 * @property {number} top of the plot
 * @property {number} width of the plot
 * @property {number} height of the plot
 * @property {number} cell side of a cell when all are shown
 * @property {number} longest that a label may be
 * @property {boolean} together whether the title is one line
 * @property {number} title height of the title
 * @property {number} noted height of the note
 * @property {number} scaleTop where the colour scale begins
 */

/**
 * The part in view: the token at the upper left corner, and the pixels a token takes.
 *
 * @typedef {{row: number, col: number, scale: number}} View
 */

/**
 * The width a label may have.
 *
 * @param {number} wide
 * @param {number} unit
 */
export const longestLabel = (wide, unit) => (wide < NARROW * unit ? 72 : 104) * unit;

/**
 * @param {Sizes} sizes
 * @returns {Layout}
 */
export function layoutOf({ wide, tallest, rows, cols, unit, widths, noted: hasNote, shares, first }) {
  const longest = longestLabel(wide, unit);
  const [query, key] = [Math.min(longest, widths.query), Math.min(longest, widths.key)];
  const left = Math.max(query, 66 * unit) + 12 * unit;
  const together = widths.title <= wide;
  const title = (together ? 22 : 42) * unit;
  const noted = hasNote ? 19 * unit : 0;
  const slanted = key * Math.sin(-SLANT) + 12 * unit;
  const top = title + noted + 24 * unit + Math.max(slanted, 52 * unit);
  const right = Math.max(key * Math.cos(SLANT) * 0.8 + 4 * unit, shares ? SHARES * unit : 0);
  const space = Math.max(40, wide - left - right);
  const cell = Math.min(space / cols, tallest / rows, LARGEST_CELL * unit);
  const [width, height] = [cell * cols, cell * rows];
  const scaleTop = top + height + 14 * unit;
  const tall = Math.ceil(scaleTop + (cell * 3 < 3 ? 60 : 46) * unit);
  return {
    ...{ unit, wide, tall, rows, cols, left, top, width, height, cell },
    first: first ?? { row: 0, col: 0 },
    ...{ longest, together, title, noted, scaleTop },
  };
}

/**
 * The height a plot may have so that it stays in the window with its title and scale; of a plot far
 * down the page, once the page is scrolled to it.
 *
 * @param {number} windowHeight
 * @param {number} above of the picture on the page
 * @param {number} around title, labels and scale of the picture
 */
export function tallestPlot(windowHeight, above, around) {
  const most = Math.min(760, windowHeight - 70 - around);
  const least = Math.min(most, 0.36 * windowHeight);
  return Math.max(200, Math.min(most, Math.max(least, windowHeight - above - around - 8)));
}

/**
 * The whole matrix.
 *
 * @param {Layout} layout
 * @returns {View}
 */
export const whole = ({ cell, first }) => ({ ...first, scale: cell });

/** @param {Layout} layout */
const deepest = ({ cell }) => Math.max(cell, DEEPEST_CELL);

/**
 * The nearest view that stays inside the matrix.
 *
 * @param {Layout} layout
 * @param {View} view
 * @returns {View}
 */
export function clamped(layout, { row, col, scale }) {
  const { cell, rows, cols, width, height, first } = layout;
  const held = Math.min(Math.max(scale, cell), deepest(layout));
  return {
    row: first.row + Math.min(Math.max(0, row - first.row), Math.max(0, rows - height / held)),
    col: first.col + Math.min(Math.max(0, col - first.col), Math.max(0, cols - width / held)),
    scale: held,
  };
}

/**
 * @param {Layout} layout
 * @param {View} view
 */
export const isZoomed = ({ cell }, { scale }) => scale > cell * 1.001;

/**
 * @param {Layout} layout
 * @param {View} view
 */
export const isDeepest = (layout, { scale }) => scale >= deepest(layout) * 0.999;

/**
 * The view enlarged by a factor round a point of the plot.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {number} factor
 * @param {number} x
 * @param {number} y
 */
export function zoomed(layout, view, factor, x = layout.width / 2, y = layout.height / 2) {
  const scale = Math.min(Math.max(view.scale * factor, layout.cell), deepest(layout));
  const row = view.row + y / view.scale - y / scale;
  const col = view.col + x / view.scale - x / scale;
  return clamped(layout, { row, col, scale });
}

/**
 * The view moved by pixels.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {number} right
 * @param {number} down
 */
export function panned(layout, { row, col, scale }, right, down) {
  return clamped(layout, { row: row - down / scale, col: col - right / scale, scale });
}

/**
 * The view moved as little as possible so that a cell is in it.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Cell} cell
 */
export function revealing(layout, { row, col, scale }, { query, key }) {
  const [tall, wide] = [layout.height / scale, layout.width / scale];
  return clamped(layout, {
    row: Math.min(Math.max(row, query + 1 - tall), query),
    col: Math.min(Math.max(col, key + 1 - wide), key),
    scale,
  });
}

/**
 * The view of the same tokens when the layout changes; null (the whole) stays the whole.
 *
 * @param {Layout} before
 * @param {Layout} after
 * @param {View | null} view
 */
export function adapted(before, after, view) {
  if (!view) return null;
  const same =
    before.rows === after.rows &&
    before.cols === after.cols &&
    before.first.row === after.first.row &&
    before.first.col === after.first.col;
  return same ? clamped(after, view) : null;
}

/**
 * Ranges of tokens in view: the first inside, the last outside.
 *
 * @param {Layout} layout
 * @param {View} view
 * @returns {{rows: [number, number], cols: [number, number]}}
 */
export function visible({ rows, cols, width, height, first }, { row, col, scale }) {
  /** @type {(start: number, length: number, size: number) => [number, number]} */
  const range = (start, length, size) => [
    Math.floor(start + 1e-6),
    Math.min(size, Math.ceil(start + length / scale - 1e-6)),
  ];
  return {
    rows: range(row, height, first.row + rows),
    cols: range(col, width, first.col + cols),
  };
}

/**
 * Whether a point is inside the plot.
 *
 * @param {Layout} layout
 * @param {number} x from the plot's left edge
 * @param {number} y from its upper edge
 */
export const isInside = ({ width, height }, x, y) => x >= 0 && y >= 0 && x < width && y < height;

/**
 * The cell at a point of the plot; null outside.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {number} x
 * @param {number} y
 * @returns {Cell | null}
 */
export function cellAt(layout, { row, col, scale }, x, y) {
  if (!isInside(layout, x, y)) return null;
  const { first, rows, cols } = layout;
  const query = Math.min(first.row + rows - 1, Math.floor(row + y / scale));
  const key = Math.min(first.col + cols - 1, Math.floor(col + x / scale));
  return { query, key };
}

/**
 * Where a cell is drawn, from the picture's corner.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Cell} cell
 */
export function placeOf({ left, top }, { row, col, scale }, { query, key }) {
  const [x, y] = [left + (key - col) * scale, top + (query - row) * scale];
  return { x, y, side: Math.max(scale, 1) };
}

/**
 * Whether every token in view has room for its label.
 *
 * @param {Layout} layout
 * @param {View} view
 */
export const isLabelled = ({ unit }, { scale }) => scale >= (SMALLEST_LABEL + 0.5) * unit;

/**
 * Height of the labels: that of the cells where these are small.
 *
 * @param {Layout} layout
 * @param {View} view
 */
export function labelSize({ unit }, { scale }) {
  if (scale < (SMALLEST_LABEL + 0.5) * unit) return 9 * unit;
  return Math.min(12 * unit, Math.max(SMALLEST_LABEL * unit, scale * 0.92));
}

/**
 * Angle of the labels on top: slanted reads best, upright takes least room.
 *
 * @param {Layout} layout
 * @param {View} view
 */
export const slant = ({ unit }, { scale }) => (scale >= 15 * unit ? SLANT : -Math.PI / 2);

/**
 * The tokens that are labelled where there is no room for all: first those that matter, then at
 * even distances.
 *
 * @param {[number, number]} range of tokens in view
 * @param {number} scale pixels a token takes
 * @param {number} least pixels between two labels
 * @param {readonly number[]} first tokens that matter, the most important first
 */
export function labelled([start, stop], scale, least, first) {
  if (scale >= least) return Array.from({ length: stop - start }, (_, i) => start + i);
  const gap = least / scale; // in tokens
  /** @type {number[]} */
  const chosen = [];
  /** @param {number} index */
  const add = (index) => {
    if (index < start || index >= stop) return;
    if (chosen.every((other) => Math.abs(other - index) >= gap)) chosen.push(index);
  };
  first.forEach(add);
  const stride = Math.ceil(gap);
  for (let index = start - (start % stride); index < stop; index += stride) add(index);
  return chosen.sort((a, b) => a - b);
}
