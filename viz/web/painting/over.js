// Numbers over a picture: each cell of a grid in the colour of its number, over the picture in its own
// colours, or grey and dim.

import { contextOf } from "../core/dom.js";
import { extentOf, joined } from "../core/grids.js";

/** @import {Sides} from "../core/grids.js" */
/** @import {TokenGrid} from "../types" */

/** @typedef {CanvasRenderingContext2D} Context */
/** @typedef {{wide: number, tall: number, ratio: number, family: string}} Size in CSS pixels; device pixels of one */
/** @typedef {{sides: Sides | null, kind: "chosen" | "read" | "answer"}} Frame */

/**
 * What is painted.
 *
 * @typedef {object} Scene
 * @property {ImageBitmap} bitmap
 * @property {boolean} coloured whether the picture has its own colours
 * @property {{grid: TokenGrid, pixels: Uint32Array}[]} layers a pixel for each cell
 * @property {Frame[]} [frames]
 * @property {(context: Context, width: number, height: number, ratio: number) => void} [above] in device pixels
 * @property {string} [note] in the lower right corner: it stays there when the picture is copied
 */

const LEAST = 9; // CSS pixels of a frame
const COLOURS = { chosen: "#fff", read: "#ffd54a", answer: "#fff" };

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

/**
 * A canvas of a size in pixels.
 *
 * @param {number} width
 * @param {number} height
 */
export function sheet(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, width);
  canvas.height = Math.max(1, height);
  return canvas;
}

/**
 * The picture at a size in device pixels: as it is, or grey and dim as ground for numbers.
 *
 * @param {ImageBitmap} bitmap
 * @param {Pick<Size, "wide" | "tall" | "ratio">} size
 * @param {boolean} coloured
 */
export function groundOf(bitmap, { wide, tall, ratio }, coloured) {
  const canvas = sheet(Math.round(wide * ratio), Math.round(tall * ratio));
  const context = contextOf(canvas, { willReadFrequently: !coloured });
  context.imageSmoothingEnabled = canvas.width < bitmap.width || canvas.height < bitmap.height;
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  if (coloured) return canvas;
  const image = context.getImageData(0, 0, canvas.width, canvas.height);
  const { data } = image;
  for (let i = 0; i < data.length; i += 4) {
    const grey = 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
    data[i] = data[i + 1] = data[i + 2] = 24 + 0.7 * grey;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Paints a scene, from the context's origin.
 *
 * @param {Context} context
 * @param {Scene} scene
 * @param {Size} size
 * @param {HTMLCanvasElement} ground of that size
 * @param {HTMLCanvasElement} scratch whose content may change
 */
export function paintOver(context, scene, { wide, tall, ratio, family }, ground, scratch) {
  const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
  const { layers, frames = [], above, note } = scene;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(ground, 0, 0, width, height);
  const grids = layers.map(({ grid }) => grid);
  if (grids.length) shadeUnseen(context, grids, width, height);
  const across = joined(grids.flatMap(({ box }) => [box[0], box[2]]));
  const down = joined(grids.flatMap(({ box }) => [box[1], box[3]]));
  context.imageSmoothingEnabled = false;
  for (const { grid, pixels } of layers) {
    const [rows, cols] = grid.shape;
    [scratch.width, scratch.height] = [cols, rows];
    const bytes = new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.byteLength);
    contextOf(scratch).putImageData(new ImageData(/** @type {any} */ (bytes), cols, rows), 0, 0);
    const sides = grid.box.map((side, i) => (i % 2 ? down : across).get(side) ?? side);
    const [left, top, right, bottom] = sides.map((side, i) => Math.round(side * (i % 2 ? height : width)));
    context.drawImage(scratch, left, top, right - left, bottom - top);
  }
  above?.(context, width, height, ratio);
  for (const frame of frames) paintFrame(context, frame, width, height, ratio);
  if (note) remark(context, note, width, height, ratio, family);
}

/** Darkens what the model does not see. */
function shadeUnseen(context, grids, width, height) {
  const [left, top, right, bottom] = extentOf(grids).map((side, i) => side * (i % 2 ? height : width));
  context.fillStyle = "rgba(0, 0, 0, 0.72)";
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.fillRect(left, 0, right - left, top);
  context.fillRect(left, bottom, right - left, height - bottom);
}

function paintFrame(context, { sides, kind }, width, height, ratio) {
  if (!sides) return;
  const [left, top, right, bottom] = sides.map((side, i) => side * (i % 2 ? height : width));
  const grow = Math.max(0, LEAST * ratio - (right - left)) / 2;
  for (const [colour, thick] of [
    ["#000", 4],
    [COLOURS[kind], 2],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = thick * ratio;
    context.beginPath();
    context.setLineDash(kind === "answer" ? [3 * ratio, 3 * ratio] : []);
    context.rect(left - grow, top - grow, right - left + 2 * grow, bottom - top + 2 * grow);
    context.stroke();
  }
  context.setLineDash([]);
}

function remark(context, text, width, height, ratio, family) {
  context.font = `600 ${12 * ratio}px ${family}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const [long, high] = [context.measureText(text).width + 12 * ratio, 20 * ratio];
  context.fillStyle = "rgba(10, 12, 18, 0.72)";
  context.fillRect(width - long, height - high, long, high);
  context.fillStyle = "#fff";
  context.fillText(text, width - long + 6 * ratio, height - high / 2 + ratio);
}

/** @typedef {{ramp: Uint8Array, numberAt: (share: number) => string, words: string}} Ramp a scale of colours */
/** @typedef {{wide: number, unit: number, family: string, colour: string}} Look */

/**
 * A scale of colours with numbers below it and words beside it, at the context's origin.
 *
 * @param {Context} context
 * @param {Ramp} scale
 * @param {Look} look
 */
export function paintRamp(context, { ramp, numberAt, words }, { wide, unit, family, colour }) {
  const long = Math.min(wide, 360 * Math.max(1, unit));
  const gradient = context.createLinearGradient(0, 0, long, 0);
  for (let i = 0; i < 256; i += 5)
    gradient.addColorStop(i / 255, `rgb(${ramp[3 * i]},${ramp[3 * i + 1]},${ramp[3 * i + 2]})`);
  context.fillStyle = gradient;
  context.fillRect(0, 6 * unit, long, 10 * unit);
  context.font = `${11 * unit}px ${family}`;
  context.fillStyle = colour;
  context.textBaseline = "top";
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    context.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
    context.fillText(numberAt(share), share * long, 18 * unit);
  }
  context.textAlign = "left";
  if (long + context.measureText(words).width + 10 < wide) context.fillText(words, long + 10, 6 * unit);
}
