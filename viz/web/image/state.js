// State of the view of a picture: the picture, layers of weights of all heads and exact rows, and what is asked for.

import { Cache } from "../core/cache.js";
import { changes } from "../core/changes.js";
import { ON_SCREEN } from "../core/declared.js";
import { gridOf } from "../core/grids.js";
import { unpack } from "../core/pack.js";
import { siteFor, toLink } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { State } from "../core/state.js";
import { layerOf, movedToken, roughRow, sharedTop, withMeanAndMax, withoutSinks } from "./rows.js";

/** @import {Axis, Host, ImageBase, LinkSelection, Message, Selection, TokenGrid, ViewProps} from "../types" */
/** @import {Hidden, Layer} from "./rows.js" */

const REST_MS = 30; // hover time before the exact weights of a patch are fetched
const SOON_MS = 15; // the same where patches are pooled to coarse cells
const AHEAD_MS = 300; // idle time before layers are prefetched
const MIB = 1 << 20;
const LAYERS = 48 * MIB;
const ROWS = 32 * MIB;
const AHEAD = 4 * MIB; // maximum bytes of prefetched layers, per trace

/**
 * All heads, their mean and their largest for one token.
 *
 * @typedef {object} Rows
 * @property {Float32Array[]} heads as they are shown: without sinks where these are hidden
 * @property {Float32Array[]} whole with them
 * @property {boolean} exact
 * @property {boolean} coarse whether a patch has the largest weight of its cell of several
 */

/** Bytes of a layer's cells as they are sent. */
const sizeOf = ({ shape: [heads, queries, keys] }) => heads * queries * keys;

/** @extends {State<ImageBase>} */
export class ImageState extends State {
  scales = /** @type {const} */ (["layer", "own", "fixed"]);
  forms = ON_SCREEN.image;
  slot = "layer";
  /** @type {ImageBitmap | null} */
  bitmap = null;
  drawn = ""; // the trace whose picture it is
  /** @type {Uint8Array} */
  ramp = new Uint8Array(768);
  /** @type {Uint8Array} */
  bothWays = new Uint8Array(768);
  /** @type {Cache<Layer>} by site */
  layers = new Cache(LAYERS);
  /** @type {Cache<Float32Array>} of all heads, by site, axis, token and what the values are */
  exact = new Cache(ROWS);
  /** @type {Cache<Hidden>} by site and whether patches count */
  sinks = new Cache(ROWS);
  fetched = 0; // bytes of layers that were fetched ahead
  direction = 1; // of the user's way through the layers
  /** @type {Rows | null} */
  cached = null;
  /** @type {{whole: ImageBase, base: ImageBase} | null} */
  staged = null;
  /** @type {(() => Record<string, any>) | null} what the form on the screen says of its figure */
  figure = null;
  /** @type {{base: ImageBase, grid: TokenGrid} | null} */
  gridded = null;
  stale = changes();

  /**
   * @param {HTMLElement} root
   * @param {ViewProps} props
   * @param {Host} host
   * @param {ImageState | null} [leader] the state beside which this one shows another trace
   */
  constructor(root, props, host, leader = null) {
    super(root, props, host);
    this.leader = leader;
    /** @type {ImageState | null} the other one of two beside each other */
    this.peer = leader;
  }

  // ---- what has come

