// The state shared by the attention views: the trace, its base, the selection. The text view and
// the image view each hold one and add their caches of weights.

import { choose, claim, disown } from "./address.js";
import { Cache } from "./cache.js";
import { Client } from "./client.js";
import { keep, kept, startOf } from "./saved_selection.js";
import { unpack } from "./pack.js";
import { carriedOutput, carry, clamp, fromLink, isOfOtherPictures, missing, NOT_OF_OTHERS, queryOf, same, siteAndHead, START, toLink } from "./selection.js";
import { HttpSource } from "./sources.js";

/** @import {Base, Form, Host, ImageBase, LinkSelection, Message, RunBase, Scale, Selection, ViewProps} from "../types" */

const ANSWERS = 1 << 20; // bytes
const OVERVIEW = "overview";
const SOON_MS = 100; // delay before the panels below the picture are fetched
const LOSSES = 3; // maximum number of times a recomputed trace may be evicted again
const REPORT_MS = 3000; // before a loss is reported again; twice as long before each further time
const LAST_REPORT_MS = 60_000;
/** @type {(keyof LinkSelection)[]} */
const OF_HEAD = ["layer", "head", "attention", "tower", "module"]; // of a link

/**
 * @template B
 * @typedef {object} Hooks
 * @property {readonly Scale[]} scales
 * @property {readonly Form[]} forms
 * @property {string} slot of the client, for the picture's own weights
 * @property {(message: Message, base: B, same: boolean) => void} opened a trace's base has come;
 *   `same` if it is the trace that was shown before
 * @property {(path: string, bytes: Uint8Array) => boolean} take keeps a response; whether it is one
 *   of those the view itself asked for (any other is a JSON answer)
 * @property {() => void} wish asks the client for what is missing
 */

/** @template {Base | ImageBase | RunBase} B */
export class ViewState {
  /**
   * @param {HTMLElement} root
   * @param {ViewProps} props
   * @param {Host} host
   * @param {Hooks<B>} hooks
   */
  constructor(root, props, host, hooks) {
    this.root = root;
    this.host = host;
    this.hooks = hooks;
    this.props = props;
    /** @type {B | null} */
    this.baseOrNull = null;
    this.trace = "";
    this.openedAt = 0; // when its base came
    /** @type {Selection} */
    this.selection = START;
    /** @type {Partial<LinkSelection>} chosen layer and head, also where the trace has none such */
    this.wanted = {};
    /** @type {Client | null} of the trace that is shown */
    this.client = null;
    /** @type {{trace: string, made: number, heads: number[], client: Client, early: [string, Uint8Array][]} | null} */
    this.next = null; // a trace whose base is on its way; its heads are [] if they are not known
    /** @type {Partial<LinkSelection> | null} */
    this.start = null; // to be adopted with the base
    this.asked = false; // whether `start` comes from a link or an example
    this.missing = ""; // what that asks for and is not there, as a sentence
    this.revision = "";
    this.latest = { trace: "", made: -1 };
    this.lost = { trace: "", times: 0 };
    /** @type {ReturnType<typeof setTimeout> | undefined} of the next report of a loss */
    this.reporting = undefined;
    this.unpinned = false; // whether the pinned token was one of an earlier text
    /** @type {Cache<object>} JSON answers, by path */
    this.answers = new Cache(ANSWERS);
    /** @type {Map<string, {path: string, timer: ReturnType<typeof setTimeout>}>} */
    this.soon = new Map();
    /** @type {Set<(picture: boolean) => void>} */
    this.listeners = new Set();
  }

  /** The trace's base; only read once there is one. */
  get base() {
    if (!this.baseOrNull) throw new Error("expected a base, none has come yet");
    return this.baseOrNull;
  }

  /** Whether the picture belongs to earlier settings of the page. */
  get behind() {
    return Boolean(this.props.busy || this.next || this.props.trace === null);
  }

  /** Whether missing data can be fetched. */
  get remote() {
    return this.client?.source.remote ?? true;
  }

  /**
   * How long the next picture has been on its way, in milliseconds: a trace's base, or the weights
   * since the base came; null if none is.
   */
  get awaited() {
    if (this.next && this.baseOrNull) return this.next.client.age(OVERVIEW);
    const age = this.client?.age(this.hooks.slot) ?? null;
    return age === null ? null : Math.min(age, performance.now() - this.openedAt);
  }

  /** @param {(picture: boolean) => void} listener is told whether the awaited weights have come */
  subscribe(listener) {
    this.listeners.add(listener);
  }

