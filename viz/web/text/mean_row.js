// The weights of several rows of the chosen head as one: those of a word of several tokens.

import { pathOf } from "../core/sources.js";

/** @import {TextState} from "./state.js" */

/**
 * The mean of the exact weights of these rows, once all are here; fetches those that are not.
 *
 * @param {TextState} state
 * @param {number[]} rows
 * @param {string} slot name of the requests
 * @param {number} most rows that are ever asked for
 */
export function meanRow(state, rows, slot, most) {
  const { site, head } = state.selection;
  const known = rows.flatMap((row) => state.maps.exact(site, head, "query", row)?.weights ?? []);
  for (let i = 0; i < most; i++) {
    const row = rows[i];
    const here = row === undefined || state.maps.exact(site, head, "query", row);
    state.view.client?.want(`${slot} ${i}`, here ? null : pathOf("row", { site, head, axis: "query", index: row }));
  }
  return known.length === rows.length ? meanOf(known) : null;
}

/** @param {Float32Array[]} rows of one length */
function meanOf(rows) {
  if (!rows.length) return null;
  return rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
}
