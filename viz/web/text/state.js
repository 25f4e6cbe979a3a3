// State of the text view: the shared view state, maps and rows of weights, and the hovered cell.
// Requests missing data, and prefetches.

import { ON_SCREEN } from "../core/declared.js";
import { groupOf, headName, headsOf, neighboursOf, siteName, textsOf } from "../core/labels.js";
import { unpack } from "../core/pack.js";
import { reachedOf } from "../core/reachable.js";
import { pathOf } from "../core/sources.js";
import { ViewState } from "../core/state.js";
import { covers, density, DIFFERENCE, isPlain, Maps, PLAIN } from "./maps.js";
import { conditionsOf, conditionsText, HeadNumbers, passing, spotsOf } from "../core/head_numbers.js";
import { tokenThere } from "../core/grids.js";
import { matches } from "./search.js";
import { framesHeard, listed, rangesOf } from "./span.js";
import { LEAST, strongestKeys } from "./strands.js";

/** @import {Axis, Base, Cell, Head, Host, Measure, Message, Other, Part, Selection, Sought, Variant, ViewProps} from "../types" */
/** @import {Range, Ranges} from "./span.js" */

const CHUNK = 64; // rows whose strongest keys are asked for together
const REST_MS = 30; // hover time before the exact weights of a row are fetched
const TILE_MS = 120; // pause in zooming and panning before a finer tile is fetched
const IDLE_MS = 300; // idle time before anything is prefetched
const POOLED = 640; // maximum rows and columns of a map from the server
const CHEAP = 512; // tokens up to which the numbers of every head are fetched while idle
const AHEAD = 4 << 20; // maximum bytes of prefetched maps
const COMPUTED = 64 << 20; // weights that are read for maps before anybody asks for them

/** @typedef {"hover" | "pin" | "tile" | "numbers"} Wish what waits for a rest before it is fetched */

/** @typedef {{axis: Axis, run: Range}} Match tokens that were searched for */

export class TextState {
  /**
   * @param {HTMLElement} root
   * @param {ViewProps} props
   * @param {Host} host
   */
  constructor(root, props, host) {
    /** @type {ViewState<Base>} */
    this.view = new ViewState(root, props, host, {
      scales: ["fixed", "own", "log"],
      forms: ON_SCREEN.text,
      slot: "map",
      take: (path, bytes) => {
        if (/^(map|row|thumbs)\?/.test(path)) this.maps.take(unpack(bytes));
        else if (path === "numbers")
          this.numbers = new HeadNumbers(JSON.parse(new TextDecoder().decode(bytes)), this.base.sites);
        else if (/^inside\?/.test(path)) this.view.answers.set(path, unpack(bytes), bytes.length);
        else return false;
        return true;
      },
      opened: (message, base, same) => this.opened(message, base, same),
      wish: () => this.wish(),
    });
    /** @type {Maps} */
    this.maps = new Maps({ sites: [] });
    /** @type {((cell: Cell, weight: number) => void) | null} sets a weight by an edit */
    this.paint = null;
    /** @type {((text: string, second?: string) => void) | null} makes an edit */
    this.edit = null;
    /** @type {((query: number, keys: number[], weight: number | number[]) => void) | null} */
    this.setRow = null; // sets weights of a row by an edit
    /** @type {Sought | null} a change whose reach is shaded */
    this.sought = null;
    /** @type {(() => Other | null) | null} */
    this.fromOther = null; // what can be patched from a second text
    /** @type {HeadNumbers | null} numbers of every head, once they have come */
    this.numbers = null;
    /** @type {{text: string, of: ReadonlyMap<string, string>}} */
    this.filters = { text: "", of: new Map() };
    /** @type {Uint8Array} */
    this.overview = new Uint8Array();
    /** @type {Cell | null} the cell under the pointer, in whichever panel */
    this.hover = null;
    /** @type {(() => Record<string, string | number>) | null} what a saved page shows beside it */
    this.second = null;
    /** @type {Record<Axis, number[]> | null} tokens of the same characters as one of another view, but for that at the pointer */
    this.lit = null;
    /** @type {{axis: Axis, index: number} | null} the token whose lines alone are drawn */
    this.isolated = null;
    this.match = -1; // the one that was jumped to
    /** @type {{find: string, base: Base | null, of: Map<string[], Range[]>}} */
    this.search = { find: "", base: null, of: new Map() };
    /** @type {{rows: [number, number], cols: [number, number]} | null} */
    this.tile = null; // a finer part that is wanted
    this.padding = false; // whether the silence after a recording is drawn
    /** @type {Map<Wish, ReturnType<typeof setTimeout>>} */
    this.resting = new Map();
  }

