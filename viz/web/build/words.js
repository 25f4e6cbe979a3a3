// How numbers and shapes are written.

import { figures } from "../core/ticks.js";

const UNITS = ["", " k", " M", " G", " T"];

/**
 * Three digits and a unit: 1,234,567 → “1.23 M”.
 *
 * @param {number} value
 */
export function short(value) {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(value / 0.9995) / 3)));
  const rest = value / 1000 ** step;
  const digits = step === 0 || rest >= 99.95 ? 0 : rest >= 9.995 ? 1 : 2;
  return rest.toFixed(digits) + UNITS[step];
}

/** FLOPs of one pass: “1.43 MFLOP”. @param {number} count */
export const flopsOf = (count) => {
  const text = short(count);
  return `${text}${text.includes(" ") ? "" : " "}FLOP`;
};

/** “14 × 64”. @param {number[]} shape */
export const shapeOf = (shape) => shape.map((size) => size.toLocaleString("en")).join(" × ");

/** A number in a small cell: two digits after the point, or three in all. @param {number | null} value */
export const brief = (value) => {
  if (value === null || !Number.isFinite(value)) return "−∞";
  const size = Math.abs(value);
  const text =
    size >= 1000
      ? value.toExponential(1)
      : size >= 100
        ? value.toFixed(0)
        : size >= 10
          ? value.toFixed(1)
          : value.toFixed(2);
  return text.replace("-", "−");
};

/** A number of a matrix, as it is printed; a share in percent. @param {number} value @param {boolean} isShare */
export const printed = (value, isShare) => {
  if (!Number.isFinite(value)) return "−∞";
  if (isShare) return `${(100 * value).toFixed(1)} %`;
  return figures(value);
};
