// What a view shows of a trace: its base, what is chosen and pointed at, and what has come from the server. One
// for each mount. What changes is kept in signals: requests that are made of them are made again.

import { batch, computed, effect, signal } from "../vendor/signals-core.js";
import { Cache } from "./cache.js";
import { Client } from "./client.js";
import { HeadNumbers, spotsOf } from "./head_numbers.js";
import { groupOf, headName, headsOf, siteName } from "./labels.js";
import { PageLink, queryOf } from "./link.js";
import { HttpSource, jsonOf, unpack } from "./sources.js";
import { addressOf, carried, fromLink, missing, same, START, toLink } from "./selection.js";

/** @import {Base, Cell, Form, Head, Host, LinkSelection, Message, RunBase, Scale, Selection, ViewProps} from "../types" */

/** @typedef {{trace: string, client: Client}} Next a trace whose base is on its way */

const ANSWERS = 1 << 20; // bytes
const OVERVIEW = "overview";
const NUMBERS = "numbers";
const SOON_MS = 100; // delay before the panels below the picture are fetched
const MINUTE = 60_000;
const LOSSES = 3; // of traces in a minute, after which they are no longer computed again
const REPORT_MS = 3000; // before a loss is reported again; twice as long before each further time
const LAST_REPORT_MS = 60_000;
/** What is drawn when it is set to another value. */
const POINTED = /** @type {const} */ (["hover", "pointed", "isolated", "match"]);
/** What requests are made of. */
const OPENED = /** @type {const} */ ([
  "props",
  "baseOrNull",
  "client",
  "next",
  "chosen",
  "unpinned",
  "arrivals",
]);

/** @template {Base | RunBase} B */
export class State {
  /** @type {readonly Scale[]} */
  scales = ["fixed"];
  /** @type {readonly Form[]} */
  forms = [];
  slot = ""; // of the client, for the picture's own weights

