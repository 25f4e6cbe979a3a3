// What a change at a site can reach: asked of the server, and in words.

import { siteName } from "./labels.js";
import { pathOf } from "./sources.js";

/** @import {Base, ImageBase, Reached, Sought} from "../types" */
/** @import {ViewState} from "./state.js" */

/**
 * What a change can reach; null until it is known.
 *
 * @template {Base | ImageBase} B
 * @param {ViewState<B>} view
 * @param {Sought} sought
 */
export function reachedOf(view, { head, token, ...at }) {
  const path = pathOf("reachable", { ...at, ...(head === null ? {} : { head }), ...(token === null ? {} : { token }) });
  return /** @type {Reached | null} */ (view.answer("reachable", path));
}

/**
 * "Can reach layer 2 to layer 5: there token 3 to the last."
 *
 * @param {Pick<Base | ImageBase, "sites">} base
 * @param {Reached} reached
 */
export function reachWords(base, { sites }) {
  const places = base.sites.flatMap((_, site) => (sites[site] ? [site] : []));
  const last = places[places.length - 1];
  const rows = sites[last]?.rows;
  if (!rows) return "Reaches no attention.";
  const names = [...new Set([places[0], last].map((site) => siteName(base, site)))].join(" to ");
  const [from, to] = [rows[0][0], rows[rows.length - 1][1]];
  const count = base.sites[last].queries;
  const tokens = from === 0 && to === count && rows.length === 1 ? "every token" : to - from === 1 ? `token ${from}` : `tokens ${from} to ${to - 1}`;
  return `Can reach ${names}: there ${tokens}.`;
}
