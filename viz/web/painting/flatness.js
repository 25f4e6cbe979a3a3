// Maps of weights over a picture that are nearly uniform: their colours are faint.

const EVEN = 1.25; // of largest to mean weight, below which a map is nearly uniform
const FAINTEST = 0.15; // share of the colours that is left of a uniform map

/** How far weights on patches are from equal: the largest over their mean, 1 for equal ones. */
function contrastOf(values, prefix = 0) {
  let [sum, most] = [0, 0];
  for (let i = prefix; i < values.length; i++) {
    sum += values[i];
    if (values[i] > most) most = values[i];
  }
  return sum ? (most * (values.length - prefix)) / sum : 1;
}

/** @type {(values: ArrayLike<number>, prefix?: number) => boolean} */
export const nearlyUniform = (values, prefix) => contrastOf(values, prefix) < EVEN;

/**
 * The share of the colours’ opacity that a map keeps: a uniform one leaves the picture visible.
 *
 * @param {ArrayLike<number>} values
 * @param {number} [prefix]
 */
export const fadeOf = (values, prefix) => Math.min(1, Math.max(FAINTEST, contrastOf(values, prefix) - 1));
