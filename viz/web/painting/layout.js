// Where the cells of a matrix stand, and which of them are in view. Pure functions; lengths are CSS pixels.

/** @import {Cell} from "../types" */

const LARGEST = 64; // pixels of a cell
const DEEPEST = 72; // that zooming can reach
const READABLE = 16; // of the cells of a long, narrow map across it, where there is room
const NARROW = 4; // so many times longer one way than the other
const WIDENED = 10; // height from which a cell is wider than high
const WIDER = 3.2; // times its height that it may be wide
const LABELLED = 8.5; // of a cell that has a label of its own
const NUMBERED = { wide: 24, high: 13 }; // of a cell that has room for its number
const LEGEND = { none: [0, 2], beside: [210, 2], below: [0, 58] }; // what the colour scale takes across, and down
const SLANT = (50 * Math.PI) / 180;
const SLIM = 480; // width of a page whose labels are short

/** @typedef {"none" | "beside" | "below"} Legend where the colour scale stands */
/** @typedef {{row: number, col: number}} First the first token of each axis */

/**
 * @typedef {object} Sizes
 * @property {number} wide the room
 * @property {number} high
 * @property {number} unit size of type, 1 at 16 pixels
 * @property {number} rows
 * @property {number} cols
 * @property {First} [first] where not all tokens are drawn
 * @property {{query: number, key: number, apart?: number}} widths of the longest label of each axis; the largest
 *   distance from the middle of a key's label to that of the next
 * @property {boolean} [noted] whether a note stands above
 * @property {boolean} [numbered] whether numbers stand in cells that have room
 */

/**
 * Cells are as high as `rowCell` and as wide as `colCell` when all are in view. Labels of columns stand level over
 * them, or slanted.
 *
 * @typedef {Omit<Sizes, "wide" | "high" | "widths"> & {first: First, left: number, top: number, width: number,
 *   height: number, tall: number, rowCell: number, colCell: number, longest: number, level: boolean,
 *   legend: Legend}} Layout
 */

/** @typedef {First & {zoom: number, rowScale: number, colScale: number}} View what is in view, and the size of a cell */

const clamp = (/** @type {number} */ value, /** @type {number} */ low, /** @type {number} */ high) =>
  Math.min(Math.max(low, value), high);

/**
 * The layout with the largest cells; without a colour scale where numbers stand in them.
 *
 * @type {(sizes: Sizes) => Layout}
 */
export function layoutOf(sizes) {
  const [none, beside, below] = /** @type {const} */ (["none", "beside", "below"]).map((legend) => {
    const level = placed(sizes, legend, true);
    const { widths, unit } = sizes;
    const isWide = level.colCell >= (widths.apart ?? widths.key) + 6 * unit;
    return isWide ? level : placed(sizes, legend, false);
  });
  if (sizes.numbered && hasNumbers(none, whole(none))) return none;
  return beside.rowCell >= below.rowCell ? beside : below;
}

/** @type {(sizes: Sizes, legend: Legend, level: boolean) => Layout} */
function placed({ wide, high, widths, first = { row: 0, col: 0 }, ...sizes }, legend, level) {
  const { rows, cols, unit, noted } = sizes;
  const longest = (wide < SLIM * unit ? 72 : 104) * unit;
  const room = Math.min(longest, widths.key);
  const left = Math.max(Math.min(longest, widths.query), 48 * unit) + 12 * unit;
  const top = (noted ? 47 : 28) * unit + (level ? 16 * unit : room * Math.sin(SLANT));
  const right = 4 * unit + (level ? 0 : room * Math.cos(SLANT) * 0.8) + LEGEND[legend][0] * unit;
  const [across, down] = [
    Math.max(40, wide - left - right),
    Math.max(100, high - top - LEGEND[legend][1] * unit),
  ];
  const cell = Math.min(across / cols, down / rows, LARGEST * unit);
  const least = Math.max(rows, cols) >= NARROW * Math.min(rows, cols) ? READABLE * unit : 0;
  const rowCell = Math.max(cell, Math.min(down / rows, least));
  const colCell = Math.max(cell, Math.min(across / cols, cell >= WIDENED * unit ? WIDER * cell : least));
  const [width, height] = [colCell * cols, rowCell * rows];
  const tall = Math.ceil(top + height + LEGEND[legend][1] * unit);
  return { ...sizes, first, left, top, width, height, tall, rowCell, colCell, longest, level, legend };
}

// ---- what is in view

/**
 * The nearest view inside the matrix.
 *
 * @type {(layout: Layout, row: number, col: number, zoom?: number) => View}
 */
