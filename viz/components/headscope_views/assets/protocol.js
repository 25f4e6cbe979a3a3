// The wire: bytes to message, and the store that keeps what came, what is chosen, what to ask for.

export const REST_MS = 60; // a row must be pointed at this long before its exact numbers are asked for
const TILE_MS = 120; // zooming and panning must pause this long before a finer tile is asked for
const REPORT_MS = 150;
const IDLE_MS = 400; // this long without a wish, and the other heads are asked for
const NEAR_MS = 30; // the neighbouring layers sooner: stepping through layers should not wait
const ANSWER_MS = 1500;
export const TRIES = 3;
const POOLED = 640; // the server sends a whole head at this many rows and columns at most
const MIB = 1 << 20;
const PORTION = MIB / 2;
const BACKGROUND = 4 * MIB; // asked for ahead, per trace and site
const KEEP_BYTES = 48 * MIB;
const KEEP_ROWS = 4096;
const KEEP_TILES = 6;

/** Header and section area of a blob. `bytes` may be an unaligned view: the area is copied. */
export function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (header.v !== 1) throw new Error(`expected message version 1, received ${header.v}`);
  return { header, area: bytes.slice(4 + length) };
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const CHOICE = ["site", "head", "token", "direction", "scale"];
const sameChoice = (a, b) => Boolean(a && b) && CHOICE.every((name) => a[name] === b[name]);
const covers = (map, [r0, r1], [c0, c1]) =>
  map.rows[0] <= r0 && map.rows[1] >= r1 && map.cols[0] <= c0 && map.cols[1] >= c1;
const density = (map) =>
  Math.min(map.shape[0] / (map.rows[1] - map.rows[0]), map.shape[1] / (map.cols[1] - map.cols[0]));

