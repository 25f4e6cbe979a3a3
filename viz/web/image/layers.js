// One row of weights of every head: worked out from what was sent, and added up.

/** @import {Axis, TokenGrid} from "../types" */

const PERCENTILE = 99; // of the patches, where a scale ends beside a sink

/**
 * A layer ready to be read.
 *
 * @typedef {object} Layer
 * @property {[number, number, number]} shape heads, queries, keys; or cells of several patches
 * @property {number} factor patches along a cell's side
 * @property {ReadonlySet<number>} resting cells of patches on which a head rests
 * @property {Float32Array} maxima of each row
 * @property {Uint8Array} data
 * @property {Float32Array} square share of the row's largest weight, by level
 * @property {Uint32Array} cells in which each token is
 */

/**
 * @param {any} layer of a message
 * @param {Uint8Array} area
 * @param {TokenGrid} grid of its patches
 * @returns {Layer}
 */
export function layerOf({ shape, factor, resting, maxima, at }, area, grid) {
  const [heads, queries, keys] = shape;
  return {
    shape,
    factor,
    resting: new Set(resting),
    maxima: new Float32Array(area.buffer, area.byteOffset + maxima, heads * queries),
    data: area.subarray(at, at + heads * queries * keys),
    square: Float32Array.from({ length: 256 }, (_, q) => (q / 255) ** 2),
    cells: cellsOf(grid, factor),
  };
}

/**
 * The cell that each token is in: one of its own without a place on the picture.
 *
 * @param {Pick<TokenGrid, "shape" | "places">} grid
 * @param {number} factor patches along a cell's side
 */
export function cellsOf({ shape: [rows, cols], places: [prefix] }, factor) {
  const across = Math.ceil(cols / factor);
  return Uint32Array.from({ length: prefix + rows * cols }, (_, token) => {
    if (token < prefix) return token;
    const [row, col] = [Math.floor((token - prefix) / cols), (token - prefix) % cols];
    return prefix + Math.floor(row / factor) * across + Math.floor(col / factor);
  });
}

/**
 * The weight that has the last colour on the scale that heads share: the largest on a patch, or,
 * beside a sink, which would leave all others dark, the 99th percentile.
 *
 * @param {Float32Array} patches of each the largest weight in any head
 * @param {(patch: number) => boolean} rests whether a head rests on a patch
 * @returns {{top: number, beside: boolean}} and whether it is the percentile
 */
export function sharedTop(patches, rests) {
  const ordered = Float32Array.from(patches, Math.abs).sort();
  const below = ordered[Math.floor((PERCENTILE * (ordered.length - 1)) / 100)];
  const beside = below > 0 && patches.some((weight, patch) => weight > below && rests(patch));
  return { top: beside ? below : ordered[ordered.length - 1], beside };
}

/**
 * What one query gives to every token, or one key gets, from quantised weights: of each its cell's.
 *
 * @param {Pick<Layer, "shape" | "maxima" | "data" | "square" | "cells">} layer
 * @param {number} head
 * @param {number} token
 * @param {Axis} axis
 */
export function roughRow({ shape, maxima, data, square, cells }, head, token, axis) {
  const [, queries, keys] = shape;
  const first = head * queries;
  const one = cells[token];
  return Float32Array.from(cells, (cell) => {
    const [query, key] = axis === "key" ? [first + cell, one] : [first + one, cell];
    return maxima[query] * square[data[query * keys + key]];
  });
}

/**
 * The heads' rows, then their mean and their largest; of changes the largest of either sign.
 *
 * @param {Float32Array[]} heads
 */
export function withMeanAndMax(heads) {
  const [mean, max] = [new Float32Array(heads[0].length), new Float32Array(heads[0].length)];
  for (const head of heads)
    for (let i = 0; i < head.length; i++) {
      mean[i] += head[i] / heads.length;
      if (Math.abs(head[i]) > Math.abs(max[i])) max[i] = head[i];
    }
  return [...heads, mean, max];
}

/** @param {string} label whether it is the class token’s, of these networks or of transformers */
export const isClass = (label) => label === "class" || label === "[CLS]";

/**
 * Sinks of a site: tokens that are hidden.
 *
 * @typedef {object} Hidden
 * @property {ReadonlySet<number>} keys
 * @property {number[]} shares mean weight of a row on them, by head
 */

/**
 * What one query gives to all keys but the sinks, or what one key gets, if it is none.
 *
 * @param {Float32Array} values
 * @param {object} place
 * @param {Axis} place.axis
 * @param {number} place.token whose row or column it is
 * @param {ReadonlySet<number>} place.keys sinks
 * @param {Uint32Array} [place.cells] of coarse rows, which lose the sinks' whole cells
 */
export function withoutSinks(values, { axis, token, keys, cells }) {
  const hidden = new Set([...keys].map((key) => cells?.[key] ?? key));
  return values.map((value, i) =>
    (axis === "query" ? hidden.has(cells?.[i] ?? i) : keys.has(token)) ? 0 : value,
  );
}
