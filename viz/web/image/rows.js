// One row of weights of every head: worked out from what was sent, and added up.

/** @import {Axis, ImageBase, LayerHeader} from "../types" */

const PERCENTILE = 99; // of the patches, where a scale ends beside a sink

/**
 * A layer ready to be read.
 *
 * @typedef {object} Layer
 * @property {[number, number, number]} shape heads, queries, keys
 * @property {number} factor patches along a cell's side
 * @property {number[]} resting cells of patches on which a head rests
 * @property {6 | 8} bits
 * @property {Float32Array} maxima of each row
 * @property {Uint8Array} data
 * @property {Float32Array} square share of the row's largest weight, by level
 */

/**
 * Bytes as they are for eight bits; for six, four values from three bytes.
 *
 * @param {Uint8Array} packed
 * @param {number} count
 * @param {6 | 8} bits
 */
export function unpackBits(packed, count, bits) {
  if (bits === 8) return packed;
  const values = new Uint8Array(count + 4);
  for (let i = 0, at = 0; i < count; i += 4, at += 3) {
    const [a, b, c] = [packed[at], packed[at + 1] ?? 0, packed[at + 2] ?? 0];
    values[i] = a >> 2;
    values[i + 1] = ((a & 3) << 4) | (b >> 4);
    values[i + 2] = ((b & 15) << 2) | (c >> 6);
    values[i + 3] = c & 63;
  }
  return values;
}

/**
 * @param {LayerHeader} layer
 * @param {Uint8Array} area
 * @returns {Layer}
 */
export function layerOf({ shape, factor, resting, bits, maxima, at }, area) {
  const [heads, queries, keys] = shape;
  const levels = 2 ** bits - 1;
  return {
    ...{ shape, factor, resting, bits },
    maxima: new Float32Array(area.buffer, area.byteOffset + maxima, heads * queries),
    data: unpackBits(area.subarray(at), heads * queries * keys, bits),
    square: Float32Array.from({ length: 256 }, (_, q) => (q / levels) ** 2),
  };
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
 * What one query gives to all keys, or one key gets, from quantised weights.
 *
 * @param {Pick<Layer, "shape" | "maxima" | "data" | "square">} layer
 * @param {number} head
 * @param {number} cell
 * @param {Axis} axis
 */
export function roughRow({ shape, maxima, data, square }, head, cell, axis) {
  const [, queries, keys] = shape;
  const values = new Float32Array(axis === "key" ? queries : keys);
  if (axis === "key")
    for (let q = 0, at = head * queries; q < queries; q++, at++)
      values[q] = maxima[at] * square[data[at * keys + cell]];
  else
    for (let k = 0, row = head * queries + cell; k < keys; k++)
      values[k] = maxima[row] * square[data[row * keys + k]];
  return values;
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
 * What the tokens without a position are: the class token, registers or others, and patches.
 *
 * @param {Pick<ImageBase, "prefix" | "query_labels">} base
 */
export function partsOf({ prefix, query_labels: labels }) {
  const others = labels.slice(isClass(labels[0]) ? 1 : 0, prefix);
  const registers = others.every((label) => label.startsWith("register"));
  return {
    first: prefix && isClass(labels[0]) ? "class" : "",
    others: others.length ? (registers ? "registers" : "other tokens") : "",
    patches: "patches",
  };
}

/**
 * How much goes to the class token, the registers and the patches (or comes from them).
 * Where cells hold several patches, a cell's largest weight counts for each of them.
 *
 * @param {Float32Array} values
 * @param {Pick<ImageBase, "prefix" | "grid" | "query_labels">} base
 * @param {number} factor
 * @param {Axis} axis
 */
export function massOf(values, { prefix, grid, query_labels: labels }, factor, axis) {
  const named = isClass(labels[0]) ? 1 : 0;
  let [first, registers, patches] = [0, 0, 0];
  for (let i = 0; i < prefix; i++) {
    if (i < named) first += values[i];
    else registers += values[i];
  }
  if (factor === 1) for (let i = prefix; i < values.length; i++) patches += values[i];
  else if (axis === "query") patches = Math.max(0, 1 - first - registers);
  else patches = spreadMass(values, prefix, grid, factor);
  return { first, registers, patches, whole: first + registers + patches, named };
}

function spreadMass(values, prefix, grid, factor) {
  const [down, across] = grid.map((size) => Math.ceil(size / factor));
  let sum = 0;
  for (let i = prefix; i < values.length; i++) {
    const [row, col] = [Math.floor((i - prefix) / across), (i - prefix) % across];
    const high = row === down - 1 ? grid[0] - row * factor : factor;
    const wide = col === across - 1 ? grid[1] - col * factor : factor;
    sum += values[i] * high * wide;
  }
  return sum;
}

/**
 * The token of another grid at the same place of the picture.
 *
 * @param {number} token
 * @param {Pick<ImageBase, "prefix" | "grid">} from
 * @param {Pick<ImageBase, "prefix" | "grid">} to
 */
export function movedToken(token, from, to) {
  if (token < from.prefix) return Math.min(token, Math.max(0, to.prefix - 1));
  const at = token - from.prefix;
  const [row, col] = [Math.floor(at / from.grid[1]), at % from.grid[1]].map((place, axis) =>
    Math.floor(((place + 0.5) * to.grid[axis]) / from.grid[axis]),
  );
  return to.prefix + row * to.grid[1] + col;
}

/**
 * The fewest patches that hold a share of the weight on patches, as the masks of DINO's figures.
 *
 * @param {ArrayLike<number>} values of patches
 * @param {number} share
 * @returns {boolean[]}
 */
export function massMask(values, share) {
  const order = Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]);
  const whole = order.reduce((sum, i) => sum + values[i], 0);
  /** @type {boolean[]} */
  const mask = new Array(values.length).fill(false);
  let sum = 0;
  for (const i of order) {
    sum += values[i];
    mask[i] = sum > (1 - share) * whole;
  }
  return mask;
}

/**
 * Sinks of a site: tokens that are hidden.
 *
 * @typedef {object} Hidden
 * @property {ReadonlySet<number>} keys
 * @property {number[]} shares mean weight of a row on them, by head
 * @property {Float32Array} left weight of every row on other tokens, head by head
 */

/**
 * What one query gives to all keys but the sinks, or what one key gets, if it is none.
 *
 * @param {Float32Array} values over tokens or cells
 * @param {object} place
 * @param {Axis} place.axis
 * @param {number} place.token whose row or column it is
 * @param {ReadonlySet<number>} place.keys sinks, as tokens
 * @param {(token: number) => number} place.cellOf
 * @param {((query: number) => number) | null} place.left what rows of tokens or cells leave, if rows
 *   are to be divided by it
 */
export function withoutSinks(values, { axis, token, keys, cellOf, left }) {
  const remaining = axis === "key" && keys.has(token) ? new Float32Array(values.length) : values.slice();
  if (axis === "query") for (const key of keys) remaining[cellOf(key)] = 0;
  if (left)
    for (let i = 0; i < remaining.length; i++) remaining[i] /= left(axis === "query" ? token : i) || 1;
  return remaining;
}
