// State of the image view: the shared view state, the picture, layers of weights of all heads, and
// exact rows. Requests missing data, and prefetches.

import { ON_SCREEN } from "../core/declared.js";
import { Cache } from "../core/cache.js";
import { changes } from "../core/changes.js";
import { fadeOf } from "../core/flatness.js";
import { headName, headsOf, siteName } from "../core/labels.js";
import { unpack } from "../core/pack.js";
import { reachedOf } from "../core/reachable.js";
import { pathOf } from "../core/sources.js";
import { siteFor, toLink } from "../core/selection.js";
import { ViewState } from "../core/state.js";
import { colourPatches, faded, shadePatches, signedVeilOf, veilOf } from "../core/overlay.js";
import { layerOf, massMask, massOf, movedToken, roughRow, sharedTop, withMeanAndMax, withoutSinks } from "./rows.js";

/** @import {Axis, Head, Host, ImageBase, LinkSelection, Message, Other, Scale, Selection, Sought, ViewProps} from "../types" */
/** @import {Hidden, Layer} from "./rows.js" */

const REST_MS = 30; // hover time before the exact weights of a patch are fetched
const SOON_MS = 15; // the same where patches are pooled to coarse cells
const AHEAD_MS = 300; // idle time before layers are prefetched
const MIB = 1 << 20;
const LAYERS = 48 * MIB;
const ROWS = 32 * MIB;
const AHEAD = 4 * MIB; // maximum bytes of prefetched layers, per trace
/** @type {readonly Scale[]} */
const SCALES = ["layer", "own", "fixed", "log"];

/**
 * All heads, their mean and their largest for one token, over prefix and cells.
 *
 * @typedef {object} Rows
 * @property {Float32Array[]} heads as they are shown: without sinks where these are hidden
 * @property {Float32Array[]} whole with them
 * @property {number} factor patches along a cell's side
 * @property {boolean} exact
 */

/**
 * Writes one head’s row into pixels, as patches of colour or as the mask of the strongest.
 *
 * @param {Uint32Array} pixels
 * @param {{at?: number, stride: number, side?: number}} place
 * @param {Float32Array} values
 * @param {ImageState} state
 * @param {number} factor
 * @param {number} top
 */
export function paintMap(pixels, place, values, state, factor, top) {
  const { base, log } = state;
  if (state.difference)
    return colourPatches(pixels, place, values, { base, table: state.table, signed: true }, factor, top);
  if (state.selection.paint === "mask")
    return shadePatches(pixels, place, state.mask(values), base.grid, factor);
  const table = faded(state.table, fadeOf(values, base.prefix));
  colourPatches(pixels, place, values, { base, log, table }, factor, top);
}