  changed(picture = false) {
    for (const listener of this.listeners) listener(picture);
  }

  /** @param {ViewProps} props */
  update(props) {
    const turned = Boolean(props.difference) !== Boolean(this.props.difference);
    this.props = props;
    const { page, path, link, revision, session, trace, made: serial } = props;
    if (page) claim(page, path, link, this.root, session);
    if (revision !== this.revision) {
      const selection = { ...this.chosen(), ...this.wanted };
      const now = this.revision ? { revision: this.revision, selection } : null;
      const before = kept(this.place, revision) ?? now;
      this.revision = revision;
      this.start = startOf(before, props);
      this.asked = Boolean(props.start) && before?.revision !== revision;
      this.wanted = siteAndHead(this.start);
      this.record(this.start);
    } else if (page) this.write(page, this.chosen());
    if (trace !== null && (trace !== this.latest.trace || serial !== this.latest.made))
      this.open(trace, serial);
    if (this.baseOrNull && !this.next && trace === this.trace) this.adopt();
    if (turned) this.hooks.wish();
    this.changed();
  }

  /** Where the selection is saved: a page may show texts and pictures. */
  get place() {
    const { page, kind } = this.props;
    return page && `${page}/${kind}`;
  }

  /** The selection in terms of a link, available even without a base. */
  chosen() {
    if (this.start) return this.start;
    return this.baseOrNull ? toLink(this.baseOrNull, this.selection) : this.props.defaults;
  }

  /**
   * Writes the selection to the link and to the session storage.
   *
   * @param {Partial<LinkSelection>} selection
   */
  record(selection) {
    const { page } = this.props;
    if (!page) return;
    this.write(page, selection);
    keep(this.place, this.revision, { ...selection, ...this.wanted });
  }

  /**
   * Writes the selection to the link. What the page says of the head of the defaults is hidden by
   * viz/app.css while another head is shown.
   *
   * @param {string} page
   * @param {Partial<LinkSelection>} selection
   */
  write(page, selection) {
    const { defaults, hinted } = this.props;
    const query = queryOf(selection, defaults);
    choose(page, query);
    const isOther = (/** @type {keyof LinkSelection} */ name) => name in query && query[name] !== String(defaults[name]);
    const other = Boolean(hinted) && OF_HEAD.some(isOther);
    document.documentElement.toggleAttribute("data-other-head", other);
  }

  /** Adopts the selection of a new revision. */
  adopt() {
    if (!this.start) return;
    this.selection = fromLink(this.base, this.start, this.hooks);
    this.missing = this.asked ? missing(this.base, this.start, this.selection) : "";
    this.start = null;
    this.record(toLink(this.base, this.selection));
    this.hooks.wish();
  }

  /**
   * Fetches the base of a trace; the present picture stays until it arrives.
   *
   * @param {string} trace
   * @param {number} serial
   */
  open(trace, serial) {
    this.latest = { trace, made: serial };
    clearTimeout(this.reporting);
    this.next?.client.destroy();
    const session = this.props.session ?? "";
    const source =
      this.host.source?.(trace, session) ??
      new HttpSource(`${location.origin}/api/trace/${encodeURIComponent(trace)}/`, session, this.props.stored);
    /** @type {Client} */
    const client = new Client(source, {
      received: (path, bytes) => this.received(client, path, bytes),
      gone: () => this.gone(client, trace, serial),
      changed: () => this.changed(),
    });
    this.next = { trace, made: serial, heads: this.props.heads ?? [], client, early: [] };
    client.want(OVERVIEW, OVERVIEW);
    this.hooks.wish();
  }

