// State of the view of a picture: that of its tokens in a row, and beside it layers of weights of all heads, of which one
// row is worked out from what was sent, and added up.

import { Cache } from "../core/cache.js";
import { levelOf } from "../core/colours.js";
import { ON_SCREEN } from "../core/declared.js";
import { tokenAt } from "../core/grids.js";
import { textsOf } from "../core/labels.js";
import { addressOf, patchThere, siteFor } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { TextState } from "../text/state.js";

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

const REST_MS = 20; // hover time before the exact weights of a patch are fetched
const AHEAD_MS = 300; // idle time before layers are prefetched
const LAYERS = 48 << 20; // bytes
const AHEAD = 6 << 20; // maximum bytes of prefetched layers
const IN_A_ROW = ["matrix", "head"]; // the forms that pictures share with texts

/**
 * All heads, their mean and their largest for one token.
 *
 * @typedef {object} Rows
 * @property {Float32Array[]} heads as they are shown: without sinks where these are hidden
 * @property {Float32Array[]} whole with them
 * @property {boolean} exact
 * @property {boolean} coarse whether a patch has the largest weight of its cell of several
 */

export class PatchState extends TextState {
  /** @type {readonly import("../types").Scale[]} */
  scales = ["layer", "own", "fixed"];
  forms = ON_SCREEN.image;
  slot = "layer";
  /** @type {Uint8Array} */
  ramp = new Uint8Array(768);
  /** @type {Uint8Array} */
  bothWays = new Uint8Array(768);
  /** @type {Cache<Layer>} by site */
  layers = new Cache(LAYERS);
  /** @type {Map<string, Hidden>} by site and whether patches count */
  sinks = new Map();
  /** @type {{inputs: unknown[], rows: Rows | null}} the newest rows, and what they were made of */
  cached = { inputs: [], rows: null };

  // ---- what has come

  opened(message, base) {
    this.unpinned = false;
    this.layers = new Cache(LAYERS);
    this.sinks = new Map();
    const { sequential, diverging } = base.theme.dark; // weights shine on a dim picture in both modes
    this.ramp = message.area.subarray(sequential, sequential + 768);
    this.bothWays = message.area.subarray(diverging, diverging + 768);
    super.opened(message, base);
  }

  /** @param {import("../types").Message} message */
  receive(message) {
    super.receive(message);
    const { header, area } = message;
    for (const layer of header.layers ?? []) {
      const [heads, queries, keys] = layer.shape;
      const ready = layerOf(layer, area, this.grid(layer.site));
      this.layers.set(String(layer.site), ready, heads * queries * (keys + 4));
    }
    for (const { site, outliers, keys, shares } of header.sinks ?? [])
      this.sinks.set(`${site}/${outliers}`, { keys: new Set(keys), shares });
  }

  // ---- what panels read

  /** The patches of a layer as a grid: networks of several stages merge patches. */
  grid(site = this.selection.site) {
    return /** @type {import("../types").TokenGrid[]} */ (textsOf(this.base, site).query.grids)[0];
  }

  /** What a token is called in the middle of a sentence. @param {number} token */
  nameOf(token) {
    const label = this.labels().query[token];
    if (token >= this.prefix) return label;
    return `the ${isClass(label) ? "class token" : label}`;
  }

  /** The patch that others are compared with: the chosen one, else the middle one. */
  get compared() {
    const { token } = this.selection;
    return token === null || token < this.prefix ? tokenAt([this.grid()], [0.5, 0.5]) : token;
  }

  /** How many tokens come before the patches: class token and registers. */
  get prefix() {
    return this.grid().places[0];
  }

  get bitmap() {
    return this.photo(0);
  }

  layer() {
    return this.layers.get(String(this.selection.site));
  }

  /** Which of `heads()`, and so of the rows, is chosen. */
  get headIndex() {
    return this.heads().indexOf(this.selection.head);
  }

  /** Whether picture and weights of what is chosen are here. */
  get complete() {
    return Boolean(this.bitmap && this.photos.get(0)?.trace === this.trace && this.rows());
  }

  /** The token in question: under the pointer, else the chosen one, else the first. */
  token() {
    return this.pointed ?? this.selection.token ?? 0;
  }

  /** The exact rows of all heads. @param {number} token */
  exactRows(token) {
    const values = this.difference ? "difference" : "weights";
    return this.maps.exact(this.selection.site, "layer", this.axis, token, { values, sinks: "shown" })
      ?.weights;
  }

  /** The rows of the token in question; the same object as long as the numbers are the same. */
  rows() {
    const token = this.token();
    const layer = this.difference ? null : this.layer();
    const exact = this.exactRows(token);
    const hidden = this.hidden();
    const inputs = [layer, exact, this.axis, token, this.hides, hidden];
    if (inputs.some((each, i) => each !== this.cached.inputs[i]))
      this.cached = { inputs, rows: this.rowsOf(layer, exact, token, hidden) };
    return this.cached.rows;
  }

  /** The hidden sinks of the chosen site; null where none are, or while they are fetched. */
  hidden() {
    const { site, outliers } = this.selection;
    return (this.hides && this.sinks.get(`${site}/${outliers}`)) || null;
  }

  /** Whether sinks are to be hidden. */
  get hides() {
    return this.selection.sinks !== "shown" && !this.difference;
  }

