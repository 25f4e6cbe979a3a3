// Ticks of an axis, and how numbers are written. Pure functions.

/** @import {Range} from "../types" */

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
