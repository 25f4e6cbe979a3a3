// Where over half of a head's weight rests on one token.

/** @import {TextState} from "./state.js" */

const MOST = 0.5; // of a row, on average; as in analysis/sinks.py

/** @typedef {{key: number, share: number}} Resting a token that takes over half of the weight, and the share */

/**
 * The key on which a matrix rests: the mean over the rows that see it, which are at least half of
 * all, is over a half. Null where there is none.
 *
 * @param {ArrayLike<number>} cells row by row
 * @param {number} rows
 * @param {number} keys
 * @returns {Resting | null}
 */
export function restingIn(cells, rows, keys) {
  /** @type {Resting | null} */
  let most = null;
  for (let key = 0; key < keys; key++) {
    let [total, seen] = [0, 0];
    for (let at = key; at < cells.length; at += keys) {
      total += cells[at];
      if (cells[at] > 0) seen += 1;
    }
    if (2 * seen < rows || total <= MOST * seen) continue;
    if (!most || total > most.share * seen) most = { key, share: total / seen };
  }
  return most;
}

/**
 * Each cell of a matrix as a share of its row.
 *
 * @param {number[]} cells row by row
 * @param {number} rows
 * @param {number} keys
 */
export function sharesOf(cells, rows, keys) {
  const sums = Array.from({ length: rows }, (_, row) =>
    cells.slice(row * keys, (row + 1) * keys).reduce((sum, value) => sum + value, 0),
  );
  return cells.map((value, at) => value / (sums[Math.floor(at / keys)] || 1));
}

/**
 * The key on which the chosen head rests; null too while the weights of single tokens are not known.
 *
 * @param {TextState} state
 */
export function restingOn(state) {
  const { site, head } = state.selection;
  if (head === "max" || state.variant().values !== "weights") return null;
  const { queries, keys } = state.site();
  const weights = state.maps.window(site, head, [0, queries], [0, keys]);
  return weights && restingIn(weights, queries, keys);
}
