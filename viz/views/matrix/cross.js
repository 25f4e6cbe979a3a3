// The cross-hair at the pointer, above the painted matrix.

import { clipped } from "../../web/painting/lettering.js";
import { paintNames } from "../../web/painting/axis_labels.js";
import { placeOf } from "../../web/painting/viewport.js";

/** @import {Cell} from "../../web/types" */
/** @import {Context} from "../../web/painting/lettering.js" */
/** @import {Picture} from "../../web/painting/painter.js" */
/** @import {Layout} from "../../web/painting/viewport.js" */

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 * @param {Cell} cell at the pointer
 */
export function paintCross(context, layout, picture, cell) {
  const { left, top, width, height } = layout;
  const { view, theme } = picture;
  const { x, y, wide, tall } = placeOf(layout, view, cell);
  clipped(context, [left - 1, top - 1, width + 2, height + 2], () => {
    if (view.scale < 5) paintThinCross(context, layout, theme, x + wide / 2, y + tall / 2);
    else paintWideCross(context, layout, theme, [x, y, wide, tall]);
  });
  paintNames(context, layout, picture, cell);
}

function paintWideCross(context, { left, top, width, height }, theme, [x, y, wide, tall]) {
  /** @type {[string, number, number][]} */
  const strokes = [
    [theme.background, 3, 0.55],
    [theme.text, 1, 0.75],
  ];
  for (const [colour, thick, alpha] of strokes) {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.globalAlpha = alpha;
    context.strokeRect(left - 2, y, width + 4, tall);
    context.strokeRect(x, top - 2, wide, height + 4);
  }
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.strokeStyle = theme.primary;
  context.strokeRect(x, y, wide, tall);
}

/** Where cells are smaller than lines: two hairlines that leave the cell itself free. */
function paintThinCross(context, { left, top, width, height }, theme, x, y) {
  const free = 6;
  context.fillStyle = theme.text;
  context.globalAlpha = 0.75;
  context.fillRect(left, y - 0.5, x - free - left, 1);
  context.fillRect(x + free, y - 0.5, left + width - x - free, 1);
  context.fillRect(x - 0.5, top, 1, y - free - top);
  context.fillRect(x - 0.5, y + free, 1, top + height - y - free);
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = theme.primary;
  context.strokeRect(x - free, y - free, 2 * free, 2 * free);
}