  /**
   * Exact rows where they are here, else those of the layer; null without either, and until the sinks
   * that are hidden are known.
   *
   * @returns {Rows | null}
   */
  rowsOf(layer, exact, token, hidden) {
    if (!(exact || layer) || (this.hides && !hidden)) return null;
    const { axis } = this;
    const many = this.site().heads;
    const count = exact && exact.length / many;
    const rows = Array.from({ length: many }, (_, head) =>
      exact ? exact.subarray(head * count, (head + 1) * count) : roughRow(layer, head, token, axis),
    );
    const whole = withMeanAndMax(rows);
    const result = { heads: whole, whole, exact: Boolean(exact), coarse: !exact && layer.factor > 1 };
    if (!hidden) return result;
    const cells = result.coarse ? layer.cells : undefined;
    const heads = rows.map((values) => withoutSinks(values, { axis, token, keys: hidden.keys, cells }));
    return { ...result, heads: withMeanAndMax(heads) };
  }

  along(site, head, axis, index) {
    const layer = this.layers.get(String(site));
    if (!layer || typeof head !== "number") return super.along(site, head, axis, index);
    return { values: roughRow(layer, head, index, axis), sign: /** @type {const} */ ("≈") };
  }

  /** The weight that has the last colour, for one head's row. @param {Float32Array} values */
  topOf(values) {
    const { scale } = this.selection;
    if (scale === "fixed") return 1;
    if (scale === "own") return this.largest(values) || 1;
    return Math.max(this.sharedTop().top, this.topBeside ?? 0) || 1;
  }

  /** The same of the picture beside this one; undefined without any. @returns {number | undefined} */
  get topBeside() {
    return (this.first ?? this.second)?.sharedTop().top;
  }

  /**
   * The weight that has the last colour where all heads share a scale, 0 until it is known; and whether
   * it is a percentile, beside a patch on which a head rests.
   */
  sharedTop() {
    const rows = this.baseOrNull && this.rows();
    const largest = rows?.heads.at(-1);
    if (!largest) return { top: 0, beside: false };
    const layer = this.layer();
    const isScale = this.selection.scale === "layer" && this.axis === "query" && !this.difference;
    if (!isScale || !layer?.resting.size) return { top: this.largest(largest), beside: false };
    const { prefix } = this;
    return sharedTop(largest.subarray(prefix), (patch) => layer.resting.has(layer.cells[prefix + patch]));
  }

  /** The largest weight on a patch. @param {Float32Array} values */
  largest(values) {
    return values.subarray(this.prefix).reduce((top, value) => Math.max(top, Math.abs(value)), 0);
  }

  /** The heads of a layer as what the token in question gives to the patches, then their mean and their largest. */
  thumbsOf(site) {
    const layer = this.layers.get(String(site));
    const token = this.selection.token ?? 0;
    if (!layer || token >= layer.cells.length) return [];
    const { shape, places } = this.grid(site);
    const heads = Array.from({ length: this.site(site).heads }, (_, head) =>
      roughRow(layer, head, token, this.axis),
    );
    return withMeanAndMax(heads).map((row) => {
      const patches = row.subarray(places[0]);
      const max = Math.max(...patches) || 1;
      const data = Uint8Array.from(patches, (weight) => Math.round(255 * levelOf(weight, max)));
      return { part: { shape, stride: shape[1], data, max }, top: max, ramp: this.ramp };
    });
  }

  thumbInputs() {
    const here = this.group().filter((site) => this.layers.has(String(site)));
    return [this.trace, this.selection.token, this.axis, here.join()];
  }

  // ---- what the user does

  select(change) {
    if (!this.first && change.site !== undefined && this.grid(change.site) !== this.grid())
      this.pointAt(null);
    super.select(change);
  }

  // ---- beside another picture: the same layer, head and place, whichever is pointed at

  get isAligned() {
    return true;
  }

  selectBeside({ site, token, ...rest }) {
    const { first, base } = this;
    const place = site === undefined ? {} : { site: siteFor(first.base.sites, addressOf(base.sites, site)) };
    const there = token === undefined ? {} : { token: this.tokenIn(first, first.selection.site, token) };
    first.select({ ...rest, ...place, ...there });
  }

  tokenIn({ base }, site, token = this.selection.token) {
    return patchThere(token, this.texts().query, textsOf(base, site).query);
  }

  pointAt(token) {
    const { first, second } = this;
    if (first) return first.pointAt(this.tokenIn(first, first.selection.site, token));
    this.pointed = token;
    if (second?.baseOrNull) second.pointed = this.tokenIn(second, second.selection.site, token);
  }

  // ---- fetching

  /** Requests missing data: the layer at once, exact rows after a rest of the pointer. */
  wish() {
    const { client, baseOrNull, arrivals, pointed } = this;
    if (!client || !baseOrNull || !arrivals) return;
    if (IN_A_ROW.includes(this.selection.form)) super.wish();
    const { site, token, outliers } = this.selection;
    const layer = this.layer();
    client.want("sinks", this.hides && !this.hidden() ? pathOf("sinks", { site, outliers }) : null);
    client.want("layer", layer ? null : pathOf("layer", { site }));
    client.want("pointed", pointed === null ? null : this.headsPath(pointed), REST_MS);
    if (!layer) return;
    client.want("chosen", this.headsPath(token ?? 0));
    this.prefetch();
  }

  /** @param {number} index */
  headsPath(index) {
    if (this.exactRows(index)) return null;
    const values = this.difference ? "difference" : undefined;
    return pathOf("heads", { site: this.selection.site, axis: this.axis, index, values });
  }

  /** The nearest layers. */
  prefetch() {
    const { site } = this.selection;
    const layer = this.layer();
    if (!layer) return;
    const [heads, queries, keys] = layer.shape;
    const nearest = [...this.base.sites.keys()].sort((a, b) => Math.abs(a - site) - Math.abs(b - site));
    const paths = nearest
      .slice(1, 1 + Math.floor(AHEAD / (heads * queries * keys)))
      .filter((other) => !this.layers.has(String(other)))
      .map((other) => pathOf("layer", { site: other }));
    this.client?.prefetch(paths, AHEAD_MS);
  }
}
