// The weights of a text that have come so far: thumbnails of all heads, pooled maps, exact rows.

import { Cache } from "../core/cache.js";
import { cellOf } from "../core/raster.js";

/** @import {Axis, Base, ExactRow, Head, MapHeader, Message, Part, RowHeader, ThumbsHeader, Variant, Weight} from "../types" */

const MIB = 1 << 20;
const MAPS = 48 * MIB;
const ROWS = 16 * MIB;
const TILES = 6; // of one head
export const POOLED = 640; // maximum rows and columns of a map from the server

/** @typedef {{whole: Part | null, tiles: Part[]}} Entry */

/** @type {Part[]} */
const NONE = [];

/**
 * Whether a part shows all of these rows and columns.
 *
 * @param {Part} part
 * @param {readonly [number, number]} rows
 * @param {readonly [number, number]} cols
 */
export const covers = (part, rows, cols) =>
  part.rows[0] <= rows[0] &&
  part.rows[1] >= rows[1] &&
  part.cols[0] <= cols[0] &&
  part.cols[1] >= cols[1];

/**
 * Cells a token, 1 where nothing is pooled.
 *
 * @param {Part} part
 */
export const density = ({ shape, rows, cols }) =>
  Math.min(shape[0] / (rows[1] - rows[0]), shape[1] / (cols[1] - cols[0]));

/** @type {Variant} what every other view of a head shows */
export const PLAIN = { values: "weights", coding: "sqrt", sinks: "shown" };

/** @type {Variant} what edits changed */
export const DIFFERENCE = { values: "difference", coding: "difference", sinks: "shown" };

/** @param {Variant} variant */
export const isPlain = ({ coding, sinks }) => coding === "sqrt" && sinks === "shown";

const keyOf = (site, head, coding, sinks) => `${site}/${head}/${coding}/${sinks}`;

const rowKeyOf = (site, head, axis, index, values, sinks) =>
  `${site}/${head}/${axis}/${index}/${values}/${sinks}`;

/** The number that a byte stands for. */
function decoded({ coding, min, max }, q) {
  if (coding === "sqrt") return max * (q / 255) ** 2;
  return q ? min + ((max - min) * (q - 1)) / 254 : -Infinity;
}

/**
 * The numbers that all bytes stand for.
 *
 * @param {Part} part
 */
export const valuesOf = (part) => Float32Array.from({ length: 256 }, (_, q) => decoded(part, q));

function sinksOf(header, rows, area) {
  if (!header) return null;
  const shares = new Float32Array(area.buffer, area.byteOffset + header.shares, rows);
  return { keys: header.keys, share: header.share, shares };
}

export class Maps {
  /** @param {Pick<Base, "sites">} base */
  constructor(base) {
    this.base = base;
    /** @type {Map<number, ThumbsHeader & {area: Uint8Array}>} by site */
    this.thumbs = new Map();
    /** @type {Cache<Part[]>} whole map first, then tiles, the newest last */
    this.maps = new Cache(MAPS);
    /** @type {Cache<ExactRow>} */
    this.rows = new Cache(ROWS);
    /** @type {Map<string, Part[]>} thumbnails that are whole maps */
    this.small = new Map();
  }

  /** @param {Message} message */
  take({ header, area }) {
    const { thumbs } = header;
    for (let i = 0; i < (thumbs?.sites ?? 0); i++)
      if (thumbs) this.thumbs.set(thumbs.first + i, { ...thumbs, area });
    for (const map of header.maps ?? []) this.keepMap(map, area);
    for (const row of header.rows ?? []) this.keepRow(row, area);
  }

  /**
   * @param {MapHeader} map
   * @param {Uint8Array} area
   */
  keepMap({ site, head, rows, cols, shape, coding = "sqrt", min = 0, max, at, sinks: hidden }, area) {
    const { queries, keys } = this.base.sites[site];
    const data = area.subarray(at, at + shape[0] * shape[1]);
    const sinks = sinksOf(hidden, rows[1] - rows[0], area);
    /** @type {Part} */
    const part = { rows, cols, shape, coding, min, max, data, stride: shape[1], whole: false, sinks };
    part.whole = covers(part, [0, queries], [0, keys]);
    const name = keyOf(site, head, coding, hidden?.mode ?? "shown");
    const before = this.maps.get(name) ?? [];
    const tiles = before.filter((other) => !other.whole);
    const whole = part.whole ? part : before.find((other) => other.whole);
    if (!part.whole) tiles.push(part);
    const parts = [...(whole ? [whole] : []), ...tiles.slice(-TILES)];
    const bytes = parts.reduce((sum, each) => sum + each.data.length, 0);
    this.maps.set(name, parts, bytes);
  }