const SHARE = 0.6; // of the weight on patches, which a mask holds

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
      opened: ({ area }, { theme }, same) => {
        if (leader) this.view.start = leader.chosenFor(this);
        if (same) return;
        this.forget();
        this.overview = area;
        const at = theme.dark.sequential; // weights shine on a dim picture in both modes
        this.ramp = area.subarray(at, at + 768);
        const { diverging } = theme.dark;
        this.bothWays = area.subarray(diverging, diverging + 768);
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
    /** @type {Uint8Array} */
    this.ramp = new Uint8Array(768);
    /** @type {Uint8Array} */
    this.bothWays = new Uint8Array(768);
    this.drawn = ""; // the trace whose picture it is
    /** @type {Uint8Array} */
    this.overview = new Uint8Array();
    /** @type {Cache<Layer>} by site */
    this.layers = new Cache(LAYERS);
    /** @type {Cache<Float32Array>} of all heads, by site, axis and token */
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
    this.stale = changes();
    this.direction = 1; // of the user's way through the layers
    /** @type {Map<"hover" | "pin", ReturnType<typeof setTimeout>>} */
    this.resting = new Map();
  }

  /** Drops what belongs to the trace before. */
  forget() {
    this.layers = new Cache(LAYERS);
    this.exact = new Cache(ROWS);
    this.sinks = new Cache(ROWS);
    this.fetched = 0;
    this.pointed = this.read = null;
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
    const same = String(grid) === String(whole.grid) && prefix === whole.prefix;
    if (same) return whole;
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

  /** What is over the picture: the weights of heads, all layers together, or the last states. */
  get form() {
    const { form } = this.selection;
    return form === "model" || form === "features" ? form : "attention";
  }

  /** @type {ViewState<ImageBase>["waitingFor"]} */
  waitingFor = (slot, doing) => this.view.waitingFor(slot, doing);

  // ---- what has come

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   */
  take(path, bytes) {
    if (path === "picture") this.keepPicture(bytes);
    else if (/^(layer|heads|sinks)\?/.test(path)) this.keep(unpack(bytes));
    else return false;
    return true;
  }

  /** @param {Uint8Array} bytes */
  keepPicture(bytes) {
    const { trace } = this;
    const file = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]);
    void createImageBitmap(file).then((bitmap) => {
      if (this.trace !== trace) return;
      this.bitmap = bitmap; // the one before stays in view until now
      this.drawn = trace;
      this.changed();
    });
  }

  /** @param {Message} message */
  keep({ header, area }) {
    for (const layer of header.layers ?? []) {
      if (layer.site !== this.selection.site) this.fetched += sizeOf(layer);
      const [heads, queries, keys] = layer.shape;
      this.layers.set(String(layer.site), layerOf(layer, area), heads * queries * (keys + 4));
    }
    for (const { site, axis, index, count, at, values = "weights" } of header.rows ?? []) {
      const weights = new Float32Array(area.buffer, area.byteOffset + at, count);
      this.exact.set(`${site}/${axis}/${index}/${values}`, weights, 4 * count);
    }
    for (const { site, outliers, keys, shares, count, at } of header.sinks ?? []) {
      const left = new Float32Array(area.buffer, area.byteOffset + at, count);
      const sinks = { keys: new Set(keys), shares, left };
      this.sinks.set(`${site}/${outliers}`, sinks, 4 * count);
    }
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
   * Where a token is among the cells of a layer.
   *
   * @param {number} token
   * @param {number} factor
   */
  cellOf(token, factor) {
    const { prefix, grid } = this.base;
    if (token < prefix || factor === 1) return token;
    const [row, col] = this.place(token);
    const across = Math.ceil(grid[1] / factor);
    return prefix + Math.floor(row / factor) * across + Math.floor(col / factor);
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

  /** The rows of the token in question; the same object as long as the numbers are the same. */
  rows() {
    const { site } = this.selection;
    const token = this.token();
    const layer = this.layer();
    const exact = this.exact.get(`${site}/${this.axis}/${token}/${this.values}`);
    const { sinks } = this.selection;
    const hidden = this.hidden();
    if (this.stale(layer, exact, this.axis, token, sinks, hidden, this.values)) {
      const rows = this.rowsOf(layer, exact, token);
      this.cached = rows && this.withoutSinks(rows, token);
    }
    return this.cached;
  }

  /** The hidden sinks of the chosen site; null where none are, or while they are fetched. */
  hidden() {
    const { site, sinks, outliers } = this.selection;
    return sinks === "shown" || this.difference ? null : this.sinks.get(`${site}/${outliers}`);
  }

  /**
   * Rows without their sinks; null until these are known.
   *
   * @param {Rows} rows
   * @param {number} token
   * @returns {Rows | null}
   */
  withoutSinks(rows, token) {
    const { sinks } = this.selection;
    if (sinks === "shown" || this.difference) return rows;
    const hidden = this.hidden();
    if (!hidden) return null;
    const { keys, left } = hidden;
    const { axis } = this;
    const many = this.site().heads;
    const { length } = rows.whole[0];
    const queries = axis === "query" || rows.factor === 1 ? null : this.centres(rows.factor, length);
    /** @type {(head: number) => (query: number) => number} */
    const leftOf = (head) => (query) => left[(head * left.length) / many + (queries?.[query] ?? query)];
    const cellOf = (/** @type {number} */ key) => this.cellOf(key, rows.factor);
    const heads = rows.whole.slice(0, many).map((values, head) => {
      const divided = sinks === "renormalised" ? leftOf(head) : null;
      return withoutSinks(values, { axis, token, keys, cellOf, left: divided });
    });
    return { ...rows, heads: withMeanAndMax(heads) };
  }

  /**
   * The token that represents each cell: itself without a place, else the patch in its middle.
   *
   * @param {number} factor patches along a cell's side
   * @param {number} count of cells, those without a place included
   */
  centres(factor, count) {
    const { prefix, grid } = this.base;
    const across = Math.ceil(grid[1] / factor);
    const middle = (/** @type {number} */ cell, /** @type {number} */ size) =>
      Math.min(cell * factor + Math.floor(factor / 2), size - 1);
    return Array.from({ length: count }, (_, i) => {
      if (i < prefix) return i;
      const [row, col] = [Math.floor((i - prefix) / across), (i - prefix) % across];
      return prefix + middle(row, grid[0]) * grid[1] + middle(col, grid[1]);
    });
  }

  /** What a row of the chosen head gives to the hidden sinks; of columns, its rows’ mean. */
  hiddenShare() {
    const [rows, hidden] = [this.rows(), this.hidden()];
    if (!rows || !hidden) return 0;
    const { head } = this.selection;
    const tokens = [...hidden.keys];
    const given = rows.whole.slice(0, this.site().heads).map((values, i) => {
      if (this.axis === "key") return hidden.shares[i];
      return tokens.reduce((sum, key) => sum + values[this.cellOf(key, rows.factor)], 0);
    });
    if (typeof head === "number") return given[head];
    return head === "max" ? Math.max(...given) : given.reduce((a, b) => a + b) / given.length;
  }

  /**
   * @param {Layer | null} layer
   * @param {Float32Array | null} exact
   * @param {number} token
   * @returns {Rows | null}
   */
  rowsOf(layer, exact, token) {
    const many = this.site().heads;
    if (exact) {
      const count = exact.length / many;
      const heads = Array.from({ length: many }, (_, i) =>
        exact.subarray(i * count, (i + 1) * count),
      );
      const whole = withMeanAndMax(heads);
      return { heads: whole, whole, factor: 1, exact: true };
    }
    if (!layer || this.difference) return null;
    const cell = this.cellOf(token, layer.factor);
    const heads = Array.from({ length: many }, (_, i) => roughRow(layer, i, cell, this.axis));
    const whole = withMeanAndMax(heads);
    return { heads: whole, whole, factor: layer.factor, exact: false };
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
    return Math.max(this.shared(), this.peer?.shared() ?? 0) || 1;
  }

  /** The weight that has the last colour where all heads share a scale; 0 until it is known. */
  shared() {
    return this.sharedTop().top;
  }

  /** The same, and whether it is a percentile, beside a patch on which a head rests. */
  sharedTop() {
    const rows = this.view.baseOrNull && this.rows();
    const largest = rows?.heads.at(-1);
    if (!rows || !largest) return { top: 0, beside: false };
    const layer = this.layer();
    const isScale = this.selection.scale === "layer" && this.axis === "query" && !this.difference;
    if (!isScale || !layer?.resting.length) return { top: this.largest(largest), beside: false };
    const { prefix } = this.base;
    const cell = (/** @type {number} */ at) =>
      rows.factor === layer.factor ? at : this.cellOf(at, layer.factor);
    return sharedTop(largest.subarray(prefix), (patch) => layer.resting.includes(cell(prefix + patch)));
  }

  /**
   * The largest weight on a patch.
   *
   * @param {Float32Array} values
   */
  largest(values) {
    let top = 0;
    for (let i = this.base.prefix; i < values.length; i++) top = Math.max(top, Math.abs(values[i]));
    return top;
  }

  /** Whether weights are shown as what edits changed. */
  get difference() {
    return Boolean(this.view.props.difference);
  }

  /** Whether the picture is in colour: below changes, whose colours are hues too, it is grey. */
  get coloured() {
    return this.selection.ground === "colour" && !this.difference;
  }

  /** What rows hold, as they are asked for. */
  get values() {
    return this.difference ? "difference" : "weights";
  }

  /** Whether the scale of colours is logarithmic. */
  get log() {
    return this.selection.scale === "log" && !this.difference;
  }

  /** The pixel of each step of the scale. */
  get table() {
    return this.difference ? signedVeilOf(this.bothWays) : veilOf(this.ramp);
  }

  /**
   * The fewest patches that hold `SHARE` of the weight on patches.
   *
   * @param {Float32Array} values
   */
  mask(values) {
    return massMask(values.subarray(this.base.prefix), SHARE);
  }

  /**
   * @param {Float32Array} values
   * @param {number} factor
   */
  mass(values, factor) {
    return massOf(values, this.base, factor, this.axis);
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
        const token = this.selection.token ?? 0;
        change = { token: movedToken(token, this.base, next), ...change };
        this.pointed = this.read = null;
      }
    }
    if ("token" in change) clearTimeout(this.resting.get("pin"));
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
    return reached && (typeof head !== "number" || (reached.heads?.includes(head) ?? true)) ? reached.rows : null;
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
    this.rest("hover");
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
    const place = other.baseOf(base, siteFor(base.sites, link));
    return { ...link, token: movedToken(link.token, this.base, place) };
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
    const moved = site !== undefined || "token" in change;
    this.choose({
      ...rest,
      ...(site === undefined ? {} : { site: siteFor(this.view.base.sites, link) }),
      ...(moved ? { token } : {}),
    });
  }

  /** Chooses all that is chosen in the leader. */
  adopt() {
    if (!this.leader || !this.view.baseOrNull) return;
    this.view.start = this.leader.chosenFor(this);
    this.view.adopt();
  }

  // ---- fetching

  /** @param {"hover" | "pin"} name */
  rest(name) {
    clearTimeout(this.resting.get(name));
    const coarse = (this.layer()?.factor ?? 1) > 1;
    this.resting.set(
      name,
      setTimeout(
        () => {
          this.resting.delete(name);
          this.wish();
        },
        coarse ? SOON_MS : REST_MS,
      ),
    );
  }

  /** Requests missing data: the layer at once, exact rows after a delay. */
  wish() {
    const { client, next, baseOrNull, start, selection } = this.view;
    if (next) {
      next.client.want("picture", "picture");
      const site = start?.layer ?? selection.site; // a guess: another network may have fewer layers
      next.client.want("layer", site in next.heads ? pathOf("layer", { site }) : null);
    }
    if (!client || !baseOrNull) return;
    const { site, token, sinks, outliers } = selection;
    client.want("picture", this.drawn === this.trace ? null : "picture");
    if (this.form !== "attention") return;
    const wanted = sinks !== "shown" && !this.hidden();
    client.want("sinks", wanted ? pathOf("sinks", { site, outliers }) : null);
    client.want("layer", this.layer() ? null : pathOf("layer", { site }));
    if (!this.resting.has("hover"))
      client.want("hover", this.pointed === null ? null : this.rowPath(this.pointed));
    if (this.layer()) {
      client.want("pin", this.rowPath(token ?? 0));
      this.prefetch();
    }
  }

  /** @param {number} index */
  rowPath(index) {
    const { site } = this.selection;
    const { axis } = this;
    if (this.exact.has(`${site}/${axis}/${index}/${this.values}`)) return null;
    /** @type {Record<string, string>} */
    const values = this.difference ? { values: "difference" } : {};
    return pathOf("heads", { site, axis, index, ...values });
  }

  /** The nearest missing layers, within the prefetch limit. */
  prefetch() {
    const layer = this.layer();
    if (!layer) return;
    const budget = Math.max(0, Math.floor((AHEAD - this.fetched) / sizeOf(layer)));
    const missing = this.likely().filter((site) => !this.layers.has(String(site)));
    const paths = missing.slice(0, budget).map((site) => pathOf("layer", { site }));
    this.view.client?.prefetch(paths, AHEAD_MS);
  }

  /** All layers by distance; ties are broken by the direction of the last layer change. */
  likely() {
    const { site } = this.selection;
    const rank = (other) =>
      2 * Math.abs(other - site) - Number(Math.sign(other - site) === this.direction);
    return [...this.base.sites.keys()].sort((a, b) => rank(a) - rank(b));
  }

  destroy() {
    if (this.peer) this.peer.peer = null;
    this.peer = null;
    for (const timer of this.resting.values()) clearTimeout(timer);
  }
}
