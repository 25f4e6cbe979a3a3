// Painting the thumbnail of one head.

import { colourAt, pixelOf } from "../core/colours.js";
import { draw } from "../core/raster.js";

/** @import {Part} from "../types" */

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