export function viewOf(layout, row, col, zoom = 1) {
  const { first, rows, cols, width, height, rowCell, colCell } = layout;
  const inside = clamp(zoom, 1, deepest(layout));
  const [rowScale, colScale] = [rowCell, colCell].map((cell) =>
    Math.max(cell, Math.min(cell * inside, DEEPEST)),
  );
  return {
    row: first.row + clamp(row - first.row, 0, Math.max(0, rows - height / rowScale)),
    col: first.col + clamp(col - first.col, 0, Math.max(0, cols - width / colScale)),
    ...{ zoom: inside, rowScale, colScale },
  };
}

/** How far one can zoom in. @type {(layout: Layout) => number} */
export const deepest = ({ rowCell, colCell }) => Math.max(1, DEEPEST / Math.min(rowCell, colCell));

/** @param {Layout} layout */
export const whole = (layout) => viewOf(layout, layout.first.row, layout.first.col);

/**
 * The view enlarged by a factor round a point of the plot.
 *
 * @type {(layout: Layout, view: View, factor: number, x?: number, y?: number) => View}
 */
export function zoomed(layout, view, factor, x = layout.width / 2, y = layout.height / 2) {
  const { zoom, rowScale, colScale } = viewOf(layout, 0, 0, view.zoom * factor);
  const [row, col] = [
    view.row + y / view.rowScale - y / rowScale,
    view.col + x / view.colScale - x / colScale,
  ];
  return viewOf(layout, row, col, zoom);
}

/** The view moved by pixels. @type {(layout: Layout, view: View, right: number, down: number) => View} */
export const panned = (layout, { row, col, zoom, rowScale, colScale }, right, down) =>
  viewOf(layout, row - down / rowScale, col - right / colScale, zoom);

/** The view moved as little as possible so that a cell is in it. @type {(layout: Layout, view: View, cell: Cell) => View} */
export function revealing(layout, { row, col, zoom, rowScale, colScale }, { query, key }) {
  const [tall, wide] = [layout.height / rowScale, layout.width / colScale];
  return viewOf(layout, clamp(row, query + 1 - tall, query), clamp(col, key + 1 - wide, key), zoom);
}

/**
 * The tokens in view: the first, and one past the last.
 *
 * @type {(layout: Layout, view: View) => {rows: [number, number], cols: [number, number]}}
 */
export function visible({ rows, cols, width, height, first }, { row, col, rowScale, colScale }) {
  /** @type {(start: number, count: number, end: number) => [number, number]} */
  const range = (start, count, end) => [
    Math.floor(start + 1e-6),
    Math.min(end, Math.ceil(start + count - 1e-6)),
  ];
  return {
    rows: range(row, height / rowScale, first.row + rows),
    cols: range(col, width / colScale, first.col + cols),
  };
}

// ---- cells

/** The nearest cell of the matrix. @type {(layout: Layout, cell: Cell) => Cell} */
export const nearest = ({ first, rows, cols }, { query, key }) => ({
  query: clamp(query, first.row, first.row + rows - 1),
  key: clamp(key, first.col, first.col + cols - 1),
});

/** The cell at a point of the picture; null outside. @type {(layout: Layout, view: View, x: number, y: number) => Cell | null} */
export function cellAt(layout, { row, col, rowScale, colScale }, x, y) {
  const [right, down] = [x - layout.left, y - layout.top];
  if (right < 0 || down < 0 || right >= layout.width || down >= layout.height) return null;
  return nearest(layout, {
    query: Math.floor(row + down / rowScale),
    key: Math.floor(col + right / colScale),
  });
}

/** Where a cell stands, from the corner of the plot. @type {(view: View, cell: Cell) => {x: number, y: number}} */
export const placeOf = ({ row, col, rowScale, colScale }, { query, key }) => ({
  x: (key - col) * colScale,
  y: (query - row) * rowScale,
});

/** Whether cells have room for their numbers. @type {(layout: Layout, view: View) => boolean} */
export const hasNumbers = ({ unit }, { rowScale, colScale }) =>
  colScale >= NUMBERED.wide * unit && rowScale >= NUMBERED.high * unit;

/** Whether every cell of a size has room for its label. @type {(layout: Layout, scale: number) => boolean} */
export const isLabelled = ({ unit }, scale) => scale >= LABELLED * unit;

/**
 * The tokens that are labelled where there is no room for all: first those that matter, then at even distances.
 *
 * @param {[number, number]} range of tokens in view
 * @param {number} scale pixels a token takes
 * @param {number} least pixels between two labels
 * @param {readonly number[]} first tokens that matter, the most important first
 */
export function labelled([start, stop], scale, least, first) {
  const gap = Math.max(1, least / scale); // in tokens
  /** @type {number[]} */
  const chosen = [];
  const add = (/** @type {number} */ index) => {
    if (index < start || index >= stop) return;
    if (chosen.every((other) => Math.abs(other - index) >= gap)) chosen.push(index);
  };
  first.forEach(add);
  const stride = Math.ceil(gap);
  for (let index = start - (start % stride); index < stop; index += stride) add(index);
  return chosen.sort((a, b) => a - b);
}
