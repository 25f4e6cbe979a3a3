// The values a slider can have. Pure functions.

/**
 * @typedef {object} Range
 * @property {number} min
 * @property {number} max
 * @property {number} step
 * @property {number[]} [allowed] the only values there are, in rising order
 */

/**
 * How many digits after the point a step needs.
 *
 * @param {number} step
 */
export function digitsOf(step) {
  const [number, exponent = "0"] = String(step).split("e");
  const digits = (number.split(".")[1] ?? "").length - Number(exponent);
  return Math.min(Math.max(0, digits), 12);
}

/**
 * The nearest value there is; of two equally near ones the lower.
 *
 * @param {Range} range
 * @param {number} wanted
 */
export function nearest({ min, max, step, allowed }, wanted) {
  if (allowed?.length)
    return allowed.reduce((best, value) =>
      Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best,
    );
  const steps = Math.round((Math.min(Math.max(wanted, min), max) - min) / step);
  const value = Math.min(min + steps * step, min + Math.floor((max - min) / step + 1e-9) * step);
  return Number(value.toFixed(digitsOf(step)));
}

/**
 * The value a number of steps away, or the last one in that direction.
 *
 * @param {Range} range
 * @param {number} value
 * @param {number} by
 */
export function stepped(range, value, by) {
  const { step, allowed } = range;
  if (!allowed?.length) return nearest(range, value + by * step);
  const place = allowed.indexOf(nearest(range, value));
  return allowed[Math.min(Math.max(0, place + by), allowed.length - 1)];
}

/**
 * How many steps a page is: a tenth of all.
 *
 * @param {Range} range
 */
export function pageOf({ min, max, step, allowed }) {
  const steps = allowed?.length ? allowed.length - 1 : (max - min) / step;
  return Math.max(1, Math.round(steps / 10));
}

/**
 * The first and the last value.
 *
 * @param {Range} range
 */
export function endsOf(range) {
  const { min, max, allowed } = range;
  if (allowed?.length) return { first: allowed[0], last: allowed[allowed.length - 1] };
  return { first: min, last: nearest(range, max) };
}

/**
 * Where a value stands on the track, from 0 to 1.
 *
 * @param {Range} range
 * @param {number} value
 */
export const shareOf = ({ min, max }, value) =>
  max > min ? Math.min(1, Math.max(0, (value - min) / (max - min))) : 0;
