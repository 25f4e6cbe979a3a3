// Colours of numbers over a picture, which shines through: tables of pixels, and the numbers they stand for.

/**
 * The pixels of a scale of weights. They darken what has little and cover what has much, so that every
 * pixel of a picture is the brighter the larger the weight.
 *
 * @param {Uint8Array} ramp
 */
export const veilOf = (ramp) => tableOf(ramp, (step) => 140 + ((step * 90) >> 8));

/**
 * The pixels of a scale on both sides of zero, which leaves the picture as it is.
 *
 * @param {Uint8Array} ramp
 */
export const signedVeilOf = (ramp) =>
  tableOf(ramp, (step) => Math.round(60 + (180 * Math.abs(step - 127.5)) / 127.5));

const tableOf = (ramp, alphaOf) =>
  Uint32Array.from({ length: 256 }, (_, step) => {
    const [red, green, blue] = ramp.subarray(3 * step, 3 * step + 3);
    return (alphaOf(step) << 24) | (blue << 16) | (green << 8) | red;
  });

/**
 * The same pixels, less opaque.
 *
 * @param {Uint32Array} table
 * @param {number} share of their opacity
 */
export const faded = (table, share) =>
  table.map((pixel) => (Math.round((pixel >>> 24) * share) << 24) | (pixel & 0xffffff));

/**
 * Where a share of the largest change stands on a scale on both sides of zero, 0 to 1.
 *
 * @param {number} share
 */
export const signedLevelOf = (share) => 0.5 + (Math.sign(share) * Math.sqrt(Math.abs(share))) / 2;

/**
 * The number at a share of a scale's length, as text.
 *
 * @param {number} top
 * @param {"root" | "signed"} kind
 * @returns {(share: number) => string}
 */
export const numbersOf = (top, kind) => (share) => {
  if (kind === "root") return tidy(top * share ** 2);
  const value = top * Math.sign(2 * share - 1) * (2 * share - 1) ** 2;
  return `${value > 0 ? "+" : ""}${tidy(value).replace("-", "−")}`;
};

/**
 * 0.05 for large weights, two figures for small ones.
 *
 * @param {number} value
 */
export function tidy(value) {
  if (value === 0 || value === 1) return String(value);
  return Math.abs(value) >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
}

/**
 * A pixel for each number.
 *
 * @param {ArrayLike<number>} values
 * @param {object} scale
 * @param {Uint32Array} scale.table the pixel of each of 256 steps
 * @param {number} scale.top the number of the last one
 * @param {"root" | "signed"} [scale.kind]
 */
export function pixelsOf(values, { table, top, kind = "root" }) {
  const signed = kind === "signed";
  return Uint32Array.from(values, (value) => {
    const level = signed ? signedLevelOf(value / top) : Math.sqrt(value / top);
    return table[Math.min(255, Math.round(255 * level))];
  });
}
