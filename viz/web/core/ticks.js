// Ranges and ticks of the axes of a plot. Pure functions.

/** @import {Range} from "../types" */

const WIDENED = 0.5; // on either side of a single value
const CHEAP = 1 / 3; // an axis begins at zero where that adds at most this share to it
const NEAR = 0.1; // an axis ends at a bound of its number where that adds at most this share

/** The smallest and the largest of these values; null if there are none. */
function extremesOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values)
    if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low > high ? null : [low, high];
}

/**
 * The range of an axis over these values; null if there are none.
 *
 * @param {Iterable<number | null>} values null where there is no value
 * @param {{low: number | null, high: number | null}} [bounds] of the number by definition
 * @returns {[number, number] | null}
 */
export function rangeOf(values, bounds) {
  const extremes = extremesOf(values);
  if (!extremes) return null;
  let [low, high] = extremes;
  if (low === high) {
    const around = low === 0 ? 1 : Math.abs(low) * WIDENED;
    return [low - around, high + around];
  }
  const extent = high - low;
  if (low > 0 && low <= extent * CHEAP) low = 0;
  if (high < 0 && -high <= extent * CHEAP) high = 0;
  const { low: least = null, high: most = null } = bounds ?? {};
  if (least !== null && least < low && low - least <= extent * NEAR) low = least;
  if (most !== null && most > high && most - high <= extent * NEAR) high = most;
  return [low, high];
}

/**
 * Round numbers within a range: multiples of 1, 2 or 5 times a power of ten.
 *
 * @param {Range} range
 * @param {number} most at most so many
 */
export function ticksOf([low, high], most) {
  const rough = (high - low) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * (1 - 1e-9)) ?? 10;
  const step = factor * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  /** @type {{value: number, text: string}[]} */
  const ticks = [];
  for (let i = first; i <= last; i++) {
    const value = Number((i * step).toFixed(digits));
    ticks.push({ value, text: signed(value, digits) });
  }
  return ticks;
}

/**
 * A number with a true minus sign, and no sign before zero.
 *
 * @param {number} value
 * @param {number} digits after the point
 */
export function signed(value, digits) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/**
 * A probability in percent, of two digits.
 *
 * @param {number} share
 */
export function probability(share) {
  if (share < 0.0001) return "< 0.01\u00a0%";
  return `${share >= 0.0995 ? (100 * share).toFixed(0) : (100 * share).toPrecision(2)}\u00a0%`;
}

/**
 * A number in four figures, with a true minus sign.
 *
 * @param {number | null} value null: −∞
 */
export function figures(value) {
  if (value === null || value === -Infinity) return "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e4 || size < 1e-4 ? value.toExponential(2) : value.toPrecision(4);
  return text.replace(/-/g, "−");
}

/**
 * "12 %", and "0.3 %" below one.
 *
 * @param {number} share
 */
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1\u00a0%";
  return `${value.toFixed(value < 9.95 && value > 0 ? 1 : 0)}\u00a0%`;
}
