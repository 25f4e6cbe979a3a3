// The selection of each page and kind of view, saved in the tab's session storage: what a scale means
// over a picture is another thing than in a matrix.

/** @typedef {Record<string, unknown>} Chosen a selection in terms of a link */

/** @typedef {{revision: string, selection: Chosen}} Kept */

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
    return null; // no storage (a file, a private window), or an invalid entry
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
    // the view works without storage
  }
}

/**
 * The initial selection of a view: the one saved in this revision, else the one from Python, else
 * the last one saved on this page, else the defaults. An example from Python names no form: the
 * one on the screen stays.
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
