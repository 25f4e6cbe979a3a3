// Where a matrix and its labels stand, and which part of it is in view. Pure functions: no canvas,
// no document. Lengths are CSS pixels.

/** @import {Axis, Cell} from "../types" */

const LARGEST_CELL = 64; // of a matrix that is shown whole
const DEEPEST_CELL = 72; // that zooming can reach
const SLANT = (-50 * Math.PI) / 180;
const NARROW = 480;
const SMALLEST_LABEL = 8; // pixels of type at a unit of 1
const SMALLEST_CELL = SMALLEST_LABEL + 0.5; // that has a label of its own
const READABLE_CELL = 16; // side that cells of a long, narrow map have across it, where there is room
const WIDENED_CELL = 10; // height from which a cell is wider than high
const WIDER = 3.2; // times its height that it may be wide
const NARROW_MAP = 4; // so many times longer one way than the other
const APART = 6; // pixels between labels that stand level over their columns
const ROOM = { wide: 24, high: 13 }; // pixels of a cell that has room for its number
const SCALE = 30; // pixels that the colour scale takes below the plot
const BESIDE = 210; // that it takes beside the plot
const SHARES = 48; // pixels beside the plot for the shares of hidden sinks

/** @typedef {"below" | "beside" | "none"} Legend */

/**
 * What a layout is made from. Unit is the size of type, 1 at 16 pixels.
 *
 * @typedef {object} Sizes
 * @property {number} wide of the place there is
 * @property {number} tallest that the plot may be
 * @property {number} rows
 * @property {number} cols
 * @property {number} unit
 * @property {{query: number, key: number, beside?: number}} widths of the longest label of each axis; the largest
 *   distance from the middle of a key's label to that of the next one's
 * @property {{row: number, col: number}} [first] token of the plot, where not all are drawn
 * @property {boolean} noted whether there is a note above it
 * @property {boolean} [shares] whether bars stand beside the rows
 * @property {Legend} [legend] where the colour scale stands; below the plot where it is not said
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
 * @property {number} cell side of a cell when all are shown; the shorter one of a long, narrow map
 * @property {number} rowCell the least height of a row
 * @property {number} colCell the least width of a column
 * @property {number} longest that a label may be
 * @property {boolean} level whether the labels of columns stand level over them
 * @property {number} noted height of the note
 * @property {Legend} legend
 * @property {number} scaleLeft where the colour scale begins
 * @property {number} scaleTop
 */

/**
 * The part in view: the token at the upper left corner, and the pixels a token takes, which of a
 * long, narrow map are more one way.
 *
 * @typedef {{row: number, col: number, scale: number, rowScale: number, colScale: number}} View
 */

/**
 * The width a label may have.
 *
 * @param {number} wide
 * @param {number} unit
 */
export const longestLabel = (wide, unit) => (wide < NARROW * unit ? 72 : 104) * unit;

/**
 * Columns wider than their labels have these level over them.
 *
 * @param {Sizes} sizes
 * @returns {Layout}
 */
export function layoutOf(sizes) {
  const { unit, widths } = sizes;
  const level = placed(sizes, true);
  return level.colCell >= (widths.beside ?? widths.key) + APART * unit ? level : placed(sizes, false);
}

