// Edits of the pass as values, which the page keeps: what is asked of it, and what it says of them.

/** @import {Head, Host, Site, ViewProps} from "../types" */

/** @typedef {Pick<Site, "layer" | "kind" | "tower" | "module" | "part">} Place */
/** @typedef {{edit: string} & Record<string, unknown>} Edit its name and its arguments, as in Python */
/** @typedef {{do: string, value?: unknown, second?: string}} Asked */

const KEPT = 8; // messages that the page may not have read yet
const FIELDS = /** @type {const} */ (["kind", "tower", "module", "part"]);

/**
 * What names a site beside its layer, where the layer has several.
 *
 * @type {(sites: readonly Place[], site: Place) => Partial<Place>}
 */
export function addressOf(sites, site) {
  /** @type {Record<string, unknown>} */
  const named = {};
  let rivals = sites.filter(({ layer, kind }) => layer === site.layer && kind !== "joint");
  for (const field of FIELDS) {
    const value = site[field] ?? null;
    if (value === null || rivals.every((other) => (other[field] ?? null) === value)) continue;
    named[field] = value;
    rivals = rivals.filter((other) => other[field] === value);
  }
  return named;
}

/** Tokens as an argument: one alone is a number. @param {number[]} tokens */
export const few = (tokens) => (tokens.length === 1 ? tokens[0] : tokens);

/**
 * An edit of a site, and of a head of it or of all.
 *
 * @param {{base: {sites: readonly Site[]}}} state
 * @param {string} edit
 * @param {number} site
 * @param {Record<string, unknown>} more
 * @returns {Edit}
 */
export function editAt({ base: { sites } }, edit, site, more) {
  return { edit, layer: sites[site].layer, ...more, ...addressOf(sites, sites[site]) };
}

/**
 * The edit that switches a head off; null where no single head is chosen.
 *
 * @param {{base: {sites: readonly Site[]}}} state
 * @param {number} site
 * @param {Head} head
 */
export const headOff = (state, site, head) =>
  typeof head !== "number" || state.base.sites[site].kind === "joint"
    ? null
    : editAt(state, "Ablate", site, { head });

/** Whether an edit is one of those that are on. @param {ViewProps} props @param {Edit | null} edit */
export const isMade = ({ edits = [] }, edit) =>
  edit !== null && edits.some(({ values, on }) => on && isSame(values, edit));

/** whatever the order of their arguments */
function isSame(one, other) {
  const names = Object.keys(one);
  const isEqual = (name) => JSON.stringify(one[name]) === JSON.stringify(other[name]);
  return names.length === Object.keys(other).length && names.every(isEqual);
}

/**
 * What tells the page of a wish. It stays until the page has read it: an event would be lost where another overtakes it.
 *
 * @param {Host} host
 */
export function asking(host) {
  /** @type {({id: string} & Asked)[]} */
  const sent = [];
  return (/** @type {Asked} */ asked) => {
    sent.push({ id: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`, ...asked });
    sent.splice(0, sent.length - KEPT);
    host.set("edit", { sent: [...sent] });
  };
}

/**
 * The tokens of a row or column of the picture.
 *
 * @type {(state: any, axis: "query" | "key", place: number) => number[]}
 */
export const tokensOf = (state, axis, place) => state.texts()[axis].origins?.[place] ?? [place];

/**
 * What an edit begins with: the chosen head, null for all of its layer, and the chosen word with what it looks at most.
 *
 * @type {(state: any) => {site: number, head: number | null, query: number, key: number}}
 */
export function chosenIn(state) {
  const { site, head, token, partner = null, direction } = state.selection;
  const isInward = direction === "in";
  const here = token ?? (state.base.patches ? 0 : state.base.sites[site].queries - 1);
  const there = partner ?? strongestFor(state, isInward ? "key" : "query", here);
  const [query, key] = isInward ? [there, here] : [here, there];
  return { site, head: typeof head === "number" ? head : null, query, key };
}

function strongestFor(state, axis, index) {
  const { site, head } = state.selection;
  const values = state.along(site, head, axis, index)?.values;
  return values ? values.indexOf(Math.max(...values)) : 0;
}
