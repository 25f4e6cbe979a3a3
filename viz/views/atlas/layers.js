// The rows of the atlas: the layers of one kind of attention, and the layers between them that have
// no attention weights.

/** @import {Base} from "../../web/types" */

/**
 * Layers in a row without attention weights, and what they are.
 *
 * @typedef {{first: number, last: number, what: string}} Skipped
 */

/** @typedef {{site: number} | Skipped} LayerRow */

/**
 * @param {Pick<Base, "sites" | "other_layers">} base
 * @param {number[]} group indexes of the sites of one kind of attention
 * @returns {LayerRow[]}
 */
export function layerRows(base, group) {
  const others = base.other_layers ?? {};
  const tower = base.sites[group[0]].tower ?? null;
  const same = base.sites.filter((site) => (site.tower ?? null) === tower);
  const present = new Set(same.map(({ layer }) => layer));
  const last = Math.max(...present, ...Object.keys(others).map(Number));
  /** @type {LayerRow[]} */
  const rows = [];
  let next = 0;
  function skipTo(end) {
    for (; next < end; next++) {
      if (present.has(next)) continue;
      const what = others[next] ?? "";
      const before = rows.at(-1);
      if (before && "last" in before && before.what === what) before.last = next;
      else rows.push({ first: next, last: next, what });
    }
  }
  for (const site of group) {
    skipTo(base.sites[site].layer);
    rows.push({ site });
  }
  skipTo(last + 1);
  return rows;
}

/**
 * "layer 3: no attention weights (linear attention)".
 *
 * @param {Skipped} row
 */
export function withoutWeights({ first, last, what }) {
  const layers = first === last ? `layer ${first}` : `layers ${first}–${last}`;
  return `${layers}: no attention weights${what ? ` (${what})` : ""}`;
}