  /**
   * @param {HTMLElement} root
   * @param {ViewProps} props
   * @param {Host} host
   * @param {any} [first] the state that this one stands beside, and takes its choices from
   */
  constructor(root, props, host, first = null) {
    this.root = root;
    this.host = host;
    this.first = first;
    this.props = props;
    this.link = new PageLink(root);
    /** @type {B | null} */
    this.baseOrNull = null;
    this.trace = "";
    this.openedAt = 0; // when its base came
    /** @type {Uint8Array} of its base, which hold the colours */
    this.overview = new Uint8Array();
    /** @type {Partial<LinkSelection>} what is chosen, also where the trace has no such layer, head or token */
    this.chosen = {};
    /** @type {Partial<LinkSelection> | null} to be chosen with the next base */
    this.start = null;
    this.asked = false; // whether `start` comes from a link or an example
    this.missing = ""; // what that asks for and is not there, as a sentence
    this.unpinned = false; // whether what is worth seeing first is to be chosen, once it is known
    /** @type {Client | null} of the trace that is shown */
    this.client = null;
    /** @type {Next | null} */
    this.next = null;
    this.latest = "";
    this.losses = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} of the next report of a loss */
    this.reporting = undefined;
    /** @type {Cache<object>} JSON answers, by path */
    this.answers = new Cache(ANSWERS);
    this.arrivals = 0; // how many responses have come
    /** @type {HeadNumbers | null} numbers of every head, once they have come */
    this.numbers = null;
    /** @type {Cell | null} the cell under the pointer, in whichever panel */
    this.hover = null;
    /** @type {number | null} the token under the pointer in the large picture */
    this.pointed = null;
    /** @type {{axis: "query" | "key", index: number} | null} the token whose lines alone are drawn */
    this.isolated = null;
    this.match = -1; // the one that was jumped to
    /** @type {((asked: import("./edits.js").Asked) => void) | null} asks the page for an edit, and more */
    this.ask = null;
    /** @type {Set<(picture: boolean) => void>} */
    this.listeners = new Set();
    inSignals(this, OPENED);
    inSignals(this, POINTED, () => this.changed());
    /** What is chosen, in terms of the trace; the same object until it changes. */
    this.computed = computed(() =>
      this.baseOrNull ? fromLink(this.baseOrNull, { ...this.chosen, ...this.taken() }, this) : START,
    );
    this.end = effect(() => this.wish());
  }

  // ---- for a kind of view to say

  /** What is taken from the first of two states. @returns {Partial<LinkSelection>} */
  taken() {
    return {};
  }

  /** Asks the client for what is missing, whenever something changes that this reads. */
  wish() {}

  /**
   * Keeps a response; whether it is one that the view itself asked for (any other is a JSON answer).
   *
   * @type {(path: string, bytes: Uint8Array) => boolean}
   */
  keeps() {
    return false;
  }

  /** A trace's base has come. @type {(message: Message, base: B) => void} */
  opened() {}

  // ---- what is here

  /** The trace's base; only read once there is one. @returns {B} */
  get base() {
    if (!this.baseOrNull) throw new Error("expected a base, none has come yet");
    return this.baseOrNull;
  }

  get selection() {
    return this.computed.value;
  }

  /** Whether the picture belongs to earlier settings of the page. */
  get behind() {
    return Boolean(this.props.busy || this.next || this.props.trace === null);
  }

  /** Whether missing data can be fetched. */
  get remote() {
    return this.client?.source.remote ?? true;
  }

  /** Whether weights are shown as what edits changed. */
  get difference() {
    return Boolean(this.props.difference);
  }

  /**
   * How long the next picture has been on its way, in milliseconds: a trace's base, or the weights
   * since the base came; null if none is.
   */
  get awaited() {
    if (this.next && this.baseOrNull) return this.next.client.age(OVERVIEW);
    const age = this.client?.age(this.slot) ?? null;
    return age === null ? null : Math.min(age, performance.now() - this.openedAt);
  }

  site(index = this.selection.site) {
    return this.base.sites[index];
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

  /** @param {Head} [head] */
  headName(head = this.selection.head, site = this.selection.site) {
    return headName(this.base, site, head);
  }

  // ---- numbers of every head

  /** Those numbers; asking requests them. */
  askNumbers() {
    if (!this.numbers) this.client?.want(NUMBERS, NUMBERS);
    return this.numbers;
  }

  /** Every head of the chosen kind of attention. */
  spots() {
    return spotsOf(this.base.sites, this.group());
  }

  // ---- what is chosen

  /** @param {Partial<Selection>} change */
  select(change) {
    if (!this.baseOrNull) return;
    const { sites } = this.base;
    const { site, ...rest } = change;
    const place = site === undefined ? {} : addressOf(sites, Math.min(Math.max(0, site), sites.length - 1));
    const before = this.selection;
    batch(() => {
      this.chosen = { ...this.chosen, ...rest, ...place };
      if (this.start) this.start = { ...this.start, ...rest, ...place };
      if ("token" in change || "head" in change || "site" in change) this.unpinned = false;
    });
    if (same(this.selection, before)) return;
    this.missing = "";
    this.changed();
    this.record();
  }

  /** Writes the selection to the link and to the session storage. */
  record() {
    const { defaults, page } = this.props;
    if (!page) return;
    const { start, baseOrNull: base } = this;
    const query = queryOf(start ?? (base ? toLink(base, this.selection) : this.chosen), defaults);
    this.link.record(query, start ?? this.chosen);
  }

  // ---- from trace to trace

  /** @param {ViewProps} props */
  update(props) {
    const { trace } = props;
    batch(() => {
      this.props = props;
      const start = this.link.update(props, this.start ?? this.chosen);
      if (start) [this.start, this.asked] = [start.selection, start.isAsked];
      if (trace !== null && trace !== this.latest) this.open(trace);
      if (this.baseOrNull && !this.next && trace === this.trace && this.start) this.adopt(this.start);
    });
    this.record();
    this.changed();
  }

  /** @param {Partial<LinkSelection>} chosen */
  adopt(chosen) {
    this.chosen = chosen;
    this.missing = this.start && this.asked ? missing(this.base, this.start, this.selection) : "";
    this.start = null;
  }

  /** Fetches the base of a trace; the present picture stays until it arrives. @param {string} trace */
  open(trace) {
    this.latest = trace;
    clearTimeout(this.reporting);
    this.next?.client.destroy();
    const session = this.props.session ?? "";
    const source =
      this.host.source?.(trace, session) ??
      new HttpSource(
        `${location.origin}/api/trace/${encodeURIComponent(trace)}/`,
        session,
        this.props.stored,
      );
    /** @type {Client} */
    const client = new Client(source, {
      received: (path, bytes) => this.received(client, path, bytes),
      gone: () => this.gone(client, trace),
      changed: () => this.changed(),
    });
    client.want(OVERVIEW, OVERVIEW);
    this.next = { trace, client };
  }

  /**
   * @param {Client} client
   * @param {string} path
   * @param {Uint8Array} bytes
   */
  received(client, path, bytes) {
    const { next } = this;
    if (next?.client === client) {
      batch(() => this.replace(next, unpack(bytes)));
      this.changed(true);
    } else if (this.client === client) {
      this.take(path, bytes);
      this.changed(client.isDone(this.slot, path)); // a picture is drawn before anything else is asked for
      this.arrivals += 1;
    }
  }

  /** @param {string} path @param {Uint8Array} bytes */
  take(path, bytes) {
    if (this.keeps(path, bytes)) return;
    const answer = jsonOf(bytes);
    if (path === NUMBERS) this.numbers = new HeadNumbers(answer, this.base.sites);
    else this.answers.set(path, answer, bytes.length);
  }

  /**
   * Shows the next trace in place of the present one. What was chosen goes with it, but where a link or an example
   * chooses anew.
   *
   * @param {Next} next
   * @param {Message} message
   */
  replace({ trace, client }, message) {
    const base = /** @type {B | null | undefined} */ (message.header.base);
    if (!base) throw new Error("expected a base in the overview");
    const { baseOrNull: before, selection, start } = this;
    const isAsked = Boolean(start && this.asked);
    const chosen = start ?? this.chosen;
    const moved = before ? carried(before, base, selection, fromLink(base, chosen, this).site) : {};
    const keepsOutput = "output" in moved && chosen.output === selection.output;
    const adopted = { ...chosen, ...(!isAsked ? moved : keepsOutput && { output: moved.output }) };
    const isLost = !isAsked && adopted.token === null && (selection.token !== null || this.unpinned);
    this.client?.destroy();
    [this.client, this.baseOrNull, this.trace, this.next] = [client, base, trace, null];
    this.openedAt = performance.now();
    this.answers = new Cache(ANSWERS);
    this.overview = message.area;
    this.numbers = this.hover = this.pointed = this.isolated = null;
    this.match = -1;
    this.unpinned = !this.first && (before ? isLost : chosen.layer === null); // nobody chose a head yet
    this.opened(message, base);
    this.adopt(adopted);
    this.record();
    this.arrivals += 1;
  }

  /**
   * Reports to Python that a trace is no longer on the server, so that it is recomputed.
   *
   * @param {Client} client
   * @param {string} trace
   */
  gone(client, trace) {
    if (client !== (this.next?.client ?? this.client)) return;
    this.losses = performance.now() - this.openedAt < MINUTE ? this.losses + 1 : 1;
    if (this.losses <= LOSSES) this.report(trace, REPORT_MS);
    this.changed();
  }

  /**
   * Reports a loss repeatedly until another trace is to be shown: Streamlit drops events while it is
   * disconnected, and a restarted server answers HTTP requests before its websocket is connected.
   *
   * @param {string} lost the trace
   * @param {number} pause in milliseconds
   */
  report(lost, pause) {
    this.host.trigger("trace_lost", lost);
    if (pause <= LAST_REPORT_MS) this.reporting = setTimeout(() => this.report(lost, 2 * pause), pause);
  }

  // ---- answers

  /** A JSON response of the server; null until it arrives. @param {string} slot @param {string} path */
  answer(slot, path) {
    const answer = this.answers.get(path);
    if (!answer) this.client?.want(slot, path, SOON_MS);
    return answer;
  }

  /** Ends the requests of a slot. @param {string} slot */
  forget(slot) {
    this.client?.want(slot, null);
  }

  /**
   * Whether a path has an answer: a server has one for every path, a file for those that it holds.
   *
   * @param {string} path
   */
  holds(path) {
    return this.remote || Boolean(this.client?.source.has?.(path));
  }

  /**
   * What is said while a slot's answer is on its way, or will not come.
   *
   * @param {string} slot
   * @param {string} doing what the server does for it
   */
  waitingFor(slot, doing) {
    const { client, remote } = this;
    const state = client?.state(slot);
    if (state === "absent") return remote ? (client?.reason(slot) ?? "") : "Not in this file.";
    return state === "failed" || state === "gone" ? "The server does not answer." : `${doing} …`;
  }

  // ---- drawing

  /** @param {(picture: boolean) => void} listener is told whether the awaited weights have come */
  subscribe(listener) {
    this.listeners.add(listener);
  }

  changed(picture = false) {
    for (const listener of this.listeners) listener(picture);
  }

  destroy() {
    this.end();
    this.listeners.clear();
    clearTimeout(this.reporting);
    this.client?.destroy();
    this.next?.client.destroy();
    this.link.destroy();
  }
}

/** Keeps properties in signals: what reads one in an effect or a computed value follows it. */
function inSignals(owner, names, changed) {
  for (const name of names) {
    const kept = signal(owner[name]);
    Object.defineProperty(owner, name, {
      get: () => kept.value,
      set(value) {
        if (changed && JSON.stringify(kept.peek()) === JSON.stringify(value)) return;
        kept.value = value;
        changed?.();
      },
    });
  }
}