  get base() {
    return this.view.base;
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

  // ---- what panels read

  site(index = this.selection.site) {
    return this.base.sites[index];
  }

  texts() {
    return textsOf(this.base, this.selection.site);
  }

  labels(index = this.selection.site) {
    const { query, key } = textsOf(this.base, index);
    return { query: query.labels, key: key.labels };
  }

  /**
   * The rows and columns that are drawn.
   *
   * @returns {Ranges}
   */
  ranges() {
    return rangesOf(this.texts(), this.selection, this.padding ? null : this.base.sound);
  }

  /** Seconds of padding that are not drawn; 0 where all is, or where tokens are brushed. */
  unheard() {
    const { sound } = this.base;
    const { rows, columns } = this.selection;
    if (!sound || this.padding || rows || columns) return 0;
    const { query, key } = this.texts();
    const cut = [query, key].some((text) => framesHeard(text, sound) < text.labels.length);
    return cut ? sound.seconds - sound.heard : 0;
  }

  /** Whether one drawn text both asks and answers. */
  isOneText() {
    const { rows, cols } = this.ranges();
    return this.texts().one && rows.join() === cols.join();
  }

  /**
   * The runs of tokens of an axis that were searched for.
   *
   * @param {Axis} axis
   * @returns {Range[]}
   */
  matchesOf(axis) {
    const { find } = this.selection;
    if (this.search.find !== find || this.search.base !== this.base)
      this.search = { find, base: this.base, of: new Map() };
    const { labels } = this.texts()[axis];
    const known = this.search.of.get(labels) ?? matches(labels, find);
    this.search.of.set(labels, known);
    return known;
  }

  /**
   * The tokens of these runs.
   *
   * @param {Axis} axis
   * @returns {Set<number>}
   */
  matchPlaces(axis) {
    const runs = this.matchesOf(axis);
    return new Set(runs.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i)));
  }

  heads() {
    return headsOf(this.base, this.selection.site);
  }

  /** The sites of the chosen kind of attention. */
  group() {
    return groupOf(this.base, this.selection.site);
  }

  siteName(index = this.selection.site) {
    return siteName(this.base, index);
  }

  headName(head = this.selection.head, site = this.selection.site) {
    return headName(this.base, site, head);
  }

  /** How many heads of queries share one head of keys and values. */
  sharing() {
    const { heads, kv_heads: keys = heads } = this.site();
    return heads / keys;
  }

  /** Whether each row and column is one token: a word of several has weights, but no score. */
  hasScores() {
    const { query, key } = this.texts();
    const single = [query, key].every(({ origins }) => !origins?.some((tokens) => tokens.length > 1));
    return single && this.site().kind !== "joint";
  }

  /**
   * What the matrix shows; of the other forms the plain weights.
   *
   * @returns {Variant}
   */
  variant() {
    const { form, values, scale, sinks } = this.selection;
    if (form !== "matrix") return PLAIN;
    if (this.view.props.difference) return DIFFERENCE;
    if (values === "scores" && this.hasScores()) return { values, coding: "scores", sinks };
    return { values: "weights", coding: scale === "log" ? "log" : "sqrt", sinks };
  }

  /**
   * @param {number} [site]
   * @param {Head} [head]
   * @param {Variant} [variant]
   */
  parts(site = this.selection.site, head = this.selection.head, variant = PLAIN) {
    return this.maps.parts(site, head, variant);
  }

  /**
   * @param {Axis} axis
   * @param {number} index
   * @param {Variant} [variant]
   */
  exactRow(axis, index, variant) {
    return this.maps.exact(this.selection.site, this.selection.head, axis, index, variant);
  }

  /**
   * The moment of a recording that has most of the chosen token's weight; null where other tokens
   * answer, and until it is known.
   */
  moment() {
    const { token, direction } = this.selection;
    const [axis, other] =
      direction === "in" ? /** @type {const} */ (["key", "query"]) : /** @type {const} */ (["query", "key"]);
    if (token === null || !this.texts()[other].timed) return null;
    const weights = this.exactRow(axis, token)?.weights;
    if (!weights) return null;
    const { rows, cols } = this.ranges();
    const [from, to] = other === "key" ? cols : rows;
    return (
      weights.subarray(from, to).reduce((most, value, i, row) => (value > row[most] ? i : most), 0) + from
    );
  }

  /** Whether weights of the matrix can be set by edits. */
  canPaint() {
    const { form, values } = this.selection;
    const { edits, difference } = this.view.props;
    return Boolean(
      this.paint &&
      edits &&
      !difference &&
      form === "matrix" &&
      values === "weights" &&
      this.site().kind !== "joint",
    );
  }

  /** Whether edits of the chosen site can be made. */
  canEdit() {
    return Boolean(this.edit && this.view.props.edits && this.site().kind !== "joint");
  }

  /** @param {Sought | null} sought a change whose reach is to be shaded */
  reach(sought) {
    if (JSON.stringify(sought) === JSON.stringify(this.sought)) return;
    this.sought = sought;
    this.changed();
  }

  /** What that change can reach; null until it is known. */
  reached() {
    return this.sought && this.view.remote ? reachedOf(this.view, this.sought) : null;
  }

  /**
   * The last key that a query may attend to, by the order of tokens.
   *
   * @param {number} query
   */
  lastKey(query) {
    const { kind, queries, keys } = this.site();
    return kind === "causal" ? Math.min(keys - 1, query + Math.max(0, keys - queries)) : keys - 1;
  }

  /**
   * @param {number} query
   * @param {number} key
   * @param {Variant} [variant]
   */
  weight(query, key, variant) {
    return this.maps.weight(this.selection.site, this.selection.head, query, key, variant);
  }

  /**
   * A token's weights in one direction, as exactly as they are here; null if they are not.
   *
   * @param {number} site
   * @param {Head} head
   * @param {Axis} axis
   * @param {number} index
   * @returns {{values: ArrayLike<number>, sign: "" | "≈"} | null}
   */
  along(site, head, axis, index) {
    const exact = this.maps.exact(site, head, axis, index);
    if (exact) return { values: exact.weights, sign: "" };
    const { queries, keys } = this.site(site);
    /** @type {[number, number]} */
    const one = [index, index + 1];
    const values =
      axis === "query"
        ? this.maps.window(site, head, one, [0, keys])
        : this.maps.window(site, head, [0, queries], one);
    return values && { values, sign: "≈" };
  }

  /**
   * The value that has the last colour of the scale.
   *
   * @param {Part | undefined} part
   */
  top(part) {
    return this.selection.scale === "own" ? part?.max || 1 : 1;
  }

  /** The numbers of every head; asking requests them. */
  askNumbers() {
    if (!this.numbers) this.view.client?.want("numbers", "numbers");
    return this.numbers;
  }

  /**
   * One more number of every head, or another in the place of one with the same key.
   *
   * @param {Measure} measure
   * @param {(number | null)[][]} values by site and head
   */
  addNumber(measure, values) {
    if (!this.numbers) return;
    const { answer } = this.numbers;
    const others = answer.measures.filter(({ key }) => key !== measure.key);
    const all = { ...answer.values, [measure.key]: values };
    this.numbers = new HeadNumbers(
      { ...answer, measures: [...others, measure], values: all },
      this.base.sites,
    );
    this.changed();
  }

  /** Conditions that heads are filtered by, by measure; the same map until they change. */
  get conditions() {
    const { conditions } = this.selection;
    if (conditions !== this.filters.text) this.filters = { text: conditions, of: conditionsOf(conditions) };
    return this.filters.of;
  }

  /**
   * Filters heads by one more number, or by no condition on it.
   *
   * @param {Record<string, string>} conditions
   */
  filter(conditions) {
    const next = new Map([...this.conditions, ...Object.entries(conditions)]);
    this.select({ conditions: conditionsText(next) });
  }

  /** Every head of the chosen kind of attention. */
  spots() {
    return spotsOf(this.base.sites, this.group());
  }

  /** Those of them that meet the conditions. */
  passing() {
    return this.numbers ? passing(this.numbers, this.conditions, this.spots()) : this.spots();
  }

  /**
   * Why forms do not apply to this trace, by name; asking requests it.
   *
   * @returns {Record<string, string>}
   */
  refused() {
    const { remote, client } = this.view;
    const here = client && this.parts().length > 0; // the picture comes first
    const answer = remote && here ? this.view.answer("refused", "refused") : null;
    return /** @type {Record<string, string> | null} */ (answer) ?? {};
  }

  /**
   * What is said while a response about heads is not here.
   *
   * @param {string} slot
   * @param {string} doing what the server does for it
   */
  waitingFor(slot, doing) {
    return this.view.waitingFor(slot, doing);
  }

  // ---- what the user does

  /** @param {Partial<Selection>} change */
  select(change) {
    if (change.site !== undefined || change.head !== undefined) this.tile = null;
    const there = change.site === undefined || "token" in change ? null : this.patchIn(change.site);
    this.view.select(there === null ? change : { ...change, token: there });
  }

  /**
   * The token of another site on the patch that is chosen in this one; null for other tokens.
   *
   * @param {number} site
   */
  patchIn(site) {
    const { site: here, token, direction } = this.selection;
    if (token === null || !this.base.sites[site]) return null; // a row of a network before this one
    const textOf = (index) => textsOf(this.base, index)[direction === "in" ? "key" : "query"];
    const [from, to] = [textOf(here), textOf(site)];
    if (from === to) return null;
    const there = tokenThere(from.grids ?? [], to.grids ?? [], token);
    return there < 0 ? null : there;
  }

  /** @param {Cell | null} cell */
  point(cell) {
    const { queries, keys } = this.site();
    const inside = cell && cell.query >= 0 && cell.key >= 0 && cell.query < queries && cell.key < keys;
    const next = inside ? cell : null;
    if (next?.query === this.hover?.query && next?.key === this.hover?.key) return;
    const row = next?.query !== this.hover?.query;
    this.hover = next;
    if (row) this.rest("hover", REST_MS);
    this.changed();
  }

  /**
   * The part of the matrix in view.
   *
   * @param {[number, number]} rows
   * @param {[number, number]} cols
   * @param {number} pixels device pixels a token takes
   */
  setView(rows, cols, pixels) {
    const extent = Math.max(rows[1] - rows[0], cols[1] - cols[0]);
    const enough = Math.min(1, pixels, POOLED / (1.6 * extent)) * 0.999;
    const parts = this.parts(undefined, undefined, this.variant());
    const fine = parts.some((part) => covers(part, rows, cols) && density(part) >= enough);
    const { queries, keys } = this.site();
    const pad = Math.round(extent / 4);
    /** @type {(range: [number, number], size: number) => [number, number]} */
    const around = ([start, stop], size) => [Math.max(0, start - pad), Math.min(size, stop + pad)];
    this.tile = fine ? null : { rows: around(rows, queries), cols: around(cols, keys) };
    if (this.tile) this.rest("tile", TILE_MS);
  }

  /** @param {{axis: Axis, index: number} | null} token whose lines alone are drawn */
  isolate(token) {
    const { isolated } = this;
    if (token?.axis === isolated?.axis && token?.index === isolated?.index) return;
    this.isolated = token;
    this.changed();
  }

  /** What was searched for: in the queries' text, then in the keys'. */
  matches() {
    /** @type {(axis: Axis) => Match[]} */
    const of = (axis) => this.matchesOf(axis).map((run) => ({ axis, run }));
    return this.texts().one ? of("query") : [...of("query"), ...of("key")];
  }

  /** @param {number} index of a match, which the picture scrolls to; −1 for none */
  showMatch(index) {
    this.match = index;
    this.changed();
  }

  /** The first token of the match that was jumped to. */
  matched() {
    const match = this.matches()[this.match];
    return match ? { axis: match.axis, index: match.run[0] } : null;
  }

  /**
   * What a brush chose.
   *
   * @param {Axis} axis
   * @param {Range} range
   */
  brush(axis, range) {
    this.select(axis === "query" ? { rows: listed(range) } : { columns: listed(range) });
  }

  /**
   * The weights behind what is shown: of scores, those that they become.
   *
   * @returns {Variant}
   */
  weightsVariant() {
    const variant = this.variant();
    return variant.values !== "weights" ? { ...PLAIN, sinks: variant.sinks } : variant;
  }

  /** The smallest weight that is drawn; none acts on scores and differences. */
  threshold() {
    return this.variant().values !== "weights" ? 0 : this.selection.least;
  }

  /**
   * The weight below which nothing is drawn; lines also leave out what would be too faint to see.
   *
   * @param {Head} head
   */
  least(head) {
    const { site, form } = this.selection;
    const faint = form === "lines" ? LEAST * this.top(this.parts(site, head)[0]) : 0;
    return Math.max(this.threshold(), faint);
  }

  /**
   * The strongest keys of some rows, from the map that is here until the exact ones have come; null
   * where all are drawn, or where they are not known yet.
   *
   * @param {Head} head
   * @param {Range} rows in sight
   * @returns {{first: number, keys: number[][]} | null}
   */
  strongest(head, rows) {
    const { site, top } = this.selection;
    if (!top) return null;
    const { rows: all, cols } = this.ranges();
    const from = Math.max(all[0], rows[0] - (rows[0] % CHUNK));
    const to = Math.min(all[1], rows[1] + CHUNK - (rows[1] % CHUNK));
    if (this.view.remote) {
      const ranges = { rows: `${from}-${to}`, columns: cols.join("-") };
      const path = pathOf("strongest", { site, head, top, ...ranges, ...sinksQueryOf(this.variant()) });
      const answer = /** @type {{first: number, keys: number[][]} | null} */ (
        this.view.answer(`strongest ${head}`, path)
      );
      if (answer) return answer;
    }
    const weights = this.maps.window(site, head, [from, to], cols, this.weightsVariant());
    return weights && strongestKeys(weights, [from, to], cols, top);
  }

  /**
   * Lets go of one thing that was chosen: the pinned token, else what was brushed.
   *
   * @returns {boolean} whether there was any
   */
  letGo() {
    const { token, rows, columns } = this.selection;
    if (token !== null) this.select({ token: null });
    else if (rows || columns) this.select({ rows: "", columns: "" });
    else return false;
    return true;
  }

  // ---- fetching

  /**
   * Fetches what is wanted once it has been wanted for a while.
   *
   * @param {Wish} name
   * @param {number} delay
   */
  rest(name, delay) {
    clearTimeout(this.resting.get(name));
    this.resting.set(
      name,
      setTimeout(() => {
        this.resting.delete(name);
        this.wish();
      }, delay),
    );
  }

  /** Requests missing data: the selected head at once, rows and tiles after a delay. */
  wish() {
    const { client, baseOrNull } = this.view;
    if (!client || !baseOrNull) return;
    if (this.parts().length) this.repin(); // may select, and so wish: the selection is read after it
    const { site, head, token, direction, form } = this.selection;
    const variant = this.variant();
    const here = this.parts(site, head, variant).length > 0;
    const asksItself = form === "lines" || form === "text";
    client.want("thumbs", here || asksItself ? this.thumbsPath(site) : null); // the picture comes first
    if (here && !this.resting.has("numbers") && this.isCheap()) this.askNumbers();
    client.want("map", here || asksItself ? null : this.mapPath(site, head));
    const plain = isPlain(variant) || this.parts().length > 0;
    client.want("weights", plain ? null : pathOf("map", { site, head }));
    const { tile } = this;
    if (!this.resting.has("tile"))
      client.want("tile", here && tile ? this.partPath(head, tile.rows, tile.cols) : null);
    if (!this.resting.has("hover"))
      client.want("hover", this.hover && this.rowPath("query", this.hover.query, head, variant));
    const axis = direction === "in" ? "key" : "query";
    client.want("pin", token === null || !here || asksItself ? null : this.rowPath(axis, token));
    if (here) this.prefetch();
  }

  /** Pins the sharpest row where the pinned token was one of another text. */
  repin() {
    if (!this.view.unpinned) return;
    const { site, head } = this.selection;
    const answer = /** @type {{query: number | null} | null} */ (
      this.view.answer("sharpest", pathOf("sharpest", { site, head }))
    );
    if (!answer) return;
    this.view.unpinned = false;
    this.select({ token: answer.query, direction: "out" });
  }

  /** Whether the numbers of every head take little time, and tell anything. */
  isCheap() {
    const { sites, note } = this.base;
    const most = Math.max(...sites.map(({ queries, keys }) => Math.max(queries, keys)));
    return most <= CHEAP && !note.startsWith("untrained");
  }

  /**
   * @param {Message} message
   * @param {Base} base
   * @param {boolean} same whether it is the trace that was shown before
   */
  opened(message, base, same) {
    if (!same) {
      this.maps = new Maps(base);
      this.hover = this.isolated = this.lit = null;
      this.match = -1;
      this.overview = message.area;
      this.numbers = null;
      this.rest("numbers", IDLE_MS);
    }
    this.maps.take(message);
  }

  /**
   * The request of the thumbnails of a layer; null where they have come.
   *
   * @param {number} site
   */
  thumbsPath(site) {
    return this.maps.thumbs.has(site) ? null : pathOf("thumbs", { site });
  }

  /**
   * @param {number} site
   * @param {Head} head
   */
  mapPath(site, head) {
    return pathOf("map", { site, head, ...mapQueryOf(this.variant()) });
  }

  /**
   * @param {Head} head
   * @param {[number, number]} rows
   * @param {[number, number]} cols
   */
  partPath(head, rows, cols) {
    const { site } = this.selection;
    const range = { rows: rows.join("-"), columns: cols.join("-") };
    return pathOf("map", { site, head, ...range, ...mapQueryOf(this.variant()) });
  }

  /**
   * @param {Axis} axis
   * @param {number} index
   * @param {Head} [head]
   * @param {Variant} [variant]
   */
  rowPath(axis, index, head = this.selection.head, variant = PLAIN) {
    const { site } = this.selection;
    if (this.maps.exact(site, head, axis, index, variant)) return null;
    return pathOf("row", { site, head, axis, index, ...rowQueryOf(variant) });
  }

  /** The thumbnails of the other layers, the nearest first; then maps: of the next layers, and of the other heads. */
  prefetch() {
    const { site, head } = this.selection;
    const near = neighboursOf(this.base, site, head).map((other) => ({ site: other, head }));
    const heads = this.heads();
    const from = heads.indexOf(head) + 1;
    const others = heads.map((_, i) => ({ site, head: heads[(from + i) % heads.length] }));
    const { queries, keys } = this.site();
    const size = Math.min(queries, POOLED) * Math.min(keys, POOLED);
    const most = Math.floor(Math.min(AHEAD / size, COMPUTED / (queries * keys)));
    const maps = [...near, ...others]
      .slice(0, most)
      .filter((place) => !this.parts(place.site, place.head, this.variant()).length)
      .map((place) => this.mapPath(place.site, place.head));
    const layers = this.group().sort((one, other) => Math.abs(one - site) - Math.abs(other - site));
    const thumbs = layers.map((other) => this.thumbsPath(other)).filter((path) => path !== null);
    this.view.client?.prefetch([...thumbs, ...maps], IDLE_MS);
  }

  /** Whether anything for the chosen head is still under way. */
  waiting() {
    return this.view.client?.state("map") === "pending";
  }

  destroy() {
    for (const timer of this.resting.values()) clearTimeout(timer);
  }
}

/** What a request says of the sinks and values of a row; nothing where they are the plain weights. */
const rowQueryOf = ({ values, sinks }) => ({
  ...(values === "weights" ? {} : { values }),
  ...sinksQueryOf({ sinks }),
});

const sinksQueryOf = ({ sinks }) => (sinks === "shown" ? {} : { sinks });

/** The same of a map. */
const mapQueryOf = (variant) => ({
  ...rowQueryOf(variant),
  ...(variant.coding === "log" ? { coding: "log" } : {}),
});
