// Cells to device pixels. One routine for enlarging (nearest cell) and shrinking (largest cell:
// a peak is never lost), for whole maps and for tiles of them.

/** @import {Part, Range} from "../types" */

/** @typedef {Pick<Part, "shape" | "stride" | "data"> & {rows: Range, cols: Range}} Cells */

/**
 * The cell of a part that holds a token: cell i of n covers the tokens from ⌊i·len/n⌋ on.
 *
 * @param {number} token
 * @param {readonly [number, number]} range
 * @param {number} cells
 */
export function cellOf(token, [start, stop], cells) {
  return Math.ceil(((token - start + 1) * cells) / (stop - start)) - 1;
}

/**
 * For each device pixel along an axis: the first and last cell of the part under it, -1 outside.
 *
 * @param {number} count of pixels
 * @param {number} origin token at the first pixel's left edge
 * @param {number} scale device pixels a token takes
 * @param {readonly [number, number]} range
 * @param {number} cells
 */
export function binsOf(count, origin, scale, range, cells) {
  const [start, stop] = range;
  const first = new Int32Array(count).fill(-1);
  const last = new Int32Array(count).fill(-1);
  for (let i = 0; i < count; i++) {
    let low = Math.floor(origin + (i + 0.5) / scale);
    let high = low;
    if (scale < 1) {
      low = Math.floor(origin + i / scale + 1e-9);
      high = Math.max(low, Math.ceil(origin + (i + 1) / scale - 1e-9) - 1);
    }
    if (high < start || low >= stop) continue;
    first[i] = cellOf(Math.max(low, start), range, cells);
    last[i] = cellOf(Math.min(high, stop - 1), range, cells);
  }
  return { first, last };
}

/**
 * Draws one part into pixels.
 *
 * @param {Uint32Array} target width × height
 * @param {number} width
 * @param {number} height
 * @param {Cells} part
 * @param {Uint32Array} table pixel of each byte
 * @param {{row: number, col: number, scaleRow: number, scaleCol: number}} view token at the upper
 *   left corner, device pixels a token takes
 */
export function draw(target, width, height, part, table, { row, col, scaleRow, scaleCol }) {
  const xs = binsOf(width, col, scaleCol, part.cols, part.shape[1]);
  const ys = binsOf(height, row, scaleRow, part.rows, part.shape[0]);
  const from = xs.first.findIndex((bin) => bin >= 0);
  if (from < 0) return;
  let to = width;
  while (xs.first[to - 1] < 0) to -= 1;
  const line = new Uint8Array(part.shape[1]);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [ys.first[y], ys.last[y]];
    if (top < 0) continue;
    const at = y * width;
    if (y && top === ys.first[y - 1] && bottom === ys.last[y - 1]) {
      target.copyWithin(at + from, at - width + from, at - width + to);
      continue;
    }
    largest(line, part, top, bottom);
    if (scaleCol >= 1) for (let x = from; x < to; x++) target[at + x] = table[line[xs.first[x]]];
    else
      for (let x = from; x < to; x++) {
        let q = line[xs.first[x]];
        for (let bin = xs.first[x] + 1; bin <= xs.last[x]; bin++) if (line[bin] > q) q = line[bin];
        target[at + x] = table[q];
      }
  }
}

/** The largest cell of each column over some rows. */
function largest(line, { data, stride, shape }, first, last) {
  line.set(data.subarray(first * stride, first * stride + shape[1]));
  for (let row = first + 1; row <= last; row++)
    for (let i = 0, at = row * stride; i < shape[1]; i++, at++) if (data[at] > line[i]) line[i] = data[at];
}
