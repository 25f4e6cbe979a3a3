// The selection of each page, kept in this tab's session storage for when the page is shown again.

/** @typedef {Record<string, unknown>} Chosen a selection in terms of a link */

/** @typedef {{revision: string, selection: Chosen}} Kept */

/**
 * @param {string} page
 * @param {string} revision "<nonce>.<number>"
 */
const keyOf = (page, revision) => `headscope/${page}/${revision.split(".")[0]}`;

/**
 * @param {string} page
 * @param {string} revision
 * @returns {Kept | null}
 */
export function kept(page, revision) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(page, revision)) ?? "null");
  } catch {
    return null; // no storage (a file, a private window), or something else's entry
  }
}

/**
 * @param {string} page
 * @param {string} revision
 * @param {Chosen} selection
 */
export function keep(page, revision, selection) {
  try {
    sessionStorage.setItem(keyOf(page, revision), JSON.stringify({ revision, selection }));
  } catch {
    // the view works without
  }
}

/**
 * What a view of this revision starts with: what was chosen in this revision before, else what
 * Python says, else what was chosen on this page before, else the defaults.
 *
 * @param {Kept | null} before
 * @param {{revision: string, start: Chosen | null, defaults: Chosen}} props
 * @returns {Chosen}
 */
export function startOf(before, { revision, start, defaults }) {
  if (before?.revision === revision || !start) return { ...defaults, ...before?.selection };
  return { ...defaults, ...start };
}