  /**
   * @param {Message} message
   * @param {ImageBase} base
   * @param {boolean} again
   */
  opened({ area }, base, again) {
    if (this.leader) this.start = this.leader.chosenFor(this);
    if (again) return;
    for (const kept of ["layers", "exact", "sinks"])
      this[kept] = new Cache(kept === "layers" ? LAYERS : ROWS);
    this.fetched = 0;
    const { sequential, diverging } = base.theme.dark; // weights shine on a dim picture in both modes
    this.ramp = area.subarray(sequential, sequential + 768);
    this.bothWays = area.subarray(diverging, diverging + 768);
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   */
  keeps(path, bytes) {
    if (path === "picture") void this.keepPicture(bytes);
    else if (/^(layer|heads|sinks)\?/.test(path)) this.keepWeights(unpack(bytes));
    else return false;
    return true;
  }

  /** @param {Uint8Array} bytes */
  async keepPicture(bytes) {
    const { trace } = this;
    const bitmap = await createImageBitmap(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]));
    if (this.trace !== trace) return;
    [this.bitmap, this.drawn] = [bitmap, trace]; // the one before stays in view until now
    this.changed();
  }

  /** @param {Message} message */
  keepWeights({ header, area }) {
    for (const layer of header.layers ?? []) {
      if (layer.site !== this.selection.site) this.fetched += sizeOf(layer);
      const [heads, queries, keys] = layer.shape;
      const base = this.baseOf(this.whole, layer.site);
      this.layers.set(String(layer.site), layerOf(layer, area, base), heads * queries * (keys + 4));
    }
    const floats = (at, count) => new Float32Array(area.buffer, area.byteOffset + at, count);
    for (const { site, axis, index, count, at, values = "weights" } of header.rows ?? [])
      this.exact.set(`${site}/${axis}/${index}/${values}`, floats(at, count), 4 * count);
    for (const { site, outliers, keys, shares } of header.sinks ?? [])
      this.sinks.set(`${site}/${outliers}`, { keys: new Set(keys), shares }, 8 * keys.length);
  }

  // ---- what panels read

  /** Of the chosen site: networks of several stages merge patches, so that each has its own grid. */
  get base() {
    return this.baseOf(this.whole, this.selection.site);
  }

  /**
   * @param {ImageBase} whole
   * @param {number} site
   */
  baseOf(whole, site) {
    const { grid = whole.grid, prefix = whole.prefix, patch = whole.patch } = whole.sites[site] ?? {};
    if (String(grid) === String(whole.grid) && prefix === whole.prefix) return whole;
    if (this.staged?.whole !== whole || String(this.staged.base.grid) !== String(grid))
      this.staged = { whole, base: { ...whole, grid, prefix, patch } };
    return this.staged.base;
  }

  /** What is shown: the weights of heads over the picture, or another form. */
  get form() {
    const { form } = this.selection;
    return form === "image" ? "attention" : form;
  }

  layer() {
    return this.layers.get(String(this.selection.site));
  }

  /** @returns {Axis} */
  get axis() {
    return this.selection.direction === "in" ? "key" : "query";
  }

  /** Which of `heads()`, and so of the rows, is chosen. */
  get headIndex() {
    return this.heads().indexOf(this.selection.head);
  }

  /** Whether picture and weights of what is chosen are here. */
  get complete() {
    return Boolean(this.bitmap && this.drawn === this.trace && this.rows());
  }

  /** The token in question: under the pointer, else the chosen one, else the first. */
  token() {
    return this.pointed ?? this.selection.token ?? 0;
  }

  /**
   * Row and column of a patch.
   *
   * @param {number} token
   * @returns {[number, number]}
   */
  place(token) {
    const at = token - this.base.prefix;
    return [Math.floor(at / this.base.grid[1]), at % this.base.grid[1]];
  }

  /** The patches as a grid; the same object as long as they are the same. */
  grid() {
    const { base } = this;
    if (this.gridded?.base !== base) this.gridded = { base, grid: gridOf(base) };
    return this.gridded.grid;
  }

  /** What rows hold, as they are asked for. */
  get values() {
    return this.difference ? "difference" : "weights";
  }

  /** The rows of the token in question; the same object as long as the numbers are the same. */
  rows() {
    const { site, sinks } = this.selection;
    const token = this.token();
    const layer = this.difference ? null : this.layer();
    const exact = this.exact.get(`${site}/${this.axis}/${token}/${this.values}`);
    const hidden = this.hidden();
    if (this.stale(layer, exact, this.axis, token, sinks, hidden, this.values))
      this.cached = this.rowsOf(layer, exact, token, hidden);
    return this.cached;
  }

  /** The hidden sinks of the chosen site; null where none are, or while they are fetched. */
  hidden() {
    const { site, outliers } = this.selection;
    return this.hides ? this.sinks.get(`${site}/${outliers}`) : null;
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

  /**
   * The weight that has the last colour, for one head's row.
   *
   * @param {Float32Array} values
   */
  topOf(values) {
    const { scale } = this.selection;
    if (scale === "fixed") return 1;
    if (scale === "own") return this.largest(values) || 1;
    return Math.max(this.sharedTop().top, this.peer?.sharedTop().top ?? 0) || 1;
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
    const { prefix } = this.base;
    return sharedTop(largest.subarray(prefix), (patch) => layer.resting.has(layer.cells[prefix + patch]));
  }

  /**
   * The largest weight on a patch.
   *
   * @param {Float32Array} values
   */
  largest(values) {
    return values.subarray(this.base.prefix).reduce((top, value) => Math.max(top, Math.abs(value)), 0);
  }

  // ---- what the user does, in both of two beside each other

  /** @param {Partial<Selection>} change */
  select(change) {
    this.choose(change);
    this.peer?.follow(change, this);
  }

  /** @param {Partial<Selection>} change */
  choose(change) {
    const before = this.selection.site;
    if (change.site !== undefined && change.site !== before) {
      this.direction = Math.sign(change.site - before);
      const next = this.baseOf(this.whole, change.site);
      if (next !== this.base) {
        change = { token: movedToken(this.selection.token ?? 0, this.base, next), ...change };
        this.pointed = null;
      }
    }
    super.select(change);
  }

  /** @param {number | null} token */
  pointAt(token) {
    this.pointed = token;
    const { peer } = this;
    if (peer?.baseOrNull) peer.pointed = token === null ? null : movedToken(token, this.base, peer.base);
  }

  /**
   * What is chosen here in terms of a link, its token at the same place of another picture.
   *
   * @param {ImageState} other
   * @returns {LinkSelection}
   */
  chosenFor(other) {
    const link = toLink(this.whole, this.selection);
    if (link.token === null) return link;
    const base = other.baseOf(other.whole, siteFor(other.whole.sites, link));
    return { ...link, token: movedToken(link.token, this.base, base) };
  }

  /**
   * Chooses what was chosen in the other one: the nearest such layer, and the same place.
   *
   * @param {Partial<Selection>} change
   * @param {ImageState} from
   */
  follow(change, from) {
    if (!this.baseOrNull) return;
    const { token, ...link } = from.chosenFor(this);
    const { site, ...rest } = change;
    this.choose({
      ...rest,
      ...(site === undefined ? {} : { site: siteFor(this.whole.sites, link) }),
      ...(site !== undefined || "token" in change ? { token } : {}),
    });
  }

  // ---- fetching

  /** Requests missing data: the layer at once, exact rows after a rest of the pointer. */
  wish() {
    const { client, next, baseOrNull, start, arrivals, pointed } = this;
    const { site, token, outliers } = this.selection;
    if (next) {
      next.client.want("picture", "picture");
      const there = start?.layer ?? site; // a guess: another network may have fewer layers
      next.client.want("layer", there in next.heads ? pathOf("layer", { site: there }) : null);
    }
    if (!client || !baseOrNull || !arrivals) return;
    client.want("picture", this.drawn === this.trace ? null : "picture");
    const layer = this.layer();
    client.want("sinks", this.hides && !this.hidden() ? pathOf("sinks", { site, outliers }) : null);
    client.want("layer", layer ? null : pathOf("layer", { site }));
    const isCoarse = (layer?.factor ?? 1) > 1;
    client.want("hover", pointed === null ? null : this.rowPath(pointed), isCoarse ? SOON_MS : REST_MS);
    if (!layer) return;
    client.want("pin", this.rowPath(token ?? 0));
    this.prefetch(layer);
  }

  /** @param {number} index */
  rowPath(index) {
    const { site } = this.selection;
    const { axis, values } = this;
    if (this.exact.has(`${site}/${axis}/${index}/${values}`)) return null;
    return pathOf("heads", { site, axis, index, values: this.difference ? values : undefined });
  }

  /** The nearest missing layers, within the prefetch limit; first those in the direction of the user's way. */
  prefetch(layer) {
    const { site } = this.selection;
    const rank = (/** @type {number} */ other) =>
      2 * Math.abs(other - site) - Number(Math.sign(other - site) === this.direction);
    const absent = [...this.base.sites.keys()].filter((other) => !this.layers.has(String(other)));
    const budget = Math.max(0, Math.floor((AHEAD - this.fetched) / sizeOf(layer)));
    const nearest = absent.sort((a, b) => rank(a) - rank(b)).slice(0, budget);
    this.client?.prefetch(
      nearest.map((other) => pathOf("layer", { site: other })),
      AHEAD_MS,
    );
  }

  destroy() {
    super.destroy();
    if (this.peer) this.peer.peer = null;
    this.peer = null;
  }
}
