// The weights of a text that have come so far: thumbnails of all heads, pooled maps, exact rows.

import { Cache } from "../core/cache.js";
import { cellOf } from "../core/raster.js";

/** @import {Axis, Base, ExactRow, Head, Message, Part, Range, Variant, Weight} from "../types" */

const MIB = 1 << 20;
const MAPS = 48 * MIB;
const ROWS = 32 * MIB;
const TILES = 6; // of one head
export const POOLED = 640; // maximum rows and columns of a map from the server

/** @type {Part[]} */
const NONE = [];

/** Whether a part shows all of these rows and columns. @type {(part: Part, rows: Range, cols: Range) => boolean} */
export const covers = (part, rows, cols) =>
  part.rows[0] <= rows[0] && part.rows[1] >= rows[1] && part.cols[0] <= cols[0] && part.cols[1] >= cols[1];

/** Cells a token, 1 where nothing is pooled. @param {Part} part */
export const density = ({ shape, rows, cols }) =>
  Math.min(shape[0] / (rows[1] - rows[0]), shape[1] / (cols[1] - cols[0]));

/** @type {Variant} what every view of a head but the matrix shows */
export const PLAIN = { values: "weights", sinks: "shown" };

/** @param {Variant} variant */
export const isPlain = ({ values, sinks }) => values === "weights" && sinks === "shown";

const keyOf = (/** @type {unknown[]} */ ...parts) => parts.join("/");

/** The number that a byte stands for. */
function decoded({ values, min, max }, q) {
  if (values === "weights") return max * (q / 255) ** 2;
  return q ? min + ((max - min) * (q - 1)) / 254 : -Infinity;
}

/** The numbers that all bytes stand for. @param {Part} part */
export const valuesOf = (part) => Float32Array.from({ length: 256 }, (_, q) => decoded(part, q));

const floatsIn = (area, at, count) => new Float32Array(area.buffer, area.byteOffset + at, count);

export class Maps {
  /** @type {Map<number, any>} the part of a message with its area, by site */
  thumbs = new Map();
  /** @type {Cache<Part[]>} whole map first, then tiles, the newest last */
  maps = new Cache(MAPS);
  /** @type {Cache<ExactRow>} */
  rows = new Cache(ROWS);
  /** @type {Map<string, Part[]>} thumbnails that are whole maps */
  small = new Map();

  /** @param {Pick<Base, "sites">} base */
  constructor(base) {
    this.base = base;
  }

  /** @param {Message} message */
  take({ header, area }) {
    const { thumbs } = header;
    for (let i = 0; i < (thumbs?.sites ?? 0); i++)
      if (thumbs) this.thumbs.set(thumbs.first + i, { ...thumbs, area });
    for (const map of header.maps ?? []) this.keepMap(map, area);
    for (const row of header.rows ?? []) this.keepRow(row, area);
  }

  /** @param {any} map @param {Uint8Array} area */
  keepMap({ site, head, rows, cols, shape, coding = "sqrt", min = 0, max, at, sinks: hidden }, area) {
    const { queries, keys } = this.base.sites[site];
    /** @type {Part} */
    const part = {
      ...{ rows, cols, shape, min, max, stride: shape[1], whole: false },
      values: coding === "sqrt" ? "weights" : coding,
      data: area.subarray(at, at + shape[0] * shape[1]),
      sinks: hidden ? { ...hidden, shares: floatsIn(area, hidden.shares, rows[1] - rows[0]) } : null,
    };
    part.whole = covers(part, [0, queries], [0, keys]);
    const name = keyOf(site, head, part.values, hidden?.mode ?? "shown");
    const before = this.maps.get(name) ?? [];
    const whole = part.whole ? [part] : before.filter((other) => other.whole);
    const tiles = [...before.filter((other) => !other.whole), ...(part.whole ? [] : [part])];
    const parts = [...whole, ...tiles.slice(-TILES)];
    this.maps.set(
      name,
      parts,
      parts.reduce((sum, { data }) => sum + data.length, 0),
    );
  }

