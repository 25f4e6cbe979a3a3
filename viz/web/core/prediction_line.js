// Which token predictions are about, and how a probability is written.

/**
 * The token that predictions are about, as requests name it.
 *
 * @param {import("./state.js").State<any>} view
 * @returns {Record<string, number>}
 */
export function placeIn({ selection: { token } }) {
  return token === null ? {} : { token };
}

/** @param {number} share two digits */
export function percent(share) {
  const value = 100 * share;
  if (value < 0.01) return "< 0.01\u00a0%";
  return `${value.toFixed(value >= 9.95 ? 0 : value >= 0.995 ? 1 : 2)}\u00a0%`;
}
