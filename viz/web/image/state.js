// State of the image view: the shared view state, the picture, layers of weights of all heads, and
// exact rows. Requests missing data, and prefetches.

import { ON_SCREEN } from "../core/declared.js";
import { Cache } from "../core/cache.js";
import { changes } from "../core/changes.js";
import { gridOf } from "../core/grids.js";
import { headName, headsOf, siteName } from "../core/labels.js";
import { unpack } from "../core/pack.js";
import { reachedOf } from "../core/reachable.js";
import { pathOf } from "../core/sources.js";
import { siteFor, toLink } from "../core/selection.js";
import { ViewState } from "../core/state.js";
import { layerOf, movedToken, roughRow, sharedTop, withMeanAndMax, withoutSinks } from "./rows.js";

/** @import {Axis, Head, Host, ImageBase, LinkSelection, Message, Other, Scale, Selection, Sought, TokenGrid, ViewProps} from "../types" */
/** @import {Hidden, Layer} from "./rows.js" */

const REST_MS = 30; // hover time before the exact weights of a patch are fetched
const SOON_MS = 15; // the same where patches are pooled to coarse cells
const AHEAD_MS = 300; // idle time before layers are prefetched
const MIB = 1 << 20;
const LAYERS = 48 * MIB;
const ROWS = 32 * MIB;
const AHEAD = 4 * MIB; // maximum bytes of prefetched layers, per trace
/** @type {readonly Scale[]} */
const SCALES = ["layer", "own", "fixed"];

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
const sizeOf = ({ shape: [heads, queries, keys], bits }) => (heads * queries * keys * bits) / 8;

export class ImageState {
  /**
   * @param {HTMLElement} root
   * @param {ViewProps} props
   * @param {Host} host
   * @param {ImageState | null} [leader] the state beside which this one shows another trace
   */
  constructor(root, props, host, leader = null) {
    /** @type {ViewState<ImageBase>} */
    this.view = new ViewState(root, props, host, {
      scales: SCALES,
      forms: ON_SCREEN.image,
      slot: "layer",
      take: (path, bytes) => this.take(path, bytes),
      opened: ({ area }, base, same) => {
        if (leader) this.view.start = leader.chosenFor(this);
        if (!same) this.opened(area, base);
      },
      wish: () => this.wish(),
    });
    this.leader = leader;
    /** @type {ImageState | null} the other one of two beside each other */
    this.peer = leader;
    /** @type {(() => Other | null) | null} */
    this.fromOther = null; // what can be patched from that one
    /** @type {Sought | null} a change whose reach is shaded */
    this.sought = null;
    /** @type {ImageBitmap | null} */
    this.bitmap = null;
    this.drawn = ""; // the trace whose picture it is
    this.overview = new Uint8Array();
    this.ramp = new Uint8Array(768);
    this.bothWays = new Uint8Array(768);
    /** @type {Cache<Layer>} by site */
    this.layers = new Cache(LAYERS);
    /** @type {Cache<Float32Array>} of all heads, by site, axis, token and what the values are */
    this.exact = new Cache(ROWS);
    /** @type {Cache<Hidden>} by site and whether patches count */
    this.sinks = new Cache(ROWS);
    this.fetched = 0; // bytes of layers that were fetched ahead
    /** @type {number | null} the token under the pointer in the large picture */
    this.pointed = null;
    /** @type {{head: number, token: number} | null} under the pointer in the small ones */
    this.read = null;
    /** @type {Rows | null} */
    this.cached = null;
    /** @type {{whole: ImageBase, base: ImageBase} | null} */
    this.staged = null;
    /** @type {{base: ImageBase, grid: TokenGrid} | null} */
    this.gridded = null;
    this.stale = changes();
    this.direction = 1; // of the user's way through the layers
    /** @type {ReturnType<typeof setTimeout> | undefined} of what waits for a rest of the pointer */
    this.resting = undefined;
  }

  /** Replaces what belongs to the trace before. */
  opened(area, { theme }) {
    this.layers = new Cache(LAYERS);
    this.exact = new Cache(ROWS);
    this.sinks = new Cache(ROWS);
    this.fetched = 0;
    this.pointed = this.read = null;
    this.overview = area;
    const { sequential, diverging } = theme.dark; // weights shine on a dim picture in both modes
    this.ramp = area.subarray(sequential, sequential + 768);
    this.bothWays = area.subarray(diverging, diverging + 768);
  }

  /** Of the chosen site: networks of several stages merge patches, so that each has its own grid. */
  get base() {
    return this.baseOf(this.view.base, this.view.selection.site);
  }

