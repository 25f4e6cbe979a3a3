// Weights over a picture, in colour or grey and dim: each patch in the colour of its weight, or
// what is not among the strongest patches darkened.

import { contextOf } from "./dom.js";

/** @import {ImageBase} from "../types" */

/** @typedef {CanvasRenderingContext2D} Context */

/**
 * The picture at a size in device pixels: in colour, and grey and dim as ground for weights.
 *
 * @param {ImageBitmap} bitmap
 * @param {number} width
 * @param {number} height
 */
export function grounds(bitmap, width, height) {
  const plain = sheet(width, height);
  const context = contextOf(plain, { willReadFrequently: true });
  context.imageSmoothingEnabled = width < bitmap.width || height < bitmap.height;
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  const image = context.getImageData(0, 0, width, height);
  const { data } = image;
  for (let i = 0; i < data.length; i += 4) {
    const grey = 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
    data[i] = data[i + 1] = data[i + 2] = 24 + 0.7 * grey;
  }
  const dim = sheet(width, height);
  contextOf(dim).putImageData(image, 0, 0);
  return { plain, dim };
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

/** @type {WeakMap<Uint8Array, Uint32Array>} tables of colours, by scale */
const veils = new WeakMap();

/**
 * The pixels of a scale. They darken what has little weight and cover what has much, so that every
 * pixel of a picture is the brighter the larger the weight.
 *
 * @param {Uint8Array} ramp
 */
export function veilOf(ramp) {
  const cached = veils.get(ramp);
  if (cached) return cached;
  const veil = new Uint32Array(256);
  for (let t = 0; t < 256; t++) {
    const alpha = 140 + ((t * 90) >> 8);
    veil[t] = (alpha << 24) | (ramp[3 * t + 2] << 16) | (ramp[3 * t + 1] << 8) | ramp[3 * t];
  }
  veils.set(ramp, veil);
  return veil;
}

/** @type {WeakMap<Uint8Array, Uint32Array>} */
const signedVeils = new WeakMap();

/**
 * The pixels of a scale on both sides of zero, which leaves the picture as it is.
 *
 * @param {Uint8Array} ramp
 */
export function signedVeilOf(ramp) {
  const cached = signedVeils.get(ramp);
  if (cached) return cached;
  const veil = new Uint32Array(256);
  for (let t = 0; t < 256; t++) {
    const alpha = Math.round(60 + (180 * Math.abs(t - 127.5)) / 127.5);
    veil[t] = ((alpha << 24) | (ramp[3 * t + 2] << 16) | (ramp[3 * t + 1] << 8) | ramp[3 * t]) >>> 0;
  }
  signedVeils.set(ramp, veil);
  return veil;
}

/**
 * Where a share of the largest change stands on a scale on both sides of zero, 0 to 1.
 *
 * @param {number} share
 */
export const signedLevelOf = (share) => 0.5 + (Math.sign(share) * Math.sqrt(Math.abs(share))) / 2;

/**
 * The same pixels, less opaque.
 *
 * @param {Uint32Array} table
 * @param {number} share of their opacity
 */
export const faded = (table, share) =>
  share === 1 ? table : table.map((pixel) => (Math.round((pixel >>> 24) * share) << 24) | (pixel & 0xffffff));

/**
 * Few pixels that the browser spreads over a picture: `image(across, down)` gives them, as numbers,
 * to be written, `show()` puts them on the canvas.
 *
 * @param {HTMLCanvasElement} canvas
 */
export function pixelsOf(canvas) {
  let image = new ImageData(1, 1);
  let pixels = new Uint32Array(image.data.buffer);
  return {
    /**
     * @param {number} across
     * @param {number} down
     */
    image(across, down) {
      if (canvas.width !== across || canvas.height !== down || image.width !== across || image.height !== down) {
        [canvas.width, canvas.height] = [across, down];
        image = new ImageData(across, down);
        pixels = new Uint32Array(image.data.buffer);
      }
      return pixels;
    },
    canvas,
    show: () => contextOf(canvas).putImageData(image, 0, 0),
  };
}

export const DECADES = 4; // of a logarithmic scale

/**
 * Where a share of the largest weight stands on the scale of colours, 0 to 1.
 *
 * @param {number} share
 * @param {boolean} log
 */
export function levelOf(share, log) {
  return log ? Math.max(0, 1 + Math.log10(share) / DECADES) : Math.sqrt(share);
}

/**
 * Writes one head's row into pixels: `side` × `side` for each patch, from `at` on, `stride` a line.
 * Patches of one cell have one colour; values has the prefix first.
 *
 * @param {Uint32Array} pixels
 * @param {{at?: number, stride: number, side?: number}} place
 * @param {Float32Array} values
 * @param {{base: Pick<ImageBase, "prefix" | "grid">, table: Uint32Array, log?: boolean, signed?: boolean}} picture the
 *   table has the pixel of each of 256 steps of `levelOf`
 * @param {number} factor
 * @param {number} top
 */
export function colourPatches(pixels, { at = 0, stride, side = 1 }, values, picture, factor, top) {
  const { prefix, grid } = picture.base;
  const { table, log = false, signed = false } = picture;
  const [rows, cols] = grid;
  const cells = Math.ceil(cols / factor);
  for (let row = 0; row < rows; row++) {
    const line = at + row * side * stride;
    const from = prefix + Math.floor(row / factor) * cells;
    for (let col = 0, to = line; col < cols; col++) {
      const value = values[from + (factor === 1 ? col : Math.floor(col / factor))];
      const level = signed ? signedLevelOf(value / top) : levelOf(value / top, log);
      const colour = table[Math.min(255, Math.round(255 * level))];
      for (const end = to + side; to < end; to++) pixels[to] = colour;
    }
    for (let more = 1; more < side; more++)
      pixels.copyWithin(line + more * stride, line, line + cols * side);
  }
}

const SHADE = 200 * 2 ** 24; // black, with this opacity, over a patch outside a mask

/**
 * Darkens the patches outside the mask: `side` × `side` pixels for each, as `colourPatches`.
 *
 * @param {Uint32Array} pixels
 * @param {{at?: number, stride: number, side?: number}} place
 * @param {boolean[]} mask of cells
 * @param {[number, number]} grid of patches
 * @param {number} factor patches along a cell's side
 */
export function shadePatches(pixels, { at = 0, stride, side = 1 }, mask, [rows, cols], factor) {
  const cells = Math.ceil(cols / factor);
  for (let row = 0; row < rows * side; row++)
    for (let col = 0; col < cols * side; col++) {
      const [down, across] = [row, col].map((place) => Math.floor(place / side / factor));
      pixels[at + row * stride + col] = mask[down * cells + across] ? 0 : SHADE;
    }
}

/**
 * Sizes a canvas in CSS pixels; its context then counts in them.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} wide
 * @param {number} tall
 */
export function fit(canvas, wide, tall) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
  const context = contextOf(canvas);
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    stretch(canvas, wide, tall);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/**
 * The size of an element in CSS pixels, whatever number of pixels it has.
 *
 * @param {HTMLElement} target
 * @param {number} wide
 * @param {number} tall
 */
export function stretch(target, wide, tall) {
  target.style.width = `${wide}px`;
  target.style.height = `${tall}px`;
}

/** @typedef {{across: number, down: number, grow: number, wide: number, tall: number}} Frame */

/**
 * A frame round a patch, as an element that is only ever moved; tiny patches get a larger one.
 *
 * @param {number} wide
 * @param {number} tall
 * @param {[number, number]} grid
 * @param {number} least CSS pixels of a frame
 * @returns {Frame}
 */
export function frameSize(wide, tall, [rows, cols], least) {
  const [across, down] = [wide / cols, tall / rows];
  const grow = Math.max(0, least - across) / 2;
  return { across, down, grow, wide: across + 2 * grow, tall: down + 2 * grow };
}

/**
 * Moves a frame to a patch; a token without a place has none.
 *
 * @param {HTMLElement} target
 * @param {number | undefined} token
 * @param {{base: Pick<ImageBase, "prefix">, place(token: number): [number, number]}} state
 * @param {Frame} frame
 */
export function moveFrame(target, token, state, { across, down, grow }) {
  const there = token !== undefined && token >= state.base.prefix;
  target.style.visibility = there ? "" : "hidden";
  if (!there) return;
  const [row, col] = state.place(token);
  target.style.transform = `translate(${col * across - grow}px, ${row * down - grow}px)`;
}

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
 * A remark in the lower right corner of a picture: it stays there when the picture is copied.
 *
 * @param {Context} context
 * @param {string} text
 * @param {number} wide
 * @param {number} tall
 * @param {string} font
 */
export function remark(context, text, wide, tall, font) {
  if (!text) return;
  context.font = font;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const [long, high] = [context.measureText(text).width + 12, 20];
  context.fillStyle = "rgba(10,12,18,.72)";
  context.fillRect(wide - long, tall - high, long, high);
  context.fillStyle = "#fff";
  context.fillText(text, wide - long + 6, tall - high / 2 + 1);
}