export class Store {
  /** onEvent({select, ask}) or null: then nothing is reported or asked for. */
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.base = null;
    this.trace = null;
    this.selection = null;
    this.onward = 0; // 1 while the user goes up through the sites, -1 while down
    this.hover = null; // {query, key}: the cell under the pointer, in whichever view
    this.version = 0; // counts additions, for views that cache
    this.pictures = 0; // counts those that may change a picture
    this.listeners = new Set();
    this.timers = {};
    this.flight = null;
    this.lastId = 0;
    this.said = 0; // names the user's last choice: later choices have higher numbers
    this.overruled = 0; // how often the server chose something else, as far as we know
    this.wanted = { hover: null, text: null, tile: null };
    this.ripe = { hover: false, text: false, tile: false };
    this.forget();
  }

  forget() {
    this.thumbs = null;
    this.maps = new Map(); // "site/head" -> [whole, ...tiles]
    this.exact = new Map(); // "site/head/axis/index" -> {weights, sum}
    this.tries = new Map();
    this.prefetched = new Map();
    this.bytes = 0;
  }

  destroy() {
    for (const name of Object.keys(this.timers)) clearTimeout(this.timers[name]);
    this.listeners.clear();
    this.onEvent = null;
  }

  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  // ---- what comes in

  take(bytes) {
    const { header, area } = unpack(bytes);
    if (header.base) this.adopt(header, area);
    else if (this.trace === null || header.trace !== this.trace) {
      this.astray = true; // the server speaks of a trace whose base never came
      this.later("pump", 0, () => this.pump());
      return;
    }
    if (header.thumbs) this.thumbs = { ...header.thumbs, area };
    for (const map of header.maps) this.keepMap(map, area);
    for (const row of header.rows) this.keepRow(row, area);
    this.keepMore(header, area);
    this.version += 1;
    if (header.base || header.thumbs || header.maps.length) this.pictures += 1;
    if (this.flight && header.answer !== null && header.answer >= this.flight.id) this.landed();
    this.changed();
    this.later("pump", 0, () => this.pump());
  }

  adopt({ base, trace }, area) {
    if (trace !== this.trace) {
      this.forget();
      this.hover = null;
      this.wanted = { hover: null, text: null, tile: null };
      if (this.flight?.trace) this.landed(); // a question about the old trace is void
    }
    const news = this.isNews(base);
    this.sentSelect = base.select;
    this.overruled = base.overruled ?? 0;
    this.trace = trace;
    this.base = base;
    this.astray = false;
    this.ramps = {};
    for (const [mode, colours] of Object.entries(base.theme))
      this.ramps[mode] = area.subarray(colours.sequential, colours.sequential + 768);
    this.selection = this.clamped(news || !this.selection ? base.select : this.selection);
    if (news) this.reported = this.selection;
    this.wishText();
  }

  /**
   * Whether the choice in a base is to be obeyed. One that overrules the user's is. A server that
   * tells how much it has heard knows better than we do, unless the user has chosen again since;
   * from any other, a choice that was sent before or only echoes what this view reported is no news.
   */
  isNews({ heard, select, overruled = 0 }) {
    if (overruled > this.overruled) return true;
    if (heard !== undefined) return heard >= this.said;
    return !sameChoice(select, this.sentSelect) && !sameChoice(select, this.reported);
  }

  clamped(select) {
    const sites = this.base.sites;
    const site = Math.min(Math.max(0, select.site), sites.length - 1);
    let head = select.head;
    if (typeof head === "number") head = Math.min(Math.max(0, head), sites[site].heads - 1);
    const size = select.direction === "in" ? sites[site].keys : sites[site].queries;
    const token = select.token !== null && select.token < size ? select.token : null;
    return { ...select, site, head, token };
  }

  keepMap(map, area) {
    const [rows, cols] = map.shape;
    const key = `${map.site}/${map.head}`;
    const kept = { ...map, stride: cols, data: area.subarray(map.at, map.at + rows * cols) };
    const { queries, keys } = this.base.sites[map.site];
    const list = this.maps.get(key) ?? [];
    this.maps.delete(key); // set again below: the newest is last
    this.bytes += rows * cols;
    if (covers(kept, [0, queries], [0, keys])) {
      kept.whole = true;
      if (list[0]?.whole) this.bytes -= list.shift().data.length;
      list.unshift(kept);
    } else list.push(kept);
    if (list.length > KEEP_TILES + 1) this.bytes -= list.splice(1, 1)[0].data.length;
    this.maps.set(key, list);
    const current = this.selection && `${this.selection.site}/${this.selection.head}`;
    for (const [old, parts] of this.maps) {
      if (this.bytes <= KEEP_BYTES) break;
      if (old === key || old === current) continue;
      for (const part of parts) this.bytes -= part.data.length;
      this.maps.delete(old);
    }
  }

  keepRow({ site, head, axis, index, count, sum, at }, area) {
    const weights = new Float32Array(area.buffer, at, count);
    this.exact.set(`${site}/${head}/${axis}/${index}`, { weights, sum });
    if (this.exact.size > KEEP_ROWS) this.exact.delete(this.exact.keys().next().value);
  }

  /** For what else a view is sent. */
  keepMore() {}

  // ---- what views read

  site(index = this.selection.site) {
    return this.base.sites[index];
  }

  /** The texts of a site's rows and columns: {labels, special} each. */
  texts(index = this.selection.site) {
    const { query_text: query = 0, key_text: key = 0 } = this.base.sites[index];
    return { query: this.base.texts[query], key: this.base.texts[key], one: query === key };
  }

  labels(index = this.selection.site) {
    const { query, key } = this.texts(index);
    return { query: query.labels, key: key.labels };
  }

  heads(index = this.selection.site) {
    return [...Array(this.base.sites[index].heads).keys(), "mean", "max"];
  }

  /** The kinds of attention in this trace, each with the places of its sites. */
  groups() {
    const found = new Map();
    this.base.sites.forEach(({ kind, tower }, index) => {
      const name = tower ? `${tower}: ${kind}` : kind;
      found.set(name, [...(found.get(name) ?? []), index]);
    });
    return found;
  }

  /** The sites of the same kind as this one. */
  group(index = this.selection.site) {
    return [...this.groups().values()].find((sites) => sites.includes(index));
  }

  /** "layer 3"; "layer 3 · cross" among several kinds, "layer 3 · text: self" in several towers. */
  siteName(index = this.selection.site) {
    const { layer, kind, tower } = this.base.sites[index];
    if (this.groups().size < 2) return `layer ${layer}`;
    const alike = this.base.sites.filter((site) => site.kind === kind);
    const named = alike.some((site) => site.tower !== tower) ? `${tower}: ${kind}` : kind;
    return `layer ${layer} · ${named}`;
  }

  /** How many heads of queries share one head of keys and values. */
  sharing(index = this.selection.site) {
    const { heads, kv_heads: keys = heads } = this.base.sites[index];
    return heads / keys;
  }

  headName(head = this.selection.head) {
    if (head === "mean") return "mean of heads";
    if (head === "max") return "max of heads";
    const sharing = this.sharing();
    return sharing > 1 ? `head ${head} (keys of group ${Math.floor(head / sharing)})` : `head ${head}`;
  }

  /** A small map of a head; null if there is none. Smaller sites are cropped from their padding. */
  thumb(site, head) {
    const thumbs = this.thumbs;
    if (!thumbs || site >= thumbs.sites) return null;
    const column = { mean: thumbs.columns - 2, max: thumbs.columns - 1 }[head] ?? head;
    if (typeof head === "number" && head >= thumbs.columns - 2) return null;
    const { queries, keys } = this.base.sites[site];
    const size = thumbs.rows * thumbs.cols;
    const at = thumbs.at + (site * thumbs.columns + column) * size;
    return {
      rows: [0, queries],
      cols: [0, keys],
      shape: [Math.min(queries, thumbs.rows), Math.min(keys, thumbs.cols)],
      stride: thumbs.cols,
      max: thumbs.max[site][column],
      data: thumbs.area.subarray(at, at + size),
      whole: true,
    };
  }

  /** Parts of a head's matrix, coarse to fine; empty while nothing has come. */
  parts(site = this.selection.site, head = this.selection.head) {
    const list = this.maps.get(`${site}/${head}`);
    if (list?.[0]?.whole) return list;
    const thumb = this.thumb(site, head);
    const { queries, keys } = this.base.sites[site];
    return thumb && thumb.shape[0] === queries && thumb.shape[1] === keys ? [thumb] : [];
  }

  exactRow(axis, index, site = this.selection.site, head = this.selection.head) {
    return this.exact.get(`${site}/${head}/${axis}/${index}`) ?? null;
  }

  /** One weight: {value, sign} where sign is "" exact, "≈" quantised, "≤" largest of a pooled cell. */
  weight(query, key, site = this.selection.site, head = this.selection.head) {
    const row = this.exactRow("query", query, site, head);
    if (row) return { value: row.weights[key], sign: "", sum: row.sum };
    const column = this.exactRow("key", key, site, head);
    if (column) return { value: column.weights[query], sign: "" };
    let best = null;
    for (const part of this.parts(site, head))
      if (covers(part, [query, query + 1], [key, key + 1]) && !(density(part) < best?.fine))
        best = { part, fine: density(part) };
    if (!best) return null;
    const { part } = best;
    const bin = (at, [start, stop], size) =>
      Math.ceil(((at - start + 1) * size) / (stop - start)) - 1;
    const cell =
      bin(query, part.rows, part.shape[0]) * part.stride + bin(key, part.cols, part.shape[1]);
    const value = part.max * (part.data[cell] / 255) ** 2;
    return { value, sign: best.fine < 1 ? "≤" : "≈" };
  }

  /** The value that has the ramp's last colour. */
  top(part) {
    return this.selection.scale === "own" ? part.max || 1 : 1;
  }

  // ---- what the user does

  select(change) {
    const next = this.clamped({ ...this.selection, ...change });
    if (sameChoice(next, this.selection)) return;
    this.onward = Math.sign(next.site - this.selection.site);
    this.selection = next;
    this.said = Math.max(Date.now(), this.said + 1);
    this.tries.clear();
    this.wanted.tile = null;
    this.wishText();
    this.pump(); // ask first: drawing takes longer than asking
    this.changed();
    this.later("report", REPORT_MS, () => this.report());
    this.later("pump", 0, () => this.pump());
  }

  point(cell) {
    const { queries, keys } = this.site();
    const inside =
      cell && cell.query >= 0 && cell.key >= 0 && cell.query < queries && cell.key < keys;
    const next = inside ? cell : null;
    if (same(next, this.hover)) return;
    this.hover = next;
    this.wish("hover", next && ["query", next.query], REST_MS);
    this.changed();
  }

  wishText() {
    const { token, direction } = this.selection;
    const axis = direction === "in" ? "key" : "query";
    this.wish("text", token === null ? null : [axis, token], REST_MS);
  }

  /** rows and cols in view; pixels: device pixels a token takes. */
  wishTile(rows, cols, pixels) {
    const extent = Math.max(rows[1] - rows[0], cols[1] - cols[0]);
    const enough = Math.min(1, pixels, POOLED / (1.6 * extent)) * 0.999;
    const has = this.parts().some((part) => covers(part, rows, cols) && density(part) >= enough);
    const { queries, keys } = this.site();
    const pad = Math.round(extent / 4);
    const range = ([start, stop], size) => [Math.max(0, start - pad), Math.min(size, stop + pad)];
    const tile = has ? null : [...range(rows, queries), ...range(cols, keys)];
    if (!same(tile, this.wanted.tile)) this.wish("tile", tile, TILE_MS);
  }

  wish(name, value, delay) {
    this.wanted[name] = value;
    this.ripe[name] = false;
    this.later(name, delay, () => {
      this.ripe[name] = true;
      this.pump();
    });
  }

  // ---- asking: one question in flight, the latest wish wins

  later(name, delay, action) {
    clearTimeout(this.timers[name]);
    if (this.onEvent) this.timers[name] = setTimeout(action, delay);
  }

  /** What is missing now: {base, maps, rows}, items already asked three times left out. */
  missing() {
    const open = (item) => (this.tries.get(JSON.stringify(item)) ?? 0) < TRIES;
    const base = (!this.base || this.astray) && open("base");
    if (!this.base) return { base, maps: [], rows: [] };
    const { site, head } = this.selection;
    const maps = [];
    const rows = [];
    const { queries, keys } = this.site();
    const whole = (where) => [where, head, 0, queries, 0, keys];
    const next = this.neighbours().find((other) => Math.sign(other - site) === this.onward);
    if (!this.parts().length) {
      maps.push(whole(site)); // who steps through layers is going on
      if (next !== undefined && !this.parts(next).length) maps.push(whole(next));
    } else if (this.wanted.tile && this.ripe.tile) maps.push([site, head, ...this.wanted.tile]);
    for (const name of ["hover", "text"]) {
      const row = this.wanted[name];
      if (!row || !this.ripe[name] || this.exactRow(...row)) continue;
      if (!rows.some((other) => same(other.slice(2), row))) rows.push([site, head, ...row]);
    }
    return { base, maps: maps.filter(open), rows: rows.filter(open) };
  }

  pump() {
    if (!this.onEvent || (this.flight && !this.ahead)) return; // what was asked ahead may be overtaken
    const wish = this.missing();
    if (wish.base || wish.maps.length || wish.rows.length) this.ask(wish);
    else if (this.base && !this.flight && this.parts().length) {
      const near = this.neighbours().every((site) => this.parts(site).length);
      this.later("idle", near ? IDLE_MS : NEAR_MS, () => this.prefetch());
    }
  }

  ask(wish) {
    clearTimeout(this.timers.idle);
    this.ahead = false;
    this.lastId = Math.max(Date.now(), this.lastId + 1);
    for (const item of this.items(wish)) this.tries.set(item, (this.tries.get(item) ?? 0) + 1);
    this.flight = { id: this.lastId, trace: this.trace, ...wish };
    this.emit();
    this.later("answer", ANSWER_MS, () => {
      this.flight = null;
      this.changed();
      this.pump();
    });
  }

  items({ base, maps, rows }) {
    return [...(base ? ["base"] : []), ...maps, ...rows].map((item) => JSON.stringify(item));
  }

  landed() {
    clearTimeout(this.timers.answer);
    this.flight = null;
    const { tile } = this.wanted;
    const fits = (part) => covers(part, tile.slice(0, 2), tile.slice(2));
    if (tile && this.parts().slice(1).some(fits)) this.wanted.tile = null;
  }

  /** What is likely wanted next, in portions, once nothing else is wanted. */
  prefetch() {
    if (this.flight || !this.parts().length) return;
    const { site } = this.selection;
    const { queries, keys } = this.site();
    const size = Math.min(queries, POOLED) * Math.min(keys, POOLED);
    let used = this.prefetched.get(site) ?? 0;
    const maps = [];
    for (const [where, head] of this.likely()) {
      const item = [where, head, 0, queries, 0, keys];
      const full = maps.length && (maps.length + 1) * size > PORTION;
      if (full || used + size > BACKGROUND) break;
      if (this.parts(where, head).length || this.tries.has(JSON.stringify(item))) continue;
      maps.push(item);
      used += size;
    }
    this.prefetched.set(site, used);
    if (!maps.length) return;
    this.ask({ base: false, maps, rows: [] });
    this.ahead = true;
  }

  /** The same head one layer on and one back, then the other heads of this layer, nearest first. */
  likely() {
    const { site, head } = this.selection;
    const heads = this.heads();
    const at = heads.indexOf(head);
    const others = heads.map((_, i) => [site, heads[(at + 1 + i) % heads.length]]);
    return [...this.neighbours().map((other) => [other, head]), ...others];
  }

  /** The sites of the same kind one layer on and one back; their maps have the same size. */
  neighbours() {
    const { site, head } = this.selection;
    const group = this.group();
    const at = group.indexOf(site);
    return [group[at + 1], group[at - 1]].filter(
      (other) =>
        other !== undefined && (typeof head !== "number" || head < this.base.sites[other].heads),
    );
  }

  report() {
    if (!this.base) return;
    clearTimeout(this.timers.report);
    if (!sameChoice(this.reported, this.selection)) this.emit();
  }

  emit() {
    if (!this.onEvent) return;
    this.reported = this.selection;
    const { said, overruled, trace, selection: select, flight: ask } = this;
    this.onEvent({ said, overruled, trace, select, ask });
  }

  /** Whether anything for the chosen head is still under way (else a wait would be in vain). */
  waiting() {
    return Boolean(this.flight) || this.missing().maps.length > 0;
  }
}
