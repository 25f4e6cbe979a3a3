// A drawing of a pattern: 16 × 16 weights from 0 to 1. Pure functions.

/** @import {Part} from "../types" */

export const SIDE = 16;
const STEPS = 15; // a weight is told as one hexadecimal digit

export const empty = () => new Float32Array(SIDE * SIDE);

/**
 * The cell at a place of the matrix, both from 0 to 1.
 *
 * @param {number} x
 * @param {number} y
 * @returns {[number, number]} row and column
 */
export function at(x, y) {
  /** @param {number} share */
  const cell = (share) => Math.min(SIDE - 1, Math.max(0, Math.floor(share * SIDE)));
  return [cell(y), cell(x)];
}

/**
 * The drawing with a stroke from one cell to another.
 *
 * @param {Float32Array} cells
 * @param {readonly [number, number]} from
 * @param {readonly [number, number]} to
 * @param {number} ink
 */
export function painted(cells, from, to, ink) {
  const next = cells.slice();
  const steps = Math.max(1, Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]));
  for (let i = 0; i <= steps; i++) {
    const [row, col] = [0, 1].map((axis) => Math.round(from[axis] + ((to[axis] - from[axis]) * i) / steps));
    next[SIDE * row + col] = ink;
  }
  return next;
}

/**
 * A head's mean weights as a drawing, the largest as 1.
 *
 * @param {Pick<Part, "shape" | "stride" | "data">} part
 * @param {(q: number) => number} weight that a byte stands for
 */
export function fromHead({ shape, stride, data }, weight) {
  const cells = empty();
  for (let row = 0; row < shape[0]; row++)
    for (let col = 0; col < shape[1]; col++) cells[SIDE * row + col] = weight(data[stride * row + col]);
  const most = Math.max(...cells) || 1;
  return cells.map((value) => Math.round((STEPS * value) / most) / STEPS);
}

/**
 * A drawing as the server reads it: a hexadecimal digit for each cell.
 *
 * @param {Float32Array} cells
 */
export const cellsText = (cells) =>
  Array.from(cells, (value) => Math.round(STEPS * value).toString(16)).join("");
