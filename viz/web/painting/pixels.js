// Numbers as cells of a grid: a pixel each on a canvas, which its style enlarges; and the colours of numbers over a
// picture, which shines through, with the numbers they stand for.

import { colourAt, levelOf, parse, pixelOf } from "../core/colours.js";
import { contextOf } from "../core/dom.js";
import { html } from "../core/html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {Theme} from "../types" */

/**
 * @param {{pixels: Uint32Array, across: number} & Record<string, unknown>} props across: pixels of a row; the last row
 *   may have fewer
 */
export function Pixels({ pixels, across, ...others }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const down = Math.ceil(pixels.length / across);
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const image = new ImageData(across, down);
    new Uint32Array(image.data.buffer).set(pixels);
    contextOf(canvas.current).putImageData(image, 0, 0);
  }, [pixels, across]);
  return html`<canvas class="hs-pixels" width=${across} height=${down} ref=${canvas} ...${others} />`;
}

/**
 * Colours of shares from 0 to 1, or of numbers up to the largest on both sides of zero; what is masked has that of lines.
 *
 * @param {Float32Array} values
 * @param {boolean} isShare
 * @param {Theme} theme
 */
export function pixelsOfMatrix(values, isShare, { ramp, bothWays, line }) {
  const masked = parse(line) ?? [128, 128, 128];
  const most = values.reduce((top, x) => (Number.isFinite(x) ? Math.max(top, Math.abs(x)) : top), 1e-12);
  const colour = (value) =>
    isShare ? colourAt(ramp, Math.sqrt(Math.max(0, value))) : colourAt(bothWays, 0.5 + value / (2 * most));
  return Uint32Array.from(values, (value) => pixelOf(Number.isFinite(value) ? colour(value) : masked));
}

const EVEN = 1.25; // of largest to mean weight, below which a map is nearly uniform
const FAINTEST = 0.15; // share of the colours that is left of a uniform map

/** How far weights on patches are from equal: the largest over their mean, 1 for equal ones. */
function contrastOf(values) {
  let [sum, most] = [0, 0];
  for (const value of values) {
    sum += value;
    if (value > most) most = value;
  }
  return sum ? (most * values.length) / sum : 1;
}

/** @type {(values: ArrayLike<number> & Iterable<number>) => boolean} */
export const nearlyUniform = (values) => contrastOf(values) < EVEN;

/** The opacity that a map keeps: a uniform one leaves the picture visible. @type {(values: ArrayLike<number> & Iterable<number>) => number} */
export const fadeOf = (values) => Math.min(1, Math.max(FAINTEST, contrastOf(values) - 1));

/**
 * A pixel for each number. Weights darken where there is little and cover where there is much, so that every pixel of
 * the picture is the brighter the larger the weight; a signed scale leaves the picture as it is at zero.
 *
 * @param {ArrayLike<number>} values
 * @param {{ramp: Uint8Array, top: number, isSigned?: boolean, opacity?: number}} scale top: the number of the last colour
 */
export function pixelsOf(values, { ramp, top, isSigned = false, opacity = 1 }) {
  const table = Array.from({ length: 256 }, (_, step) => {
    const alpha = isSigned ? 60 + (180 * Math.abs(step - 127.5)) / 127.5 : 140 + ((step * 90) >> 8);
    return pixelOf(colourAt(ramp, step / 255), Math.round(Math.round(alpha) * opacity));
  });
  return Uint32Array.from(
    values,
    (value) => table[Math.min(255, Math.round(255 * levelOf(value, top, isSigned)))],
  );
}

/**
 * The number at a share of a scale's length, as text.
 *
 * @type {(top: number, isSigned?: boolean) => (share: number) => string}
 */
export const numbersOf = (top, isSigned) => (share) => {
  if (!isSigned) return tidy(top * share ** 2);
  const value = top * Math.sign(2 * share - 1) * (2 * share - 1) ** 2;
  return `${value > 0 ? "+" : ""}${tidy(value).replace("-", "−")}`;
};

/** 0.05 for large weights, two figures for small ones. @param {number} value */
export function tidy(value) {
  if (value === 0 || value === 1) return String(value);
  return Math.abs(value) >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
}
