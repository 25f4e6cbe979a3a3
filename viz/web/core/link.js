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
/** What a link names even where it is the default: another default would change what it shows. */
const NAMED = ["layer", "head"];

/** @typedef {Record<string, unknown>} Chosen a selection in terms of a link */
/** @typedef {{revision: string, selection: Chosen}} Kept */
/** @typedef {{isConnected: boolean}} Element whose presence says that a page is shown */

/**
 * @typedef {object} Entry
 * @property {string[]} paths
 * @property {Record<string, string>} settings
 * @property {Record<string, string> | null} selection null: not known yet, so nothing is written
 * @property {Element} element
 */

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
 * The selection's part of a link: layer and head, and what differs from the defaults, of the names that these
 * have.
 *
 * @param {Chosen} selection
 * @param {Chosen} defaults
 * @returns {Record<string, string>}
 */
export function queryOf(selection, defaults) {
  const isWritten = (/** @type {string} */ name) =>
    (selection[name] ?? "") !== "" && (NAMED.includes(name) || selection[name] !== defaults[name]);
  const names = Object.keys(defaults).filter(isWritten);
  return Object.fromEntries(names.map((name) => [name, String(selection[name])]));
}

/**
 * Parts of a link as one query string, with its question mark.
 *
 * @param {Record<string, string>[]} parts
 */
export function queryStringOf(parts) {
  const text = new URLSearchParams(Object.assign({}, ...parts)).toString();
  return text ? `?${text}` : "";
}

/**
 * The only writer of a window's URL.
 *
 * @param {Environment} environment a window
 */
export function createAddress(environment) {
  /** @type {Map<string, Entry>} by view: a page may have several */
  const entries = new Map();
  let waiting = false;
  let known = ""; // the session of this document

  function schedule() {
    if (waiting) return;
    waiting = true;
    environment.setTimeout(write, DELAY_MS);
  }

  function write() {
    waiting = false;
    const { pathname } = environment.location;
    const here = [...entries.values()].filter(
      ({ paths, element }) => element.isConnected && paths.includes(pathname),
    );
    if (!here.length || here.some(({ selection }) => selection === null)) return;
    const selections = here.map(({ selection }) => selection ?? {});
    replace(queryStringOf([...here.map(({ settings }) => settings), ...selections, embedding()]));
  }

  /** The part of the query that is Streamlit's own. @returns {Record<string, string>} */
  function embedding() {
    const embed = new URLSearchParams(environment.location.search).get("embed");
    return embed === null ? {} : { embed };
  }

  function replace(query) {
    const { location, history } = environment;
    if (query !== location.search)
      history.replaceState(history.state, "", location.pathname + query + location.hash);
  }

  environment.navigation?.addEventListener("currententrychange", ({ navigationType, from }) => {
    const { pathname, search } = environment.location;
    if (navigationType !== "push" || !from.url) return;
    const before = new URL(from.url);
    if (pathname !== before.pathname && search === before.search) replace(queryStringOf([embedding()]));
  });

  return {
    /**
     * The settings' part of a page's link. Nothing is written before the view's selection is known.
     *
     * A page gets a new session when the server has restarted, or after a long disconnection. Streamlit starts
     * the new session with the query string the page was loaded with, but the URL holds what has been chosen
     * since: the page is reloaded from it.
     *
     * @param {string} page name of the view
     * @param {string[]} paths the addresses at which the page is shown
     * @param {Record<string, string>} settings
     * @param {Element} element
     * @param {string} [session] of the settings
     */
    claim(page, paths, settings, element, session = known) {
      if (known && session !== known) {
        entries.clear(); // the URL stays as it is
        environment.location.reload();
        return;
      }
      known = session;
      const before = entries.get(page);
      const selection = before?.element === element ? before.selection : null;
      entries.set(page, { paths, settings, selection, element });
      schedule();
    },

    /** The selection's part. */
    choose(page, selection) {
      const entry = entries.get(page);
      if (!entry) return;
      entry.selection = selection;
      schedule();
    },

    /** Releases what `claim` registered, unless another element has taken over the page. */
    disown(page, element) {
      if (entries.get(page)?.element === element) entries.delete(page);
    },
  };
}

const address = createAddress(/** @type {Environment} */ (/** @type {unknown} */ (globalThis)));

/**
 * The initial selection of a view: the one saved in this revision, else the one from Python, else the last one
 * saved on this page, else the defaults. An example from Python names no form: the one on the screen stays.
 *
 * @param {Kept | null} before
 * @param {{revision: string, start: Chosen | null, defaults: Chosen}} props
 * @returns {Chosen}
 */
export function startOf(before, { revision, start, defaults }) {
  if (before?.revision === revision || !start) return { ...defaults, ...before?.selection };
  const form = before?.selection.form;
  return { ...defaults, ...(form === undefined ? {} : { form }), ...start };
}

/**
 * What a page tells of the link.
 *
 * @typedef {object} Props
 * @property {string} page empty: nothing is written or saved
 * @property {string} [kind] of a view: a page may show texts and pictures, whose scales mean other things
 * @property {string[]} path
 * @property {Record<string, string>} [link] the settings
 * @property {string} [session]
 * @property {string} revision
 * @property {Chosen | null} start
 * @property {Chosen} defaults
 */

/** A mounted view's part of its page's link. */
export class PageLink {
  /** @param {Element} root */
  constructor(root) {
    this.root = root;
    this.page = "";
    this.place = "";
    this.revision = "";
  }

  /**
   * Takes new props.
   *
   * @param {Props} props
   * @param {Chosen} [now] what is chosen
   * @returns {{selection: Chosen, isAsked: boolean} | null} where Python has set the page anew: the selection to
   *   start from, and whether Python names it
   */
  update(props, now = {}) {
    const { page, kind, path, link = {}, session, revision, start } = props;
    if (page !== this.page) this.destroy();
    this.page = page;
    this.place = page && kind ? `${page}/${kind}` : page;
    if (page) address.claim(page, path, link, this.root, session);
    if (revision === this.revision) return null;
    const before =
      this.kept(revision) ?? (this.revision ? { revision: this.revision, selection: now } : null);
    this.revision = revision;
    return { selection: startOf(before, props), isAsked: Boolean(start) && before?.revision !== revision };
  }

  /**
   * Writes a selection to the link, and saves it.
   *
   * @param {Record<string, string>} query
   * @param {Chosen} selection
   */
  record(query, selection) {
    if (!this.page) return;
    address.choose(this.page, query);
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
    if (this.page) address.disown(this.page, this.root);
  }
}
