// What the colours of a matrix mean: where a number stands on its scale, and how that is written; and the thumbnail of
// one head.

import { colourAt, parse, pixelOf } from "../core/colours.js";
import { draw } from "../core/raster.js";
import { valuesOf } from "./maps.js";

/** @import {Part, Theme} from "../types" */

/**
 * @typedef {object} Scale
 * @property {string} name of the numbers
 * @property {Uint8Array} ramp 256 colours of three bytes
 * @property {(value: number) => number} place of a number among the colours, 0 to 1
 * @property {{value: number, text: string}[]} ticks
 * @property {string} words
 * @property {boolean} masks whether cells are masked
 */

const TICKS = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1];

/** .05, 0.25 and 1 as short as can be; other numbers to three figures. */
function tidy(value) {
  if (TICKS.includes(value)) return String(value);
  return value.toPrecision(3).replace("-", "−");
}

/**
 * @param {Theme} theme
 * @param {number} top the weight of the last colour
 * @param {boolean} fitted whether that is the map's own largest
 * @param {string} [name] of the numbers
 * @returns {Scale}
 */
export function weightScale({ ramp }, top, fitted, name = "weight") {
  const range = fitted ? `from 0 to this map’s largest, ${tidy(top)}` : "fixed range 0 to 1";
  return {
    name,
    ramp,
    place: (value) => Math.sqrt(Math.max(0, value) / top),
    ticks: [...TICKS.filter((value) => value < top * 0.999), top].map((value) => ({
      value,
      text: tidy(value),
    })),
    words: `${range}; colour ∝ √${name}`,
    masks: false,
  };
}

/** @type {(name: string, ramp: Uint8Array, ends: [number, number], words: string, masks?: boolean) => Scale} */
const linear = (name, ramp, [low, high], words, masks = false) => ({
  ...{ name, ramp, words, masks },
  place: (value) => (value - low) / (high - low || 1),
  ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const value = low + share * (high - low);
    return { value, text: `${name === "change" && value > 0 ? "+" : ""}${value === 0 ? "0" : tidy(value)}` };
  }),
});

/**
 * On both sides of zero where there are scores on both, else from the least to the largest.
 *
 * @param {Theme} theme
 * @param {Pick<Part, "min" | "max" | "data">} part the whole map
 */
export function scoreScale({ ramp, bothWays }, { min, max, data }) {
  const words = `before the softmax; this map’s own: ${tidy(min)} to ${tidy(max)}`;
  const most = Math.max(-min, max);
  return min < 0 && max > 0
    ? linear("score", bothWays, [-most, most], words, data.includes(0))
    : linear("score", ramp, [min, max], words, data.includes(0));
}

/**
 * On both sides of zero, which has the colour in the middle: to the largest change of the map, or to ±1.
 *
 * @param {Theme} theme
 * @param {Pick<Part, "min" | "max">} part the whole map
 */
export function differenceScale({ bothWays }, { min, max }) {
  const most = Math.max(-min, max);
  const words = most
    ? `after − before; to this map’s largest change, ±${tidy(most)}`
    : "no weight of this map changed: edits of values act on later layers";
  return linear("change", bothWays, [-(most || 1), most || 1], words);
}

/**
 * The pixel of each byte of a part, as ImageData keeps them; masked cells have a colour of their own.
 *
 * @param {Part} part
 * @param {Scale} scale
 * @param {Theme} theme
 */
export function tableFor(part, { ramp, place }, { line }) {
  const masked = parse(line) ?? [128, 128, 128];
  return Uint32Array.from(valuesOf(part), (value) =>
    pixelOf(value === -Infinity ? masked : colourAt(ramp, place(value))),
  );
}

/**
 * @typedef {object} Thumbnail
 * @property {Pick<Part, "shape" | "stride" | "data" | "max">} part a whole map
 * @property {number} top the weight of the last colour
 * @property {Uint8Array} ramp
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Thumbnail} thumbnail
 * @param {{left: number, top: number, wide: number, high: number}} place device pixels
 */
export function paintThumbnail(context, { part, top, ramp }, { left, top: above, wide, high }) {
  const image = context.createImageData(wide, high);
  const [rows, cols] = part.shape;
  const scale = Math.sqrt(part.max / top) / 255;
  const table = Uint32Array.from({ length: 256 }, (_, q) => pixelOf(colourAt(ramp, q * scale)));
  const view = { row: 0, col: 0, scaleRow: high / rows, scaleCol: wide / cols };
  /** @type {import("../core/raster.js").Cells} */
  const cells = { ...part, rows: [0, rows], cols: [0, cols] };
  draw(new Uint32Array(image.data.buffer), wide, high, cells, table, view);
  context.putImageData(image, left, above);
}
