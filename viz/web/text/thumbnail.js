// Painting the thumbnail of one head.

import { tableOf } from "../core/colours.js";
import { contextOf, element } from "../core/dom.js";
import { draw } from "../core/raster.js";

/** @import {Part, Theme} from "../types" */
/** @import {Spot} from "../core/head_numbers.js" */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Part} part a whole map
 * @param {Theme} theme
 * @param {number} top the weight of the last colour
 * @param {{x: number, y: number, pixels: number, wide?: number}} place device pixels; wide where it is no square
 */
export function paintThumbnail(context, part, theme, top, { x, y, pixels, wide: across = pixels }) {
  const image = context.createImageData(across, pixels);
  const [high, wide] = part.shape;
  /** @type {Part} */
  const small = { ...part, rows: [0, high], cols: [0, wide] };
  const table = tableOf(theme.ramp, part.max, top);
  const view = { row: 0, col: 0, scaleRow: pixels / high, scaleCol: across / wide };
  draw(new Uint32Array(image.data.buffer), across, pixels, small, table, view);
  context.putImageData(image, x, y);
}

/**
 * A canvas with a head's thumbnail; null where it has not come.
 *
 * @param {{maps: {thumb(site: number, head: number): Part | null}, top(part: Part): number}} state
 * @param {Spot} spot
 * @param {number} size CSS pixels
 * @param {Theme} theme
 */
export function thumbnail(state, { site, head }, size, theme) {
  const part = state.maps.thumb(site, head);
  if (!part) return null;
  const pixels = Math.round(size * (devicePixelRatio || 1));
  const canvas = element("canvas", "hs-thumb", { width: String(pixels), height: String(pixels) });
  canvas.style.width = canvas.style.height = `${size}px`;
  paintThumbnail(contextOf(canvas), part, theme, state.top(part), { x: 0, y: 0, pixels });
  return canvas;
}