/** @type {(sizes: Sizes, level: boolean) => Layout} */
function placed(sizes, level) {
  const {
    wide,
    tallest,
    rows,
    cols,
    unit,
    widths,
    noted: hasNote,
    shares = false,
    legend = "below",
    first,
  } = sizes;
  const longest = longestLabel(wide, unit);
  const room = Math.min(longest, widths.key);
  const left = Math.max(Math.min(longest, widths.query), 48 * unit) + 12 * unit;
  const noted = hasNote ? 19 * unit : 0;
  const top = noted + 28 * unit + (level ? 16 * unit : room * Math.sin(-SLANT));
  const beyond = 4 * unit + (level ? 0 : room * Math.cos(SLANT) * 0.8);
  const right = Math.max(beyond, shares ? SHARES * unit : 0);
  const isBeside = legend === "beside";
  const space = Math.max(40, wide - left - right - (isBeside ? BESIDE * unit : 0));
  const cell = Math.min(space / cols, tallest / rows, LARGEST_CELL * unit);
  const narrow = Math.max(rows, cols) >= NARROW_MAP * Math.min(rows, cols);
  const least = narrow ? READABLE_CELL * unit : 0;
  const rowCell = Math.max(cell, Math.min(tallest / rows, least));
  const wideCell = cell >= WIDENED_CELL * unit ? WIDER * cell : least;
  const colCell = Math.max(cell, Math.min(space / cols, wideCell));
  const [width, height] = [colCell * cols, rowCell * rows];
  const scaleLeft = isBeside ? left + width + right + APART * unit : left;
  const scaleTop = isBeside ? top : top + height + 14 * unit;
  const tall = Math.ceil(legend === "below" ? scaleTop + SCALE * unit : top + height + 2);
  return {
    ...{ unit, wide, tall, rows, cols, left, top, width, height, cell, rowCell, colCell },
    first: first ?? { row: 0, col: 0 },
    ...{ longest, level, noted, legend, scaleLeft, scaleTop },
  };
}

/**
 * The layout of a plot that fits into a room with its title and scale. There is no scale where numbers stand in the
 * cells; it stands beside a plot whose cells are then no smaller.
 *
 * @param {Omit<Sizes, "tallest">} sizes
 * @param {number} high the room
 * @param {boolean} isNumbered whether numbers stand in cells that have room
 */
export function layoutIn(sizes, high, isNumbered) {
  const bare = isNumbered && layoutWithin({ ...sizes, legend: "none" }, high);
  if (bare && hasRoom(bare, whole(bare))) return bare;
  const [beside, below] = /** @type {const} */ (["beside", "below"]).map((legend) =>
    layoutWithin({ ...sizes, legend }, high),
  );
  return beside.cell >= below.cell ? beside : below;
}

/** @type {(sizes: Omit<Sizes, "tallest">, high: number) => Layout} */
function layoutWithin(sizes, high) {
  const { tall, height } = layoutOf({ ...sizes, tallest: high });
  return layoutOf({ ...sizes, tallest: Math.max(100, high - (tall - height)) });
}

/**
 * The whole matrix.
 *
 * @param {Layout} layout
 * @returns {View}
 */
export const whole = (layout) => ({ ...layout.first, ...scalesOf(layout, layout.cell) });

/**
 * Whether cells have room for their numbers.
 *
 * @type {(layout: Layout, view: View) => boolean}
 */
export const hasRoom = ({ unit }, { rowScale, colScale }) =>
  colScale >= ROOM.wide * unit && rowScale >= ROOM.high * unit;

/** The pixels that a token takes each way. */
function scalesOf({ rowCell, colCell }, scale) {
  return { scale, rowScale: Math.max(scale, rowCell), colScale: Math.max(scale, colCell) };
}

const deepest = ({ cell }) => Math.max(cell, DEEPEST_CELL);

