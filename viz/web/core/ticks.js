// Ticks of an axis, and how numbers and means with intervals are written. Pure functions.

/** @import {CorpusMean, Range} from "../types" */

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

/** A probability in percent, of two digits. @param {number} share */
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

/** "12 %", and "0.3 %" below one. @param {number} share */
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1\u00a0%";
  return `${value.toFixed(value < 9.95 && value > 0 ? 1 : 0)}\u00a0%`;
}

const MOST_DIGITS = 4; // after the point
const SKEWED = 0.2; // of its half width, how far the middle of an interval is from the mean for "±"

/**
 * "0.71 ± 0.01", or near a bound "0.98 (0.94 to 1.00)": a mean with its 95 % interval, with as many
 * digits as that allows.
 *
 * @param {Pick<CorpusMean, "mean" | "low" | "high">} mean
 */
export function intervalOf({ mean, low, high }) {
  if (low === null || high === null) return signed(mean, 3);
  const half = (high - low) / 2;
  const digits = half > 0 ? Math.min(MOST_DIGITS, Math.max(0, 1 - Math.floor(Math.log10(half)))) : 3;
  if (half >= 10 ** -MOST_DIGITS && Math.abs(high + low - 2 * mean) > SKEWED * 2 * half)
    return `${signed(mean, digits)} (${signed(low, digits)} to ${signed(high, digits)})`;
  const least = 10 ** -MOST_DIGITS;
  const error = half > 0 && half < least / 2 ? `< ${least.toFixed(MOST_DIGITS)}` : half.toFixed(digits);
  return `${signed(mean, digits)} ± ${error}`;
}
