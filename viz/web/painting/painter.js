// Painting a matrix: cells, names, axes, colour scale.

import { legible } from "../core/labels.js";
import { fontOf, shortened, widthOf } from "./lettering.js";
import { paintAxes } from "./axis_labels.js";
import { paintCells, paintNumbers } from "./cells.js";
import { paintScale } from "./legend.js";
import { paintMarks } from "./marks.js";
import { longestLabel } from "./viewport.js";

/** @import {Context} from "./lettering.js" */
/** @import {Pixels} from "./cells.js" */
/** @import {HiddenSinks, Theme} from "../types" */
/** @import {Cells} from "../core/raster.js" */
/** @import {Scale} from "../text/scale.js" */
/** @import {Range} from "../text/span.js" */
/** @import {Layout, View} from "./viewport.js" */

/**
 * Everything that a picture shows.
 *
 * @typedef {object} Picture
 * @property {{part: Cells, table: Uint32Array}[]} parts coarse to fine
 * @property {Scale} scale
 * @property {ArrayLike<number> | null} [numbers] the weights in view, row by row, where cells have room for them
 * @property {HiddenSinks | null} sinks keys that are hidden
 * @property {View} view
 * @property {number | null} pinned
 * @property {boolean} inward whether the pinned token is a column
 * @property {{rows: Range, cols: Range} | null} absent a block that does not exist
 * @property {{query: ReadonlySet<number>, key: ReadonlySet<number>}} matches tokens searched for
 * @property {string[]} names model, layer, head
 * @property {string} note
 * @property {{query: string[], key: string[]}} labels
 * @property {Theme} theme
 * @property {string} family of the type
 */

/** @typedef {(context: Context, layout: Layout, picture: Picture) => void} Paint */

/**
 * The widths a layout depends on: of the longest label of each axis.
 *
 * @param {{query: string[], key: string[]}} labels
 * @param {{wide: number, unit: number, family: string}} sizes
 */
export function widthsOf(labels, { wide, unit, family }) {
  const font = fontOf(unit, family, 12);
  const longest = longestLabel(wide, unit);
  const widest = (all) => {
    let most = 0;
    for (const label of all) {
      most = Math.max(most, widthOf(font, legible(label)));
      if (most >= longest) return longest;
    }
    return most;
  };
  return {
    query: widest(labels.query),
    key: labels.key === labels.query ? widest(labels.query) : widest(labels.key),
    beside: farthest(labels.key.map((label) => widthOf(font, legible(label)))),
  };
}

const farthest = (/** @type {number[]} */ widths) =>
  widths.reduce((most, wide, i) => (i ? Math.max(most, (wide + widths[i - 1]) / 2) : most), 0);

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 * @param {number} ratio device pixels a CSS pixel has
 * @param {Pixels} [pixels] of the canvas
 */
export function paintPicture(context, layout, picture, ratio, pixels = {}) {
  context.fillStyle = picture.theme.background;
  context.fillRect(0, 0, layout.wide, layout.tall);
  paintNote(context, layout, picture);
  paintCells(context, layout, picture, ratio, pixels);
  paintNumbers(context, layout, picture);
  paintMarks(context, layout, picture);
  paintCaptions(context, layout, picture);
  paintAxes(context, layout, picture);
  if (layout.legend !== "none") paintScale(context, layout, picture);
}

/** @type {Paint} */
const paintNote = (context, layout, { note, theme, family }) => {
  if (!note) return;
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.font = fontOf(layout.unit, family, 12.5, 600);
  context.fillStyle = theme.primary;
  context.fillText(shortened(context, note, layout.wide), 0, 12 * layout.unit);
};

/** @type {Paint} */
const paintCaptions = (context, layout, { theme, family }) => {
  const { left, top, unit } = layout;
  context.fillStyle = theme.muted;
  context.font = fontOf(layout.unit, family, 11.5);
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillText("attended to (key) →", left, layout.noted + 14 * unit);
  context.textAlign = "right";
  context.fillText("attends ↓", left - 8 * unit, top - 7 * unit);
};
