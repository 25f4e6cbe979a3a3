// Which tokens of a text an example shows. Pure functions.

const BESIDE = 8; // tokens on either side of what matters
const MATTERS = 0.05; // weights from which a key matters
const SHORT = 48; // tokens up to which the whole text is shown

/**
 * The tokens around a query and the keys that matter: the first, and one past the last.
 *
 * @param {number} count of the text
 * @param {number} query −1 where it is in another text
 * @param {ReadonlyMap<number, number>} weights by key
 * @returns {[number, number]}
 */
export function around(count, query, weights) {
  if (count <= SHORT) return [0, count];
  const matter = [...weights].filter(([, weight]) => weight >= MATTERS).map(([key]) => key);
  const tokens = [...(query < 0 ? [] : [query]), ...matter];
  const places = tokens.length ? tokens : [0];
  return [Math.max(0, Math.min(...places) - BESIDE), Math.min(count, Math.max(...places) + BESIDE + 1)];
}
