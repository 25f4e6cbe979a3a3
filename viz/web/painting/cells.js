// The cells of a matrix, one pixel at a time.

import { textOn } from "../core/colours.js";
import { draw } from "../core/raster.js";
import { clipped, fontOf } from "./lettering.js";
import { isLabelled, placeOf, visible } from "./viewport.js";

/** @import {Context} from "./lettering.js" */
/** @import {Paint, Picture} from "./painter.js" */
/** @import {Layout} from "./viewport.js" */

const LEAST = 0.045; // of a weight whose number is written

/**
 * What is kept from one painting to the next: to allocate pixels takes as long as to draw them.
 *
 * @typedef {{image?: ImageData}} Pixels
 */

/** Transparent pixels. */
function transparent(context, wide, tall, pixels) {
  const { image } = pixels;
  if (image?.width !== wide || image.height !== tall)
    return (pixels.image = context.createImageData(wide, tall));
  image.data.fill(0);
  return image;
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 * @param {number} ratio device pixels a CSS pixel has
 * @param {Pixels} pixels
 */
export function paintCells(context, layout, { parts, view, theme }, ratio, pixels) {
  const { left, top, width, height } = layout;
  const [x, y] = [Math.round(left * ratio), Math.round(top * ratio)];
  const wide = Math.max(1, Math.round((left + width) * ratio) - x);
  const tall = Math.max(1, Math.round((top + height) * ratio) - y);
  const image = transparent(context, wide, tall, pixels);
  const target = new Uint32Array(image.data.buffer);
  const { row, col, rowScale, colScale } = view;
  const place = { row, col, scaleRow: rowScale * ratio, scaleCol: colScale * ratio };
  for (const { part, table } of parts) draw(target, wide, tall, part, table, place);
  context.putImageData(image, x, y);
  paintGaps(context, layout, view, theme);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
}

/** Thin lines of the ground between large cells. */
function paintGaps(context, layout, view, theme) {
  const { left, top, width, height } = layout;
  const { row, col, rowScale, colScale } = view;
  context.fillStyle = theme.background;
  context.globalAlpha = 0.55;
  if (isLabelled(layout, view, "key"))
    for (let i = Math.floor(col) + 1; (i - col) * colScale < width - 1; i++)
      context.fillRect(Math.round(left + (i - col) * colScale) - 0.5, top, 1, height);
  if (isLabelled(layout, view, "query"))
    for (let i = Math.floor(row) + 1; (i - row) * rowScale < height - 1; i++)
      context.fillRect(left, Math.round(top + (i - row) * rowScale) - 0.5, width, 1);
  context.globalAlpha = 1;
}

/** The weights in their cells, in percent; small ones are left to their colour. @type {Paint} */
export const paintNumbers = (context, layout, { numbers, scale, view, theme, family }) => {
  if (!numbers) return;
  const { left, top, width, height, unit } = layout;
  const { rows, cols } = visible(layout, view);
  context.font = fontOf(unit, family, Math.min(13, (0.72 * view.rowScale) / unit));
  context.textAlign = "center";
  context.textBaseline = "middle";
  clipped(context, [left, top, width, height], () => {
    for (let query = rows[0], i = 0; query < rows[1]; query++)
      for (let key = cols[0]; key < cols[1]; key++, i++) {
        if (numbers[i] < LEAST) continue;
        const { x, y, wide, tall } = placeOf(layout, view, { query, key });
        const at = 3 * Math.min(255, Math.round(255 * scale.place(numbers[i])));
        const [red, green, blue] = scale.ramp.subarray(at, at + 3);
        context.fillStyle = textOn([red, green, blue], theme.text);
        context.fillText((100 * numbers[i]).toFixed(0), x + wide / 2, y + tall / 2 + 0.06 * tall);
      }
  });
};