  /**
   * @param {Client} client
   * @param {string} path
   * @param {Uint8Array} bytes
   */
  received(client, path, bytes) {
    const { next } = this;
    const picture = path === OVERVIEW || client.isDone(this.hooks.slot, path);
    if (next?.client === client) {
      if (path !== OVERVIEW) next.early.push([path, bytes]);
      else this.opened(next, unpack(bytes));
      this.changed(picture && client === this.client);
    } else if (this.client === client) {
      this.take(path, bytes);
      this.changed(picture); // a picture is drawn before anything else is asked for
      this.hooks.wish();
    }
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   */
  take(path, bytes) {
    if (!this.hooks.take(path, bytes))
      this.answers.set(path, JSON.parse(new TextDecoder().decode(bytes)), bytes.length);
  }

  /**
   * A JSON response of the server; null until it arrives. Requests of a slot are debounced.
   *
   * @param {string} slot
   * @param {string} path
   */
  answer(slot, path) {
    const answer = this.answers.get(path);
    const waiting = this.soon.get(slot);
    if (!answer && waiting?.path !== path) {
      clearTimeout(waiting?.timer);
      const timer = setTimeout(() => this.client?.want(slot, path), SOON_MS);
      this.soon.set(slot, { path, timer });
    }
    return answer;
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
   * @param {string} doing
   */
  waitingFor(slot, doing) {
    const { client, remote } = this;
    const state = client?.state(slot);
    if (state === "absent") return remote ? (client?.reason(slot) ?? "") : "Not in this file.";
    return state === "failed" || state === "gone" ? "The server does not answer." : `${doing} …`;
  }

  /**
   * Ends the requests of a slot.
   *
   * @param {string} slot
   */
  forget(slot) {
    clearTimeout(this.soon.get(slot)?.timer);
    this.soon.delete(slot);
    this.client?.want(slot, null);
  }

  /**
   * @param {NonNullable<ViewState<B>["next"]>} next
   * @param {Message} message
   */
  opened({ trace, client, early }, message) {
    const base = /** @type {B | null | undefined} */ (message.header.base);
    if (!base) throw new Error("expected a base in the overview");
    const before = this.baseOrNull;
    const again = trace === this.trace;
    this.client?.destroy();
    this.next = null;
    this.lost = { trace, times: this.lost.trace === trace ? this.lost.times : 0 };
    [this.client, this.baseOrNull, this.trace] = [client, base, trace];
    this.openedAt = performance.now();
    if (before && !again) {
      const { output, token } = this.selection;
      const pinned = token !== null;
      if (this.start?.output && this.start.output === output)
        this.start = { ...this.start, output: carriedOutput(before, base, output) };
      const restart = this.start && !this.asked && isOfOtherPictures(before, base);
      if (restart) this.start = { ...this.start, ...NOT_OF_OTHERS };
      this.selection = carry(before, base, this.selection, this.wanted, this.hooks);
      this.unpinned = this.selection.token === null && (this.unpinned || pinned) && (!this.start || Boolean(restart));
      if (!this.start) this.record(toLink(base, this.selection));
    }
    this.hooks.opened(message, base, again);
    for (const { timer } of this.soon.values()) clearTimeout(timer);
    this.soon.clear();
    if (!again) this.answers = new Cache(ANSWERS);
    for (const [path, bytes] of early) this.take(path, bytes);
    if (this.start) this.adopt();
    else this.hooks.wish();
  }

  /**
   * Reports to Python that a trace is no longer on the server, so that it is recomputed.
   *
   * @param {Client} client
   * @param {string} trace
   * @param {number} serial
   */
  gone(client, trace, serial) {
    if (client !== (this.next?.client ?? this.client)) return;
    const times = this.lost.trace === trace ? this.lost.times + 1 : 1;
    this.lost = { trace, times };
    if (times <= LOSSES) this.report({ trace, made: serial }, REPORT_MS);
    this.changed();
  }

  /**
   * Reports a loss repeatedly until another trace is to be shown: Streamlit drops events while it is
   * disconnected, and a restarted server answers HTTP requests before its websocket is connected.
   *
   * @param {{trace: string, made: number}} lost
   * @param {number} pause in milliseconds
   */
  report(lost, pause) {
    this.host.trigger("trace_lost", lost);
    if (pause <= LAST_REPORT_MS) this.reporting = setTimeout(() => this.report(lost, 2 * pause), pause);
  }

  /** @param {Partial<Selection>} change */
  select(change) {
    if (!this.baseOrNull) return;
    const next = clamp(this.baseOrNull, { ...this.selection, ...change });
    if (same(next, this.selection)) return;
    this.selection = next;
    this.missing = "";
    if ("token" in change) this.unpinned = false;
    const link = toLink(this.baseOrNull, next);
    const { head, ...site } = siteAndHead(link);
    if ("site" in change) this.wanted = { ...this.wanted, ...site };
    if ("head" in change) this.wanted = { ...this.wanted, head };
    if (this.start) this.start = { ...this.start, ...link, ...this.wanted };
    this.hooks.wish(); // fetch first: drawing takes longer
    this.changed();
    this.record(link);
  }

  destroy() {
    this.listeners.clear();
    clearTimeout(this.reporting);
    for (const { timer } of this.soon.values()) clearTimeout(timer);
    this.client?.destroy();
    this.next?.client.destroy();
    if (this.props.page) disown(this.props.page, this.root);
  }
}