  /** @param {any} row @param {Uint8Array} area */
  keepRow({ site, head, axis, index, count, sum, at, values = "weights", sinks }, area) {
    const name = keyOf(site, head, axis, index, values, sinks?.mode ?? "shown");
    this.rows.set(name, { weights: floatsIn(area, at, count), sum }, 4 * count);
  }

  /**
   * A small map of a head; null if there is none. Smaller sites are cropped from their padding.
   *
   * @type {(site: number, head: Head) => Part | null}
   */
  thumb(site, head) {
    const thumbs = this.thumbs.get(site);
    if (!thumbs) return null;
    const { at, columns, area, first, rows, cols, max } = thumbs;
    if (typeof head === "number" && head >= columns - 2) return null;
    const column = typeof head === "number" ? head : columns - (head === "mean" ? 2 : 1);
    const { queries, keys } = this.base.sites[site];
    const start = at + ((site - first) * columns + column) * rows * cols;
    return {
      ...{ rows: [0, queries], cols: [0, keys], stride: cols, values: "weights", min: 0, sinks: null },
      shape: [Math.min(queries, rows), Math.min(keys, cols)],
      max: max[site - first][column],
      data: area.subarray(start, start + rows * cols),
      whole: true,
    };
  }

  /**
   * Parts of a head's matrix, the whole first; empty until the whole has come. The same array as
   * long as nothing was added.
   *
   * @type {(site: number, head: Head, variant?: Variant) => Part[]}
   */
  parts(site, head, variant = PLAIN) {
    const key = keyOf(site, head, variant.values, variant.sinks);
    const parts = this.maps.get(key);
    if (parts?.[0].whole) return parts;
    if (!isPlain(variant)) return NONE;
    const { queries, keys } = this.base.sites[site];
    const thumb = this.small.has(key) ? null : this.thumb(site, head);
    if (thumb?.shape[0] === queries && thumb.shape[1] === keys) this.small.set(key, [thumb]);
    return this.small.get(key) ?? NONE;
  }

  /**
   * The weights of a window, rounded as they were sent; null until they have come unpooled.
   *
   * @type {(site: number, head: Head, rows: Range, cols: Range, variant?: Variant) => Float32Array | null}
   */
  window(site, head, rows, cols, variant) {
    const part = this.parts(site, head, variant).find(
      (each) => covers(each, rows, cols) && density(each) >= 1,
    );
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

  /** @type {(site: number, head: Head | "layer", axis: Axis, index: number, variant?: Variant) => ExactRow | null} */
  exact(site, head, axis, index, { values, sinks } = PLAIN) {
    return this.rows.get(keyOf(site, head, axis, index, values, sinks));
  }

  /**
   * One weight, as exactly as it is known; null if it is not, or there is no such pair.
   *
   * @type {(site: number, head: Head, query: number, key: number, variant?: Variant) => Weight | null}
   */
  weight(site, head, query, key, variant) {
    const row = this.exact(site, head, "query", query, variant);
    if (row) return key in row.weights ? { value: row.weights[key], sign: "", sum: row.sum } : null;
    const column = this.exact(site, head, "key", key, variant);
    if (column) return query in column.weights ? { value: column.weights[query], sign: "" } : null;
    const best = this.parts(site, head, variant)
      .filter((part) => covers(part, [query, query + 1], [key, key + 1]))
      .reduce(
        (one, part) => (one && density(one) > density(part) ? one : part),
        /** @type {Part | null} */ (null),
      );
    if (!best) return null;
    const { rows, cols, shape, stride, data } = best;
    const q = data[cellOf(query, rows, shape[0]) * stride + cellOf(key, cols, shape[1])];
    return { value: decoded(best, q), sign: density(best) < 1 ? "≤" : "≈" };
  }
}
