// What the image view keeps beyond the explorer's store: the picture, and all heads of a layer at
// once. In a question the head "layer" means all of them.

import { layerOf, massOf, roughRow, withMeanAndMax } from "./imagerows.js";
import { REST_MS, Store, TRIES } from "./protocol.js";

const ALL = "layer";
const SOON_MS = 15; // where cells hold several patches, the patch's own row is asked for at once
const KEEP_EXACT = 32 << 20; // bytes
const BACKGROUND = 4 << 20; // bytes of layers that are asked for ahead, per trace

/** Bytes of a layer's cells on the wire. */
const weight = ({ shape: [heads, queries, keys], bits }) => (heads * queries * keys * bits) / 8;

export class ImageStore extends Store {
  forget() {
    super.forget();
    this.layers = new Map(); // by site
    this.fetched = 0; // bytes of the layers that came ahead
    this.way = 1; // in which direction the user walks through the layers
    this.pointed = null; // the token under the pointer in the large picture
    this.read = null; // {head, token} under the pointer in the small ones
    this.known = {};
  }

  keepMore({ picture, layers, base }, area) {
    if (picture) this.keepPicture(picture, area);
    for (const layer of layers ?? []) {
      if (layer.site !== this.selection.site) this.fetched += weight(layer);
      this.layers.set(layer.site, layerOf(layer, area));
    }
    if (layers?.length || base) this.pictures += 1;
  }

  keepPicture({ at, size, kind }, area) {
    const { trace } = this;
    createImageBitmap(new Blob([area.subarray(at, at + size)], { type: kind })).then((bitmap) => {
      if (this.trace !== trace) return;
      this.bitmap = bitmap; // the one before stays in view until now
      this.drawn = trace;
      this.pictures += 1;
      this.changed();
    });
  }

  keepRow(row, area) {
    super.keepRow(row, area);
    this.known = {};
    while (this.exact.size * 4 * row.count > KEEP_EXACT)
      this.exact.delete(this.exact.keys().next().value);
  }

  // ---- what views read

  layer(site = this.selection.site) {
    return this.layers.get(site) ?? null;
  }

  parts(site = this.selection.site) {
    return this.layer(site) ? [this.layer(site)] : [];
  }

  get axis() {
    return this.selection.direction === "in" ? "key" : "query";
  }

  /** Which of `heads()`, and so of the rows, is chosen. */
  get shown() {
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

  /** Where a token is among the cells of a layer. */
  cellOf(token, factor) {
    const { prefix, grid } = this.base;
    if (token < prefix || factor === 1) return token;
    const [row, col] = this.place(token);
    const across = Math.ceil(grid[1] / factor);
    return prefix + Math.floor(row / factor) * across + Math.floor(col / factor);
  }

  /** Row and column of a patch. */
  place(token) {
    const at = token - this.base.prefix;
    return [Math.floor(at / this.base.grid[1]), at % this.base.grid[1]];
  }

  /**
   * All heads, mean and max for the token in question: {key, heads: [Float32Array], factor, exact},
   * each over prefix and cells; the key changes with the numbers. Null while there is nothing.
   */
  rows() {
    const { site, direction } = this.selection;
    const key = [this.trace, site, direction, this.token()].join();
    if (!this.known.rows || this.known.key !== key) {
      const rows = this.worked(site, this.token());
      if (rows) rows.key = `${key},${rows.exact}`;
      this.known = { key, rows };
    }
    return this.known.rows;
  }

  worked(site, token) {
    const layer = this.layer(site);
    if (!layer) return null;
    const row = this.exactRow(this.axis, token, site, ALL);
    const many = this.site(site).heads;
    const count = row && row.weights.length / many;
    const cell = this.cellOf(token, layer.factor);
    const heads = Array.from({ length: many }, (_, head) =>
      row
        ? row.weights.subarray(head * count, (head + 1) * count)
        : roughRow(layer, head, cell, this.axis),
    );
    return { heads: withMeanAndMax(heads), factor: row ? 1 : layer.factor, exact: Boolean(row) };
  }

  /** The value of the ramp's last colour, for one head's row. */
  topOf(values) {
    const { scale, direction } = this.selection;
    if (scale === "fixed") return 1;
    if (scale === "layer") return this.layer()?.peaks[direction === "in" ? 1 : 0] || 1;
    let top = 0;
    for (let i = this.base.prefix; i < values.length; i++) if (values[i] > top) top = values[i];
    return top || 1;
  }

  mass(values, factor) {
    return massOf(values, this.base, factor, this.axis);
  }

  // ---- what the user does

  select(change) {
    const before = this.selection.site;
    super.select(change);
    if (this.selection.site !== before) this.way = Math.sign(this.selection.site - before);
  }

  pointAt(token) {
    if (token === this.pointed) return;
    this.pointed = token;
    this.wishRow("hover", token);
    this.changed();
  }

  readAt(spot) {
    if (spot?.head === this.read?.head && spot?.token === this.read?.token) return;
    this.read = spot;
    this.changed();
  }

  wishText() {
    this.wishRow("text", this.selection.token ?? 0);
  }

  wishRow(name, token) {
    const coarse = this.layer()?.factor > 1;
    this.wish(name, token === null ? null : [this.axis, token], coarse ? SOON_MS : REST_MS);
  }

  // ---- asking

  missing() {
    const open = (item) => (this.tries.get(JSON.stringify(item)) ?? 0) < TRIES;
    const base = (!this.base || this.astray) && open("base");
    if (!this.base) return { base, maps: [], rows: [] };
    const { site } = this.selection;
    const maps = this.layer() ? [] : [this.whole(site)];
    const rows = ["hover", "text"]
      .filter((name) => this.wanted[name] && this.ripe[name])
      .filter((name, i) => i === 0 || this.pointed !== (this.selection.token ?? 0))
      .map((name) => this.wanted[name])
      .filter(([axis, token]) => !this.exactRow(axis, token, site, ALL))
      .map((row) => [site, ALL, ...row]);
    return { base, maps: maps.filter(open), rows: rows.filter(open) };
  }

  whole(site) {
    const { queries, keys } = this.site(site);
    return [site, ALL, 0, queries, 0, keys];
  }

  /** Rows under way may be overtaken, by a layer or by the next patch's row, but not repeated. */
  pump() {
    const same = (wish, { maps, rows }) =>
      JSON.stringify([wish.maps, wish.rows]) === JSON.stringify([maps, rows]);
    if (this.flight && this.ahead && same(this.flight, this.missing())) return;
    super.pump();
  }

  ask(wish) {
    super.ask(wish);
    this.ahead = !wish.base && !wish.maps.length;
  }

  /** The nearest layer that is not here, one a message, while nothing else is wanted. */
  prefetch() {
    const layer = this.layer();
    if (this.flight || !layer || this.fetched + weight(layer) > BACKGROUND) return;
    const site = this.likely().find((other) => !this.layer(other));
    if (site === undefined) return;
    if ((this.tries.get(JSON.stringify(this.whole(site))) ?? 0) >= TRIES) return;
    this.ask({ base: false, maps: [this.whole(site)], rows: [] });
    this.ahead = true;
  }

  /** All layers by distance, of two equally far ones the one in the direction of the walk. */
  likely() {
    const { site } = this.selection;
    const rank = (other) => 2 * Math.abs(other - site) - (Math.sign(other - site) === this.way);
    return [...this.base.sites.keys()].sort((a, b) => rank(a) - rank(b));
  }
}