  /**
   * @param {RowHeader} row
   * @param {Uint8Array} area
   */
  keepRow({ site, head, axis, index, count, sum, at, values = "weights", sinks }, area) {
    const weights = new Float32Array(area.buffer, area.byteOffset + at, count);
    const name = rowKeyOf(site, head, axis, index, values, sinks?.mode ?? "shown");
    this.rows.set(name, { weights, sum }, 4 * count);
  }

  /**
   * A small map of a head; null if there is none. Smaller sites are cropped from their padding.
   *
   * @param {number} site
   * @param {Head} head
   * @returns {Part | null}
   */
  thumb(site, head) {
    const thumbs = this.thumbs.get(site);
    if (!thumbs) return null;
    const { at, columns, area } = thumbs;
    if (typeof head === "number" && head >= columns - 2) return null;
    const column = typeof head === "number" ? head : columns - (head === "mean" ? 2 : 1);
    const { queries, keys } = this.base.sites[site];
    const size = thumbs.rows * thumbs.cols;
    const start = at + ((site - thumbs.first) * columns + column) * size;
    return {
      rows: [0, queries],
      cols: [0, keys],
      shape: [Math.min(queries, thumbs.rows), Math.min(keys, thumbs.cols)],
      stride: thumbs.cols,
      coding: "sqrt",
      min: 0,
      max: thumbs.max[site - thumbs.first][column],
      data: area.subarray(start, start + size),
      whole: true,
      sinks: null,
    };
  }

  /**
   * Parts of a head's matrix, the whole first; empty until the whole has come. The same array as
   * long as nothing was added.
   *
   * @param {number} site
   * @param {Head} head
   * @param {Variant} [variant]
   * @returns {Part[]}
   */
  parts(site, head, variant = PLAIN) {
    const key = keyOf(site, head, variant.coding, variant.sinks);
    const parts = this.maps.get(key);
    if (parts?.[0].whole) return parts;
    if (!isPlain(variant)) return NONE;
    const cached = this.small.get(key);
    if (cached) return cached;
    const thumb = this.thumb(site, head);
    const { queries, keys } = this.base.sites[site];
    if (!thumb || thumb.shape[0] !== queries || thumb.shape[1] !== keys) return NONE;
    const alone = [thumb];
    this.small.set(key, alone);
    return alone;
  }

  /**
   * The weights of a window, rounded as they were sent; null until they have come unpooled.
   *
   * @param {number} site
   * @param {Head} head
   * @param {[number, number]} rows
   * @param {[number, number]} cols
   * @param {Variant} [variant]
   */
  window(site, head, rows, cols, variant = PLAIN) {
    const parts = this.parts(site, head, variant);
    const part = parts.find((each) => covers(each, rows, cols) && density(each) >= 1);
    if (!part) return null;
    const { stride, data } = part;
    const values = valuesOf(part);
    const width = cols[1] - cols[0];
    const weights = new Float32Array((rows[1] - rows[0]) * width);
    for (let row = rows[0], i = 0; row < rows[1]; row++) {
      const start = (row - part.rows[0]) * stride + cols[0] - part.cols[0];
      for (let col = 0; col < width; col++, i++) weights[i] = values[data[start + col]];
    }
    return weights;
  }

  /**
   * @param {number} site
   * @param {Head} head
   * @param {Axis} axis
   * @param {number} index
   * @param {Variant} [variant]
   */
  exact(site, head, axis, index, { values, sinks } = PLAIN) {
    return this.rows.get(rowKeyOf(site, head, axis, index, values, sinks));
  }

  /**
   * One weight, as exactly as it is known; null if it is not, or there is no such pair.
   *
   * @param {number} site
   * @param {Head} head
   * @param {number} query
   * @param {number} key
   * @param {Variant} [variant]
   * @returns {Weight | null}
   */
  weight(site, head, query, key, variant) {
    const row = this.exact(site, head, "query", query, variant);
    if (row) return key in row.weights ? { value: row.weights[key], sign: "", sum: row.sum } : null;
    const column = this.exact(site, head, "key", key, variant);
    if (column) return query in column.weights ? { value: column.weights[query], sign: "" } : null;
    /** @type {Part | null} */
    let best = null;
    for (const part of this.parts(site, head, variant))
      if (covers(part, [query, query + 1], [key, key + 1]))
        if (!best || density(part) >= density(best)) best = part;
    if (!best) return null;
    const { rows, cols, shape, stride, data } = best;
    const q = data[cellOf(query, rows, shape[0]) * stride + cellOf(key, cols, shape[1])];
    return { value: decoded(best, q), sign: density(best) < 1 ? "≤" : "≈" };
  }
}
