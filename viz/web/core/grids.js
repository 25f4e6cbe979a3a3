// Grids of tokens over pictures: which token lies where. Sides are left, top, right and bottom, and places
// across and down, all in shares of the picture.

/** @import {TokenGrid} from "../types" */

/** @typedef {[number, number, number, number]} Sides */
/** @typedef {[number, number]} Place */

const NEAR = 0.004; // of a side: sides of tiles that are one

/** The token at a place; −1 for none. @param {TokenGrid[]} grids @param {Place} place */
export function tokenAt(grids, [across, down]) {
  for (const { box, shape, places } of grids) {
    const col = cellAt(across, box[0], box[2], shape[1]);
    const row = cellAt(down, box[1], box[3], shape[0]);
    if (row >= 0 && col >= 0 && row < shape[0] && col < shape[1]) return places[row * shape[1] + col];
  }
  return -1;
}

/** The cell along a side; where cells begin before the picture, the last reaches to its end. */
function cellAt(share, start, stop, count) {
  const cell = Math.floor(((share - start) / (stop - start)) * count);
  return start < 0 ? Math.min(cell, count - 1) : cell;
}

/** The sides of a token's cell; null for none. @type {(grids: TokenGrid[], token: number) => Sides | null} */
export function cellOf(grids, token) {
  for (const { box, shape, places } of grids) {
    const at = token < 0 ? -1 : places.indexOf(token);
    if (at < 0) continue;
    const [row, col] = [Math.floor(at / shape[1]), at % shape[1]];
    const [wide, high] = [(box[2] - box[0]) / shape[1], (box[3] - box[1]) / shape[0]];
    return [box[0] + col * wide, box[1] + row * high, box[0] + (col + 1) * wide, box[1] + (row + 1) * high];
  }
  return null;
}

/**
 * The token of other grids at the place of a token; −1 where it or they do not lie there.
 *
 * @param {TokenGrid[]} from
 * @param {TokenGrid[]} to
 * @param {number} token of the first
 */
export function tokenThere(from, to, token) {
  const grid = from.find(({ places }) => places.includes(token));
  const cell = cellOf(from, token);
  if (!grid || !cell) return -1;
  const [left, top, right, bottom] = cell;
  const there = to.filter(({ picture }) => picture === grid.picture);
  return tokenAt(there, [(left + right) / 2, (top + bottom) / 2]);
}

/**
 * The token beside another on its grid, so many rows and columns on; −1 for none.
 *
 * @param {TokenGrid[]} grids
 * @param {number} token
 * @param {readonly [number, number] | null} step
 */
export function cellBeside(grids, token, step) {
  const grid = grids.find(({ places }) => places.includes(token));
  if (!grid || !step) return -1;
  const [rows, cols] = grid.shape;
  const at = grid.places.indexOf(token);
  const [row, col] = [Math.floor(at / cols) + step[0], (at % cols) + step[1]];
  return row < 0 || col < 0 || row >= rows || col >= cols ? -1 : grid.places[row * cols + col];
}

/**
 * The sides of the area from the cell of one token to that of another; null where one has none.
 *
 * @type {(grids: TokenGrid[], from: number, to: number) => Sides | null}
 */
export function areaOf(grids, from, to) {
  const [one, other] = [cellOf(grids, from), cellOf(grids, to)];
  if (!one || !other) return null;
  const sides = one.map((side, i) => (i < 2 ? Math.min(side, other[i]) : Math.max(side, other[i])));
  return /** @type {Sides} */ (sides.map((side) => Math.min(1, Math.max(0, side))));
}

/** The part of the picture that grids cover. @type {(grids: TokenGrid[]) => Sides} */
export function extentOf(grids) {
  /** @param {number} side @param {(...values: number[]) => number} pick */
  const of = (side, pick) => Math.min(1, Math.max(0, pick(...grids.map(({ box }) => box[side]))));
  const end = (/** @type {number} */ side) =>
    grids.some(({ box }) => box[side - 2] < 0) ? 1 : of(side, Math.max);
  return [of(0, Math.min), of(1, Math.min), end(2), end(3)];
}

/** Sides of areas, of which those that nearly meet are one: tiles then have no seams. @param {number[]} sides */
export function joined(sides) {
  /** @type {Map<number, number>} */
  const places = new Map();
  let last = -Infinity;
  for (const side of [...sides].sort((a, b) => a - b)) {
    if (side - last > NEAR) last = side;
    places.set(side, last);
  }
  return places;
}
