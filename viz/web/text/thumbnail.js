// Painting the thumbnail of one head.

import { tableOf } from "../core/colours.js";
import { draw } from "../core/raster.js";

/** @import {Part, Theme} from "../types" */

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
