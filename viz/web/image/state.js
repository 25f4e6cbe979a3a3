// State of the view of a picture: that of its tokens in a row, and beside it layers of weights of all heads.

import { Cache } from "../core/cache.js";
import { changes } from "../core/changes.js";
import { levelOf } from "../core/colours.js";
import { ON_SCREEN } from "../core/declared.js";
import { tokenAt } from "../core/grids.js";
import { textsOf } from "../core/labels.js";
import { addressOf, patchThere, siteFor } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { TextState } from "../text/state.js";
import { isClass, layerOf, roughRow, sharedTop, withMeanAndMax, withoutSinks } from "./layers.js";

/** @import {Hidden, Layer} from "./layers.js" */

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
  /** @type {Rows | null} */
  cached = null;
  stale = changes();

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
    if (this.stale(layer, exact, this.axis, token, this.hides, hidden))
      this.cached = this.rowsOf(layer, exact, token, hidden);
    return this.cached;
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
