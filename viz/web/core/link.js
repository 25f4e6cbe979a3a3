// What a page keeps: its URL, and the selection of each of its views in the tab's session storage.
//
// A page's link has two parts: the settings, sent by Python, and the selections of the views. Both are written
// together, a moment after the first of several changes, so that writing never delays a picture, while a view's
// element is in the document and the URL is that of its page.
//
// One URL is corrected at once. If Back is pressed while a page loads, Streamlit can push that page's path with
// the query of the page that Back led to. If the user leaves before the page's own link is written, that history
// entry would later open the page with the other page's settings.

const DELAY_MS = 200;
/** What a link names even where it is the default: that depends on the input, and on what is known of it so far. */
const NAMED = ["layer", "attention", "tower", "head", "token"];

/** @typedef {Record<string, unknown>} Chosen a selection in terms of a link */
/** @typedef {{revision: string, selection: Chosen}} Kept */

/** @typedef {{navigationType: string | null, from: {url: string | null}}} Change of the history's entry */

/**
 * @typedef {object} Environment
 * @property {{pathname: string, search: string, hash: string, reload(): void}} location
 * @property {{state: unknown, replaceState(state: unknown, title: string, url: string): void}} history
 * @property {(action: () => void, delay: number) => unknown} setTimeout
 * @property {{addEventListener(name: "currententrychange", listener: (change: Change) => void): void}} [navigation]
 *   which older browsers lack
 */

/**
 * The selection's part of a link: site, head and token, and what differs from the defaults, of the names that these
 * have.
 *
 * @type {(selection: Chosen, defaults: Chosen) => Record<string, string>}
 */
export function queryOf(selection, defaults) {
  const isWritten = (/** @type {string} */ name) =>
    (selection[name] ?? "") !== "" && (NAMED.includes(name) || selection[name] !== defaults[name]);
  const names = Object.keys(defaults).filter(isWritten);
  return Object.fromEntries(names.map((name) => [name, String(selection[name])]));
}

/** Parts of a link as one query string, with its question mark. @param {Record<string, string>[]} parts */
export function queryStringOf(parts) {
  const text = new URLSearchParams(Object.assign({}, ...parts)).toString();
  return text ? `?${text}` : "";
}

/** The only writer of a window's URL: of the links of the views that are on its page. */
export class Address {
  /** @param {Environment} environment a window */
  constructor(environment) {
    this.window = environment;
    /** @type {Set<PageLink>} a page may have several views */
    this.links = new Set();
    this.isDue = false;
    this.session = ""; // of this document
    environment.navigation?.addEventListener("currententrychange", ({ navigationType, from }) => {
      const { pathname, search } = environment.location;
      if (navigationType !== "push" || !from.url) return;
      const before = new URL(from.url);
      if (pathname !== before.pathname && search === before.search) this.replace([]);
    });
  }

  /**
   * A view has new props. Nothing is written before its selection is known.
   *
   * A page gets a new session when the server has restarted, or after a long disconnection. Streamlit starts the
   * new session with the query string the page was loaded with, but the URL holds what has been chosen since: the
   * page is reloaded from it.
   *
   * @param {PageLink} link
   * @param {string} [session] of the settings
   */
  claim(link, session = this.session) {
    if (this.session && session !== this.session) {
      this.links.clear(); // the URL stays as it is
      return this.window.location.reload();
    }
    this.session = session;
    for (const other of this.links) if (other.page === link.page && other !== link) this.links.delete(other);
    this.links.add(link);
    this.schedule();
  }

  schedule() {
    if (this.isDue) return;
    this.isDue = true;
    this.window.setTimeout(() => this.write(), DELAY_MS);
  }

  write() {
    this.isDue = false;
    const { pathname } = this.window.location;
    const here = [...this.links].filter(({ root, paths }) => root.isConnected && paths.includes(pathname));
    if (!here.length || here.some(({ query }) => query === null)) return;
    this.replace([...here.map(({ settings }) => settings), ...here.map(({ query }) => query ?? {})]);
  }

  /** @param {Record<string, string>[]} parts of the query, beside that which is Streamlit's own */
  replace(parts) {
    const { location, history } = this.window;
    const embed = new URLSearchParams(location.search).get("embed");
    const query = queryStringOf([...parts, embed === null ? {} : { embed }]);
    if (query !== location.search)
      history.replaceState(history.state, "", location.pathname + query + location.hash);
  }
}

const ADDRESS = new Address(/** @type {Environment} */ (/** @type {unknown} */ (globalThis)));

/**
 * The initial selection of a view: the one saved in this revision, else the one from Python, else the last one
 * saved on this page, else the defaults. An example from Python names no form: the one on the screen stays.
 *
 * @type {(before: Kept | null, props: {revision: string, start: Chosen | null, defaults: Chosen}) => Chosen}
 */
export function startOf(before, { revision, start, defaults }) {
  if (before?.revision === revision || !start) return { ...defaults, ...before?.selection };
  const form = before?.selection.form;
  return { ...defaults, ...(form === undefined ? {} : { form }), ...start };
}

/** A mounted view's part of its page's link. */
export class PageLink {
  /** @param {{isConnected: boolean}} root whose presence says that the page is shown */
  constructor(root, address = ADDRESS) {
    this.root = root;
    this.address = address;
    this.page = "";
    this.place = "";
    this.revision = "";
    /** @type {string[]} */
    this.paths = [];
    /** @type {Record<string, string>} */
    this.settings = {};
    /** @type {Record<string, string> | null} null: not known yet */
    this.query = null;
  }

  /**
   * Takes new props.
   *
   * @param {import("../types").LinkProps & {start: Chosen | null, defaults: Chosen}} props
   * @param {Chosen} [now] what is chosen
   * @returns {{selection: Chosen, isAsked: boolean} | null} where Python has set the page anew: the selection to
   *   start from, and whether Python names it
   */
  update(props, now = {}) {
    const { page, kind, path, link = {}, session, revision, start } = props;
    if (page !== this.page) this.destroy();
    Object.assign(this, { page, paths: path, settings: link });
    this.place = page && kind ? `${page}/${kind}` : page;
    if (page) this.address.claim(this, session);
    if (revision === this.revision) return null;
    const before =
      this.kept(revision) ?? (this.revision ? { revision: this.revision, selection: now } : null);
    this.revision = revision;
    return { selection: startOf(before, props), isAsked: Boolean(start) && before?.revision !== revision };
  }

  /** Writes a selection to the link, and saves it. @param {Record<string, string>} query @param {Chosen} selection */
  record(query, selection) {
    if (!this.page) return;
    this.query = query;
    this.address.schedule();
    try {
      const { revision } = this;
      sessionStorage.setItem(this.keyOf(revision), JSON.stringify({ revision, selection }));
    } catch {
      // the view works without storage
    }
  }

  /** @param {string} revision @returns {Kept | null} */
  kept(revision) {
    try {
      return this.place ? JSON.parse(sessionStorage.getItem(this.keyOf(revision)) ?? "null") : null;
    } catch {
      return null; // no storage (a file, a private window), or an invalid entry
    }
  }

  keyOf(revision) {
    return `headscope/${this.place}/${revision.split(".")[0]}`;
  }

  destroy() {
    this.address.links.delete(this);
  }
}