  /** Whether the chosen site has the patches that the network reads. */
  get finest() {
    return this.base === this.view.base;
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

  get trace() {
    return this.view.trace;
  }

  get selection() {
    return this.view.selection;
  }

  area = () => this.overview;

  changed() {
    this.view.changed();
  }

  /** @type {ViewState<ImageBase>["waitingFor"]} */
  waitingFor = (slot, doing) => this.view.waitingFor(slot, doing);

  /** What is over the picture: the weights of heads, all layers together, or the last states. */
  get form() {
    const { form } = this.selection;
    return form === "model" || form === "features" ? form : "attention";
  }

  // ---- what has come

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   */
  take(path, bytes) {
    if (path === "picture") void this.keepPicture(bytes);
    else if (/^(layer|heads|sinks)\?/.test(path)) this.keep(unpack(bytes));
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
  keep({ header, area }) {
    for (const layer of header.layers ?? []) {
      if (layer.site !== this.selection.site) this.fetched += sizeOf(layer);
      const [heads, queries, keys] = layer.shape;
      const base = this.baseOf(this.view.base, layer.site);
      this.layers.set(String(layer.site), layerOf(layer, area, base), heads * queries * (keys + 4));
    }
    const floats = (at, count) => new Float32Array(area.buffer, area.byteOffset + at, count);
    for (const { site, axis, index, count, at, values = "weights" } of header.rows ?? [])
      this.exact.set(`${site}/${axis}/${index}/${values}`, floats(at, count), 4 * count);
    for (const { site, outliers, keys, shares, count, at } of header.sinks ?? [])
      this.sinks.set(
        `${site}/${outliers}`,
        { keys: new Set(keys), shares, left: floats(at, count) },
        4 * count,
      );
  }

  // ---- what panels read

  site(index = this.selection.site) {
    return this.base.sites[index];
  }

  heads() {
    return headsOf(this.base, this.selection.site);
  }

  siteName() {
    return siteName(this.base, this.selection.site);
  }

  /** @param {Head} [head] */
  headName(head = this.selection.head) {
    return headName(this.base, this.selection.site, head);
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
    if (this.gridded?.base === base) return this.gridded.grid;
    this.gridded = { base, grid: gridOf(base) };
    return this.gridded.grid;
  }

  /** Whether weights are shown as what edits changed. */
  get difference() {
    return Boolean(this.view.props.difference);
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
    const each = Array.from({ length: many }, (_, head) => head);
    const count = exact && exact.length / many;
    const rows = each.map((head) =>
      exact ? exact.subarray(head * count, (head + 1) * count) : roughRow(layer, head, token, axis),
    );
    const whole = withMeanAndMax(rows);
    const result = { heads: whole, whole, exact: Boolean(exact), coarse: !exact && layer.factor > 1 };
    if (!hidden) return result;
    const { keys, left } = hidden;
    const size = left.length / many;
    const divided = this.selection.sinks === "renormalised";
    const cells = result.coarse ? layer.cells : undefined;
    const heads = rows.map((values, head) =>
      withoutSinks(values, {
        ...{ axis, token, keys, cells },
        left: divided ? (query) => left[head * size + query] : null,
      }),
    );
    return { ...result, heads: withMeanAndMax(heads) };
  }

  /** What a row of the chosen head gives to the hidden sinks; of columns, its rows’ mean. */
  hiddenShare() {
    const [rows, hidden] = [this.rows(), this.hidden()];
    if (!rows || !hidden) return 0;
    const { head } = this.selection;
    const given = rows.whole.slice(0, this.site().heads).map((values, i) => {
      if (this.axis === "key") return hidden.shares[i];
      return [...hidden.keys].reduce((sum, key) => sum + values[key], 0);
    });
    if (typeof head === "number") return given[head];
    return head === "max" ? Math.max(...given) : given.reduce((a, b) => a + b) / given.length;
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
    const rows = this.view.baseOrNull && this.rows();
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

  // ---- what the user does

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
      const next = this.baseOf(this.view.base, change.site);
      if (next !== this.base) {
        change = { token: movedToken(this.selection.token ?? 0, this.base, next), ...change };
        this.pointed = this.read = null;
      }
    }
    this.view.select(change);
  }

  /** @param {Sought | null} sought a change whose reach is to be shaded */
  reach(sought) {
    if (JSON.stringify(sought) === JSON.stringify(this.sought)) return;
    this.sought = sought;
    this.changed();
  }

  /** The tokens of the chosen head that the change can reach, as ranges; null before it is known, and for none. */
  reached() {
    const { site, head } = this.selection;
    const reached = this.sought && this.view.remote ? reachedOf(this.view, this.sought)?.sites[site] : null;
    return reached && (typeof head !== "number" || (reached.heads?.includes(head) ?? true))
      ? reached.rows
      : null;
  }

  /** @param {number | null} token */
  pointAt(token) {
    if (token === this.pointed) return;
    this.hover(token);
    if (this.peer?.view.baseOrNull)
      this.peer.hover(token === null ? null : movedToken(token, this.base, this.peer.base));
  }

  /** @param {number | null} token */
  hover(token) {
    this.pointed = token;
    clearTimeout(this.resting);
    const isCoarse = (this.layer()?.factor ?? 1) > 1;
    this.resting = setTimeout(
      () => {
        this.resting = undefined;
        this.wish();
      },
      isCoarse ? SOON_MS : REST_MS,
    );
    this.changed();
  }

  /** @param {{head: number, token: number} | null} spot */
  readAt(spot) {
    if (spot?.head === this.read?.head && spot?.token === this.read?.token) return;
    this.read = spot;
    this.changed();
    const { peer } = this;
    if (!peer?.view.baseOrNull) return;
    const head = spot ? peer.heads().indexOf(this.heads()[spot.head]) : -1;
    peer.read = spot && head >= 0 ? { head, token: movedToken(spot.token, this.base, peer.base) } : null;
    peer.changed();
  }

  // ---- two beside each other

  /**
   * What is chosen here in terms of a link, its token at the same place of another picture.
   *
   * @param {ImageState} other
   * @returns {LinkSelection}
   */
  chosenFor(other) {
    const link = toLink(this.view.base, this.selection);
    if (link.token === null) return link;
    const { base } = other.view;
    return {
      ...link,
      token: movedToken(link.token, this.base, other.baseOf(base, siteFor(base.sites, link))),
    };
  }

  /**
   * Chooses what was chosen in the other one: the nearest such layer, and the same place.
   *
   * @param {Partial<Selection>} change
   * @param {ImageState} from
   */
  follow(change, from) {
    if (!this.view.baseOrNull) return;
    const { token, ...link } = from.chosenFor(this);
    const { site, ...rest } = change;
    this.choose({
      ...rest,
      ...(site === undefined ? {} : { site: siteFor(this.view.base.sites, link) }),
      ...(site !== undefined || "token" in change ? { token } : {}),
    });
  }

  /** Chooses all that is chosen in the leader. */
  adopt() {
    if (!this.leader || !this.view.baseOrNull) return;
    this.view.start = this.leader.chosenFor(this);
    this.view.adopt();
  }

  // ---- fetching

  /** Requests missing data: the layer at once, exact rows after a delay. */
  wish() {
    const { client, next, baseOrNull, start, selection } = this.view;
    if (next) {
      next.client.want("picture", "picture");
      const site = start?.layer ?? selection.site; // a guess: another network may have fewer layers
      next.client.want("layer", site in next.heads ? pathOf("layer", { site }) : null);
    }
    if (!client || !baseOrNull) return;
    const { site, token, outliers } = selection;
    client.want("picture", this.drawn === this.trace ? null : "picture");
    if (this.form !== "attention") return;
    client.want("sinks", this.hides && !this.hidden() ? pathOf("sinks", { site, outliers }) : null);
    client.want("layer", this.layer() ? null : pathOf("layer", { site }));
    if (this.resting === undefined)
      client.want("hover", this.pointed === null ? null : this.rowPath(this.pointed));
    if (!this.layer()) return;
    client.want("pin", this.rowPath(token ?? 0));
    this.prefetch();
  }

  /** @param {number} index */
  rowPath(index) {
    const { site } = this.selection;
    const { axis, values } = this;
    if (this.exact.has(`${site}/${axis}/${index}/${values}`)) return null;
    return pathOf("heads", { site, axis, index, values: this.difference ? values : undefined });
  }

  /** The nearest missing layers, within the prefetch limit; first those in the direction of the user's way. */
  prefetch() {
    const layer = this.layer();
    if (!layer) return;
    const { site } = this.selection;
    const rank = (/** @type {number} */ other) =>
      2 * Math.abs(other - site) - Number(Math.sign(other - site) === this.direction);
    const missing = [...this.base.sites.keys()].filter((other) => !this.layers.has(String(other)));
    const budget = Math.max(0, Math.floor((AHEAD - this.fetched) / sizeOf(layer)));
    const nearest = missing.sort((a, b) => rank(a) - rank(b)).slice(0, budget);
    this.view.client?.prefetch(
      nearest.map((other) => pathOf("layer", { site: other })),
      AHEAD_MS,
    );
  }

  destroy() {
    if (this.peer) this.peer.peer = null;
    this.peer = null;
    clearTimeout(this.resting);
  }
}