/** The nearest view that stays inside the matrix. */
function clamped(layout, { row, col, scale }) {
  const { cell, rows, cols, width, height, first } = layout;
  const held = scalesOf(layout, Math.min(Math.max(scale, cell), deepest(layout)));
  return {
    row: first.row + Math.min(Math.max(0, row - first.row), Math.max(0, rows - height / held.rowScale)),
    col: first.col + Math.min(Math.max(0, col - first.col), Math.max(0, cols - width / held.colScale)),
    ...held,
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
  const { rowScale, colScale } = scalesOf(layout, scale);
  const row = view.row + y / view.rowScale - y / rowScale;
  const col = view.col + x / view.colScale - x / colScale;
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
export function panned(layout, { row, col, scale, rowScale, colScale }, right, down) {
  return clamped(layout, { row: row - down / rowScale, col: col - right / colScale, scale });
}

/**
 * The view moved as little as possible so that a cell is in it.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Cell} cell
 */
export function revealing(layout, { row, col, scale, rowScale, colScale }, { query, key }) {
  const [tall, wide] = [layout.height / rowScale, layout.width / colScale];
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
export function visible({ rows, cols, width, height, first }, { row, col, rowScale, colScale }) {
  /** @type {(start: number, count: number, size: number) => [number, number]} */
  const range = (start, count, size) => [
    Math.floor(start + 1e-6),
    Math.min(size, Math.ceil(start + count - 1e-6)),
  ];
  return {
    rows: range(row, height / rowScale, first.row + rows),
    cols: range(col, width / colScale, first.col + cols),
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
export function cellAt(layout, { row, col, rowScale, colScale }, x, y) {
  if (!isInside(layout, x, y)) return null;
  const { first, rows, cols } = layout;
  const query = Math.min(first.row + rows - 1, Math.floor(row + y / rowScale));
  const key = Math.min(first.col + cols - 1, Math.floor(col + x / colScale));
  return { query, key };
}

/**
 * The cell beside another one, within the plot; without another the one at the corner of the view.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Cell | null} from
 * @param {number} down
 * @param {number} right
 * @returns {Cell}
 */
export function walked({ first, rows, cols }, { row, col }, from, down, right) {
  const step = (/** @type {number} */ place, /** @type {number} */ start, /** @type {number} */ size) =>
    Math.min(Math.max(start, place), start + size - 1);
  const query = from ? from.query + down : Math.floor(row);
  const key = from ? from.key + right : Math.floor(col);
  return { query: step(query, first.row, rows), key: step(key, first.col, cols) };
}

/**
 * Where a cell is drawn, from the picture's corner.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Cell} cell
 */
export function placeOf({ left, top }, { row, col, rowScale, colScale }, { query, key }) {
  const [x, y] = [left + (key - col) * colScale, top + (query - row) * rowScale];
  return { x, y, wide: Math.max(colScale, 1), tall: Math.max(rowScale, 1) };
}

/**
 * Where the words about a cell stand, as a transform: on the side where they fit.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Cell} cell
 */
export function tipPlace(layout, view, cell) {
  const { x, y, wide, tall } = placeOf(layout, view, cell);
  const right = x + wide / 2 < 0.54 * layout.wide;
  const below = y + tall + 10 + 52 * layout.unit < layout.tall;
  return (
    `translate(${right ? x + wide + 8 : x - 8}px, ${below ? y + tall + 8 : y - 8}px) ` +
    `translate(${right ? 0 : -100}%, ${below ? 0 : -100}%)`
  );
}

/**
 * The pixels that a token of an axis takes.
 *
 * @param {View} view
 * @param {Axis} axis
 */
export const scaleOf = ({ rowScale, colScale }, axis) => (axis === "query" ? rowScale : colScale);

/**
 * Whether every token in view has room for its label; of both axes, or of one.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Axis} [axis]
 */
export const isLabelled = ({ unit }, view, axis) =>
  (axis ? scaleOf(view, axis) : view.scale) >= SMALLEST_CELL * unit;

/**
 * Height of an axis's labels: that of the cells where these are small.
 *
 * @param {Layout} layout
 * @param {View} view
 * @param {Axis} axis
 */
export function labelSize({ unit }, view, axis) {
  const scale = scaleOf(view, axis);
  if (scale < SMALLEST_CELL * unit) return 9 * unit;
  return Math.min(12 * unit, Math.max(SMALLEST_LABEL * unit, scale * 0.92));
}

/**
 * Angle of the labels on top: level and slanted read best, upright takes least room.
 *
 * @param {Layout} layout
 * @param {View} view
 */
export const slant = ({ unit, level }, { colScale }) =>
  level ? 0 : colScale >= 15 * unit ? SLANT : -Math.PI / 2;

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
  const add = (index) => {
    if (index < start || index >= stop) return;
    if (chosen.every((other) => Math.abs(other - index) >= gap)) chosen.push(index);
  };
  first.forEach(add);
  const stride = Math.ceil(gap);
  for (let index = start - (start % stride); index < stop; index += stride) add(index);
  return chosen.sort((a, b) => a - b);
}
