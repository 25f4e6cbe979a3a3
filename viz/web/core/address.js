// The only writer of the URL. A page's link has two parts: the settings, sent by Python, and the
// selections of the views. Both are written together, a moment after the first of several changes, so
// that writing never delays a picture, while a view's element is in the document and the URL is that
// of its page.
//
// One URL is corrected at once. If Back is pressed while a page loads, Streamlit can push that page's
// path with the query of the page that Back led to. If the user leaves before the page's own link is
// written, that history entry would later open the page with the other page's settings.

const DELAY_MS = 200;

/**
 * @typedef {object} Entry
 * @property {string[]} paths
 * @property {Record<string, string>} settings
 * @property {Record<string, string> | null} selection null: not known yet, so nothing is written
 * @property {{isConnected: boolean}} element
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
 * Parts of a link as one query string, with its question mark.
 *
 * @param {Record<string, string>[]} parts
 */
export function queryStringOf(parts) {
  const text = new URLSearchParams(Object.assign({}, ...parts)).toString();
  return text ? `?${text}` : "";
}

/** @param {Environment} environment a window */
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
    const { location } = environment;
    const here = [...entries.values()].filter(
      ({ paths, element }) => element.isConnected && paths.includes(location.pathname),
    );
    if (!here.length || here.some(({ selection }) => selection === null)) return;
    const selections = here.map(({ selection }) => selection ?? {});
    replace(queryStringOf([...here.map(({ settings }) => settings), ...selections, kept()]));
  }

  /**
   * The part of the query that is Streamlit's own.
   *
   * @returns {Record<string, string>}
   */
  function kept() {
    const embed = new URLSearchParams(environment.location.search).get("embed");
    return embed === null ? {} : { embed };
  }

  /** @param {string} query */
  function replace(query) {
    const { location, history } = environment;
    if (query !== location.search)
      history.replaceState(history.state, "", location.pathname + query + location.hash);
  }

  environment.navigation?.addEventListener("currententrychange", ({ navigationType, from }) => {
    const { pathname, search } = environment.location;
    if (navigationType !== "push" || !from.url) return;
    const before = new URL(from.url);
    if (pathname !== before.pathname && search === before.search) replace(queryStringOf([kept()]));
  });

  /**
   * The settings' part of a page's link. Nothing is written before the view's selection is known.
   *
   * A page gets a new session when the server has restarted, or after a long disconnection. Streamlit
   * starts the new session with the query string the page was loaded with, but the URL holds what has
   * been chosen since: the page is reloaded from it.
   *
   * @param {string} page name of the view
   * @param {string[]} paths the addresses at which the page is shown
   * @param {Record<string, string>} settings
   * @param {{isConnected: boolean}} element whose presence says that the page is shown
   * @param {string} [session] of the settings
   */
  function claim(page, paths, settings, element, session = known) {
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
  }

  /** The selection's part. */
  function choose(page, selection) {
    const entry = entries.get(page);
    if (!entry) return;
    entry.selection = selection;
    schedule();
  }

  /** Releases what `claim` registered, unless another element has taken over the page. */
  function disown(page, element) {
    if (entries.get(page)?.element === element) entries.delete(page);
  }

  return { claim, choose, disown };
}

export const { claim, choose, disown } = createAddress(
  /** @type {Environment} */ (/** @type {unknown} */ (globalThis)),
);
