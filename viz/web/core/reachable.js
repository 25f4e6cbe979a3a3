// What a change at a site can reach: asked of the server, and in words.

import { siteName } from "./labels.js";
import { pathOf } from "./sources.js";

/** @import {Base, ImageBase, Reached, Sought} from "../types" */
/** @import {State} from "./state.js" */

/**
 * What a change can reach; null until it is known.
 *
 * @param {State<any>} view
 * @param {Sought} sought
 */
export function reachedOf(view, { head, token, ...at }) {
  const path = pathOf("reachable", { ...at, ...(head === null ? {} : { head }), ...(token === null ? {} : { token }) });
  return /** @type {Reached | null} */ (view.answer("reachable", path));
}

/**
 * "Can reach layer 2 to layer 5: there token 3 to the last."
 *
 * @param {Pick<Base | ImageBase, "sites"> & {query_labels?: string[]}} base
 * @param {Reached} reached
 */
export function reachWords(base, { sites }) {
  const places = base.sites.flatMap((_, site) => (sites[site] ? [site] : []));
  const last = places[places.length - 1];
  const rows = sites[last]?.rows;
  if (!rows) return "Reaches no attention.";
  if (base.query_labels) return overPatches(base, base.query_labels, sites, places);
  const names = [...new Set([places[0], last].map((site) => siteName(base, site)))].join(" to ");
  const [from, to] = [rows[0][0], rows[rows.length - 1][1]];
  const count = base.sites[last].queries;
  const tokens = from === 0 && to === count && rows.length === 1 ? "every token" : to - from === 1 ? `token ${from}` : `tokens ${from} to ${to - 1}`;
  return `Can reach ${names}: there ${tokens}.`;
}

/**
 * The same for a picture: "Can reach patch 1,2 of head 3 in layer 2, then every patch from layer 3
 * on."
 */
function overPatches(base, labels, sites, places) {
  const isWhole = (/** @type {number} */ site) => {
    const [[from, to], ...more] = sites[site]?.rows ?? [[0, 0]];
    return !sites[site]?.heads && !more.length && from === 0 && to === base.sites[site].queries;
  };
  const whole = places.findIndex((_, i) => places.slice(i).every(isWhole));
  const parts = places.slice(0, whole < 0 ? places.length : whole).map((site) => {
    const { heads = null, rows = [] } = sites[site] ?? {};
    const { queries } = base.sites[site];
    const count = rows.reduce((sum, [from, to]) => sum + to - from, 0);
    const name = queries === labels.length ? labels[rows[0][0]] : `token ${rows[0][0]}`;
    const tokens = count === 1 ? name : count === queries ? "every patch" : `${count} of ${queries} tokens`;
    return `${tokens}${heads ? ` of ${heads.length > 1 ? "heads" : "head"} ${heads.join(", ")}` : ""} in ${siteName(base, site)}`;
  });
  if (whole >= 0) {
    const from = siteName(base, places[whole]);
    const last = whole === places.length - 1;
    parts.push(`every patch ${last ? `in ${from}` : `from ${from} on`}`);
  }
  return `Can reach ${parts.join(", then ")}.`;
}
