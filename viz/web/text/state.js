// State of the view of a text: maps and rows of weights, what of them is drawn, and what is asked for.

import { ON_SCREEN } from "../core/declared.js";
import { tokenThere } from "../core/grids.js";
import { groupOf, headsOf, neighboursOf, textsOf } from "../core/labels.js";
import { pathOf, unpack } from "../core/sources.js";
import { addressOf, placeOf, siteFor, textOf } from "../core/selection.js";
import { State } from "../core/state.js";
import { computed, signal } from "../vendor/signals-core.js";
import { isPlain, Maps, PLAIN, POOLED } from "./maps.js";
import { framesHeard, matches, overlapping, rangesOf } from "./tokens.js";

/** @import {AlignedAnswer, Axis, Base, Cell, Head, Message, Options, Part, Selection, Variant} from "../types" */
/** @import {Range, Ranges} from "./tokens.js" */

const REST_MS = 30; // hover time before the exact weights of a row are fetched
const IDLE_MS = 300; // idle time before anything is prefetched
const CHEAP = 512; // tokens up to which the numbers of every head are fetched while idle
const AHEAD = 4 << 20; // maximum bytes of prefetched maps
const COMPUTED = 64 << 20; // weights that are read for maps before anybody asks for them
const WEIGHTS = ["map", "row", "thumbs", "layer", "heads", "sinks"]; // routes
const TAKEN = /** @type {(keyof Options)[]} what a second state takes from the first */ ([
  ...["form", "values", "scale", "sinks", "outliers", "find", "direction", "method", "lens", "followed"],
]);

/** @typedef {{axis: Axis, run: Range}} Match tokens that were searched for */

/** @extends {State<Base>} */
export class TextState extends State {
  /** @type {readonly import("../types").Scale[]} */
  scales = ["fixed", "own"];
  forms = ON_SCREEN.text;
  slot = "map";
  maps = new Maps({ sites: [] });
  /** @type {import("../types").FormPanel} what the form on the screen offers the page around it */
  panel = {};
  /** @type {Map<number, {bitmap: ImageBitmap, trace: string}>} pictures, and of which trace they are */
  photos = new Map();
  /** @type {any} the state that stands beside this one */
  second = null;
  /** @type {import("../vendor/signals-core.js").Signal<AlignedAnswer | null>} the characters of tokens here and in the second */
  aligned = signal(null);
  pinnedFor = ""; // what was pinned in the first when a token was chosen in this one
  /** The runs of tokens that were searched for, by axis. */
  runs = computed(() => {
    const { find } = this.selection;
    const { query, key, one } = this.texts();
    const asking = matches(query.labels, find);
    return { query: asking, key: one ? asking : matches(key.labels, find) };
  });

  // ---- what panels read

  texts() {
    return textsOf(this.base, this.selection.site);
  }

  labels(index = this.selection.site) {
    const { query, key } = textsOf(this.base, index);
    return { query: query.labels, key: key.labels };
  }

  /** The rows and columns that are drawn. @returns {Ranges} */
  ranges() {
    return rangesOf(this.texts(), this.selection.block, this.base.sound);
  }

  /** Seconds of padding that are not drawn. */
  unheard() {
    const { sound } = this.base;
    if (!sound) return 0;
    const { query, key } = this.texts();
    const isCut = [query, key].some((text) => framesHeard(text, sound) < text.labels.length);
    return isCut ? sound.seconds - sound.heard : 0;
  }

  /** The axis of the pinned token. @returns {Axis} */
  get axis() {
    return this.selection.direction === "in" ? "key" : "query";
  }

  /** Whether one drawn text both asks and answers. */
  isOneText() {
    const { rows, cols } = this.ranges();
    return this.texts().one && rows.join() === cols.join();
  }

