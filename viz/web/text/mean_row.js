// The weights of several rows of the chosen head as one: those of a word of several tokens.

import { useWanted } from "../core/hooks.js";
import { pathOf } from "../core/sources.js";
import { useMemo } from "../vendor/hooks.js";

/** @import {TextState} from "./state.js" */

const MOST = 8; // rows of a word, whose weights are fetched

/**
 * The mean of the exact weights of these rows, once all are here; fetches those that are not.
 *
 * @param {TextState} state
 * @param {number[]} rows
 * @param {string} slot name of the requests
 */
export function useMeanRow(state, rows, slot) {
  const { site, head } = state.selection;
  const known = Array.from({ length: MOST }, (_, i) =>
    i < rows.length ? (state.maps.exact(site, head, "query", rows[i])?.weights ?? null) : undefined,
  );
  known.forEach((weights, i) => {
    const path = weights === null ? pathOf("row", { site, head, axis: "query", index: rows[i] }) : null;
    useWanted(state.view, `${slot} ${i}`, path);
  });
  return useMemo(() => {
    const weights = known.filter((each) => each !== undefined);
    return weights.includes(null) ? null : meanOf(/** @type {Float32Array[]} */ (weights));
  }, known);
}

/** @param {Float32Array[]} rows of one length */
function meanOf(rows) {
  if (!rows.length) return null;
  return rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
}
