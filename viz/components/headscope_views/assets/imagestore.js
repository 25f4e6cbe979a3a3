// What the image view keeps beyond the explorer's store: the picture, and all heads of a layer at
// once. In a question the head "layer" means all of them.

import { REST_MS, Store, TRIES } from "./protocol.js";

const ALL = "layer";
const SOON_MS = 15; // where cells hold several patches, the patch's own row is asked for at once
const KEEP_EXACT = 32 << 20; // bytes

/** Bytes as they are for eight bits; for six, four values from three bytes. */
export function unpackBits(packed, count, bits) {
  if (bits === 8) return packed;
  const values = new Uint8Array(count + 4);
  for (let i = 0, at = 0; i < count; i += 4, at += 3) {
    const [a, b, c] = [packed[at], packed[at + 1], packed[at + 2]];
    values[i] = a >> 2;
    values[i + 1] = ((a & 3) << 4) | (b >> 4);
    values[i + 2] = ((b & 15) << 2) | (c >> 6);
    values[i + 3] = c & 63;
  }
  return values;
}

export class ImageStore extends Store {
  forget() {
    super.forget();
    this.layers = new Map(); // by site
    this.pointed = null; // the token under the pointer in the large picture
    this.read = null; // {head, token} under the pointer in the small ones
    this.known = {};
  }

  keepMore({ picture, layers, base }, area) {
    if (picture) this.keepPicture(picture, area);
    for (const layer of layers ?? []) {
      const [heads, queries, keys] = layer.shape;
      this.layers.set(layer.site, {
        ...layer,
        maxima: new Float32Array(area.buffer, layer.maxima, heads * queries),
        data: unpackBits(area.subarray(layer.at), heads * queries * keys, layer.bits),
        square: Float32Array.from({ length: 256 }, (_, q) => (q / (2 ** layer.bits - 1)) ** 2),
      });
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
    while (this.exact.size * 4 * row.count > KEEP_EXACT)
      this.exact.delete(this.exact.keys().next().value);
  }

  // ---- what views read

  layer(site = this.selection.site) {
    return this.layers.get(site) ?? null;
  }

  parts() {
    return this.layer() ? [this.layer()] : [];
  }

  get axis() {
    return this.selection.direction === "in" ? "key" : "query";
  }

  /** The token in question: under the pointer, else the chosen one, else the first. */
  token() {
    return this.pointed ?? this.selection.token ?? 0;
  }

  /** Rows and columns of cells of so many patches a side. */
  cells(factor) {
    return this.base.grid.map((size) => Math.ceil(size / factor));
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
   * All heads, mean and max for the token in question: {heads: [Float32Array], factor, exact}, each
   * over prefix and cells. Null while there is nothing.
   */
  rows() {
    const { site, direction } = this.selection;
    const key = [this.trace, site, direction, this.token(), this.version].join();
    if (this.known.key !== key) this.known = { key, rows: this.worked(site, this.token()) };
    return this.known.rows;
  }

  worked(site, token) {
    const layer = this.layer(site);
    if (!layer) return null;
    const row = this.exactRow(this.axis, token, site, ALL);
    const count = row ? row.weights.length / this.site(site).heads : layer.shape[1];
    const heads = Array.from({ length: this.site(site).heads }, (_, head) =>
      row ? row.weights.subarray(head * count, (head + 1) * count) : this.rough(layer, head, token),
    );
    const [mean, max] = [new Float32Array(heads[0].length), new Float32Array(heads[0].length)];
    for (const head of heads)
      for (let i = 0; i < head.length; i++) {
        mean[i] += head[i] / heads.length;
        if (head[i] > max[i]) max[i] = head[i];
      }
    return { heads: [...heads, mean, max], factor: row ? 1 : layer.factor, exact: Boolean(row) };
  }

  rough({ shape, maxima, data, square, factor }, head, token) {
    const [, queries, keys] = shape;
    const cell = this.cellOf(token, factor);
    const values = new Float32Array(this.axis === "key" ? queries : keys);
    if (this.axis === "key")
      for (let q = 0, at = head * queries; q < queries; q++, at++)
        values[q] = maxima[at] * square[data[at * keys + cell]];
    else
      for (let k = 0, row = head * queries + cell; k < keys; k++)
        values[k] = maxima[row] * square[data[row * keys + k]];
    return values;
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

  /** How much goes to the class token, the registers and the patches (or comes from them). */
  mass(values, factor) {
    const { prefix, grid } = this.base;
    const named = this.base.query_labels[0] === "class" ? 1 : 0;
    let [first, registers, patches, whole] = [0, 0, 0, 0];
    for (let i = 0; i < prefix; i++) {
      if (i < named) first += values[i];
      else registers += values[i];
    }
    const [down, across] = this.cells(factor);
    for (let i = prefix; i < values.length; i++) {
      const [row, col] = [Math.floor((i - prefix) / across), (i - prefix) % across];
      const high = row === down - 1 ? grid[0] - row * factor : factor;
      const wide = col === across - 1 ? grid[1] - col * factor : factor;
      patches += values[i] * (factor === 1 ? 1 : high * wide);
    }
    if (factor > 1 && this.axis === "query") patches = Math.max(0, 1 - first - registers);
    whole = first + registers + patches;
    return { first, registers, patches, whole, named };
  }

  // ---- what the user does

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

  missing() {
    const open = (item) => (this.tries.get(JSON.stringify(item)) ?? 0) < TRIES;
    const base = (!this.base || this.astray) && open("base");
    if (!this.base) return { base, maps: [], rows: [] };
    const { site } = this.selection;
    const { queries, keys } = this.site();
    const maps = this.layer() ? [] : [[site, ALL, 0, queries, 0, keys]];
    const rows = ["hover", "text"]
      .filter((name) => this.wanted[name] && this.ripe[name])
      .filter((name, i) => i === 0 || this.pointed !== (this.selection.token ?? 0))
      .map((name) => this.wanted[name])
      .filter(([axis, token]) => !this.exactRow(axis, token, site, ALL))
      .map((row) => [site, ALL, ...row]);
    return { base, maps: maps.filter(open), rows: rows.filter(open) };
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

  prefetch() {}
}