  /** The tokens of an axis that were searched for. @param {Axis} axis @returns {Set<number>} */
  matchPlaces(axis) {
    const runs = this.runs.value[axis];
    return new Set(runs.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i)));
  }

  /** What was searched for: in the queries' text, then in the keys'. @returns {Match[]} */
  matches() {
    const axes = /** @type {Axis[]} */ (this.texts().one ? ["query"] : ["query", "key"]);
    return axes.flatMap((axis) => this.runs.value[axis].map((run) => ({ axis, run })));
  }

  /** The first token of the match that was jumped to. */
  matched() {
    const match = this.matches()[this.match];
    return match ? { axis: match.axis, index: match.run[0] } : null;
  }

  /** Whether each row and column is one token: a word of several has weights, but no score. */
  hasScores() {
    const { query, key } = this.texts();
    const isSingle = [query, key].every(({ origins }) => !origins?.some((tokens) => tokens.length > 1));
    return isSingle && this.site().kind !== "joint" && !this.base.given;
  }

  /** What the matrix shows; of the other forms the plain weights. @returns {Variant} */
  variant() {
    const { form, values, sinks } = this.selection;
    if (form !== "matrix") return PLAIN;
    if (this.difference) return { values: "difference", sinks: "shown" };
    return { values: values === "scores" && !this.hasScores() ? "weights" : values, sinks };
  }

  /** The last key that a query may attend to, by the order of tokens. @param {number} query */
  lastKey(query) {
    const { kind, queries, keys } = this.site();
    return kind === "causal" ? Math.min(keys - 1, query + Math.max(0, keys - queries)) : keys - 1;
  }

  // ---- weights

  /** @param {Variant} [variant] */
  parts(site = this.selection.site, head = this.selection.head, variant = PLAIN) {
    return this.maps.parts(site, head, variant);
  }

  /** The exact weights of the chosen head's row or column; null until they have come. @type {(axis: Axis, index: number) => Float32Array | null} */
  exactRow(axis, index) {
    return this.maps.exact(this.selection.site, this.selection.head, axis, index)?.weights ?? null;
  }

  /**
   * A token's weights in one direction, as exactly as they are here; null if they are not.
   *
   * @type {(site: number, head: Head, axis: Axis, index: number) => {values: ArrayLike<number>, sign: "" | "≈"} | null}
   */
  along(site, head, axis, index) {
    const exact = this.maps.exact(site, head, axis, index);
    if (exact) return { values: exact.weights, sign: "" };
    const { queries, keys } = this.site(site);
    /** @type {Range} */
    const one = [index, index + 1];
    const isQuery = axis === "query";
    const values = this.maps.window(site, head, isQuery ? one : [0, queries], isQuery ? [0, keys] : one);
    return values && { values, sign: "≈" };
  }

  /** The value that has the last colour of the scale. @param {Part | undefined} part */
  top(part) {
    return this.selection.scale === "own" ? part?.max || 1 : 1;
  }

  /**
   * Small maps of the heads of a site, their mean and largest; null for those that have not come.
   *
   * @type {(site: number) => (Omit<import("./scale.js").Thumbnail, "ramp"> & {ramp?: Uint8Array} | null)[]}
   */
  thumbsOf(site) {
    return headsOf(this.base, site).map((head) => {
      const part = this.maps.thumb(site, head);
      return part && { part, top: this.top(part) };
    });
  }

  /** What those of all sites change with. @returns {unknown[]} */
  thumbInputs() {
    return [this.maps, this.maps.thumbs.size, this.selection.scale];
  }

  // ---- numbers

  /** Whether the numbers of every head take little time, and tell anything. */
  isCheap() {
    const { sites, note } = this.base;
    const most = Math.max(...sites.map(({ queries, keys }) => Math.max(queries, keys)));
    return most <= CHEAP && !note.startsWith("untrained");
  }

  /** Why forms do not apply to this trace, by name; asking requests it. @returns {Record<string, string>} */
  refused() {
    const isDrawn = this.client && this.parts().length > 0; // the picture comes first
    const answer = this.remote && isDrawn ? this.answer("refused", "refused") : null;
    return /** @type {Record<string, string> | null} */ (answer) ?? {};
  }

  // ---- what the user does

  /** Chooses; of another site the token on the patch that is chosen in this one. @param {Partial<Selection>} change */
  select(change) {
    if (this.first) return this.selectBeside(change);
    const { site: here, token } = this.selection;
    const { site } = change;
    if (site === undefined || "token" in change || token === null || !this.base.sites[site])
      return super.select(change);
    const [from, to] = [here, site].map((index) => textsOf(this.base, index)[this.axis]);
    const there = from === to ? -1 : tokenThere(from.grids ?? [], to.grids ?? [], token);
    super.select(there < 0 ? change : { ...change, token: there });
  }

  /** @param {Cell | null} cell */
  point(cell) {
    const { queries, keys } = this.site();
    const isInside = cell && cell.query >= 0 && cell.key >= 0 && cell.query < queries && cell.key < keys;
    this.hover = isInside ? cell : null;
  }

  /** @param {number | null} token on the picture */
  pointAt(token) {
    this.pointed = token;
  }

  /** Lets go of the pinned token. @returns {boolean} whether there was any */
  letGo() {
    const isPinned = this.selection.token !== null;
    if (isPinned) this.select({ token: null });
    return isPinned;
  }

  // ---- beside another state

  /** Layer and head that the first says of this one, or its own; its options; and the token of the same characters. */
  taken() {
    const { first, baseOrNull: base } = this;
    if (!first?.baseOrNull || !base) return {};
    const { there, site, head, token, direction } = first.selection;
    const place = placeOf(there) ?? { ...addressOf(first.base.sites, site), head };
    const options = Object.fromEntries(TAKEN.map((name) => [name, first.selection[name]]));
    if (!this.isAligned || this.pinnedFor === `${token} ${direction}`) return { ...options, ...place };
    return { ...options, ...place, token: first.tokenIn(this, siteFor(base.sites, place)) };
  }

  /** Whether it is known which of its tokens are those of the first. */
  get isAligned() {
    return this.first.aligned.value !== null;
  }

  /** Chooses a token in both texts, and all else in the first. @param {Partial<Selection>} change */
  selectBeside({ site, head, ...rest }) {
    const { first, base, selection: now } = this;
    const isPlace = site !== undefined || head !== undefined;
    const options = Object.entries(rest).filter(([name]) => TAKEN.includes(/** @type {any} */ (name)));
    first.select({
      ...Object.fromEntries(options),
      ...(isPlace && { there: textOf(base, site ?? now.site, head ?? now.head) }),
    });
    if (rest.token === undefined || !this.isAligned) return super.select(rest);
    const token = this.tokenIn(first, first.selection.site, rest.token);
    this.pinnedFor = `${token} ${first.selection.direction}`;
    super.select(rest);
    first.select({ token });
  }

  /**
   * The token of the other state with the characters of one of this; null for none.
   *
   * @type {(other: TextState, site: number, token?: number | null) => number | null}
   */
  tokenIn({ base }, site, token = this.selection.token) {
    const { axis } = this;
    const { first: ours = [], second: theirs = [] } = (this.first ?? this).aligned.value ?? {};
    const [from, to] = [this.site(), base.sites[site]].map((each) => each[`${axis}_text`] ?? 0);
    if (token === null || from !== to) return null;
    const [mine, others] = (this.first ? [theirs, ours] : [ours, theirs]).map((texts) => texts[from] ?? []);
    return overlapping(token, mine, this.texts()[axis], others, textsOf(base, site)[axis])[0] ?? null;
  }

  // ---- fetching

  /** The selected head's weights at once, rows after a rest, and what may be looked at next. */
  wish() {
    const { client, baseOrNull, arrivals, hover } = this;
    if (!client || !baseOrNull || !arrivals) return;
    if (this.unpinned && this.parts().length) this.repin(); // the selection is read after it
    const { site, head, token, direction, form } = this.selection;
    const variant = this.variant();
    const isHere = this.parts(site, head, variant).length > 0;
    const asksItself = form === "lines";
    const thumbs = this.maps.thumbs.has(site) ? null : pathOf("thumbs", { site });
    client.want("thumbs", isHere || asksItself ? thumbs : null); // the picture comes first
    client.want("map", isHere || asksItself ? null : this.mapPath(site, head));
    client.want("weights", isPlain(variant) || this.parts().length ? null : pathOf("map", { site, head }));
    client.want("hover", hover && this.rowPath("query", hover.query, variant), REST_MS);
    const isPinned = token !== null && isHere && !asksItself;
    client.want("pin", isPinned ? this.rowPath(direction === "in" ? "key" : "query", token) : null);
    if (!isHere) return;
    if (!this.numbers && this.isCheap()) client.want("numbers", "numbers", IDLE_MS);
    this.prefetch();
  }

  /** Chooses what is worth seeing first where the pinned token was one of another text. */
  repin() {
    /** @type {{rows?: {site: number, head: number, query: number}[]} | null} without rows: none, and why */
    const answer = this.answer("worth", "worth");
    if (!answer) return;
    const first = answer.rows?.[0];
    if (first) this.select({ site: first.site, head: first.head, token: first.query, direction: "out" });
    else this.unpinned = false;
  }

  keeps(path, bytes) {
    const [route] = path.split("?");
    if (WEIGHTS.includes(route)) this.receive(unpack(bytes));
    else if (route === "photo") void this.keepPhoto(path, bytes);
    else if (route === "inside") this.answers.set(path, unpack(bytes), bytes.length);
    else return false;
    return true;
  }

  opened(message, base) {
    this.maps = new Maps(base);
    this.receive(message);
  }

  /** @param {Message} message */
  receive(message) {
    this.maps.take(message);
  }

  /** A picture, by its number; that of the trace before, or null, until it has come. @param {number} number */
  photo(number) {
    const held = this.photos.get(number);
    const path = pathOf("photo", { number });
    this.client?.want(path, held?.trace === this.trace ? null : path);
    return held?.bitmap ?? null;
  }

  async keepPhoto(path, bytes) {
    const { trace } = this;
    const bitmap = await createImageBitmap(new Blob([bytes]));
    if (this.trace !== trace) return;
    this.photos.set(Number(path.split("=")[1]), { bitmap, trace });
    this.changed();
  }

  /**
   * The request of a head's map, or of a part of it.
   *
   * @type {(site: number, head: Head, part?: {rows: Range, cols: Range}) => string}
   */
  mapPath(site, head, part) {
    const range = part && { rows: part.rows.join("-"), columns: part.cols.join("-") };
    return pathOf("map", { site, head, ...range, ...queryOf(this.variant()) });
  }

  /**
   * The request of a row of the chosen head; null where it has come.
   *
   * @type {(axis: Axis, index: number, variant?: Variant) => string | null}
   */
  rowPath(axis, index, variant = PLAIN) {
    const { site, head } = this.selection;
    if (this.maps.exact(site, head, axis, index, variant)) return null;
    return pathOf("row", { site, head, axis, index, ...queryOf(variant) });
  }

  /** The thumbnails of the other layers, the nearest first; then maps: of the next layers, and of the other heads. */
  prefetch() {
    const { base } = this;
    const { site, head } = this.selection;
    const near = neighboursOf(base, site, head).map((other) => ({ site: other, head }));
    const heads = headsOf(base, site);
    const from = heads.indexOf(head) + 1;
    const others = heads.map((_, i) => ({ site, head: heads[(from + i) % heads.length] }));
    const { queries, keys } = this.site();
    const size = Math.min(queries, POOLED) * Math.min(keys, POOLED);
    const most = Math.floor(Math.min(AHEAD / size, COMPUTED / (queries * keys)));
    const maps = [...near, ...others]
      .slice(0, most)
      .filter((place) => !this.parts(place.site, place.head, this.variant()).length)
      .map((place) => this.mapPath(place.site, place.head));
    const layers = groupOf(base, site).sort((one, other) => Math.abs(one - site) - Math.abs(other - site));
    const absent = layers.filter((other) => !this.maps.thumbs.has(other));
    const thumbs = absent.map((other) => pathOf("thumbs", { site: other }));
    this.client?.prefetch([...thumbs, ...maps], IDLE_MS);
  }
}

/** What a request says of the values of a map or row; nothing where they are the plain weights. */
const queryOf = ({ values, sinks }) => ({
  ...(values === "weights" ? {} : { values }),
  ...(sinks === "shown" ? {} : { sinks }),
});
