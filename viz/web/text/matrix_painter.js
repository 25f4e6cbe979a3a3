// Painting a matrix: cells, names, axes, colour scale, and the cross-hair above them.

import { contextOf, element } from "../core/dom.js";
import { legible } from "../core/labels.js";
import { draw } from "../core/raster.js";
import { isTimed, paintAxes, paintNames } from "./axis_labels.js";
import { LINE_TYPE, longestLine } from "./label_lines.js";
import { clipped, fontOf, shortened, widthOf } from "./lettering.js";
import { isLabelled, longestLabel, placeOf, scaleOf, tokensPerLine, visible } from "./viewport.js";

/** @import {Cell, HiddenSinks, Theme} from "../types" */
/** @import {Cells} from "../core/raster.js" */
/** @import {Scale} from "./scale.js" */
/** @import {Range} from "./span.js" */
/** @import {Layout, View} from "./viewport.js" */

const MARGIN = 32; // round a saved picture

/**
 * Everything a picture shows.
 *
 * @typedef {object} Picture
 * @property {{part: Cells, table: Uint32Array}[]} parts coarse to fine
 * @property {Scale} scale
 * @property {HiddenSinks | null} sinks keys that are hidden
 * @property {View} view
 * @property {number | null} pinned
 * @property {boolean} inward whether the pinned token is a column
 * @property {{rows: Range, cols: Range} | null} absent a block that does not exist
 * @property {{first: number, keys: number[][]} | null} marks the strongest keys of each row
 * @property {{query: ReadonlySet<number>, key: ReadonlySet<number>}} matches tokens searched for
 * @property {number[]} important tokens of the other axis, most important first
 * @property {string[]} names model, layer, head
 * @property {string} note
 * @property {{query: string[], key: string[]}} labels
 * @property {Theme} theme
 * @property {string} family of the type
 */

/** @typedef {CanvasRenderingContext2D} Context */

/**
 * The widths a layout depends on: of the longest label of each axis, and of the title.
 *
 * @param {{query: string[], key: string[]}} labels
 * @param {string[]} names
 * @param {{wide: number, unit: number, family: string}} sizes
 */
export function widthsOf(labels, names, { wide, unit, family }) {
  const font = fontOf(unit, family, 12);
  const longest = longestLabel(wide, unit);
  /** @param {string[]} all */
  const widest = (all) => {
    let most = 0;
    for (const label of all) {
      most = Math.max(most, widthOf(font, legible(label)));
      if (most >= longest) return longest;
    }
    return most;
  };
  const title = fontOf(unit, family, 15, 600);
  const small = fontOf(unit, family, LINE_TYPE);
  /** @type {(axis: "query" | "key", count: number) => number} */
  const line = (axis, count) => longestLine(labels[axis].map((label) => widthOf(small, legible(label))), count, unit);
  return {
    query: widest(labels.query),
    key: labels.key === labels.query ? widest(labels.query) : widest(labels.key),
    title: widthOf(title, names.join(" · ")),
    ...(isTimed(labels.query) || isTimed(labels.key) ? {} : { line }), // some moments name the others
  };
}

// ---- the picture

/**
 * Sizes a canvas for the layout; its context then counts in CSS pixels.
 *
 * @param {HTMLCanvasElement} target
 * @param {Layout} layout
 * @param {number} ratio device pixels a CSS pixel has
 */
export function fit(target, { wide, tall }, ratio) {
  target.style.width = `${wide}px`;
  target.style.height = `${tall}px`;
  const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
  if (target.width !== width || target.height !== height)
    [target.width, target.height] = [width, height];
  const context = contextOf(target);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/**
 * The picture alone, twice as fine and with a margin.
 *
 * @param {Layout} layout
 * @param {Picture} picture
 */
export function fileOf(layout, picture) {
  const [file, fine] = [element("canvas"), element("canvas")];
  const margin = 2 * Math.round(MARGIN * layout.unit);
  file.width = Math.round(2 * layout.wide) + 2 * margin;
  file.height = Math.round(2 * layout.tall) + 2 * margin;
  paintPicture(fit(fine, layout, 2), layout, picture, 2);
  const context = contextOf(file);
  context.fillStyle = picture.theme.background;
  context.fillRect(0, 0, file.width, file.height);
  context.drawImage(fine, margin, margin);
  return file;
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 * @param {number} ratio device pixels a CSS pixel has
 */
export function paintPicture(context, layout, picture, ratio) {
  const { theme } = picture;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, layout.wide, layout.tall);
  paintTitle(context, layout, picture);
  paintCells(context, layout, picture, ratio);
  if (picture.sinks) paintSinks(context, layout, picture, picture.sinks);
  paintAbsent(context, layout, picture);
  paintMarks(context, layout, picture);
  paintPinned(context, layout, picture);
  paintCaptions(context, layout, picture);
  paintAxes(context, layout, picture);
  paintScale(context, layout, picture);
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
function paintTitle(context, layout, { names, note, theme, family }) {
  const { unit, wide, together } = layout;
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillStyle = theme.text;
  context.font = fontOf(layout.unit, family, 15, 600);
  const lines = together ? [names.join(" · ")] : [names[0], names.slice(1).join(" · ")];
  lines.forEach((line, i) =>
    context.fillText(shortened(context, line, wide), 0, (15 + 20 * i) * unit),
  );
  if (!note) return;
  context.font = fontOf(layout.unit, family, 12.5, 600);
  context.fillStyle = theme.primary;
  context.fillText(shortened(context, note, wide), 0, layout.title + 12 * unit);
}

/** @type {WeakMap<HTMLCanvasElement, ImageData>} pixels, kept: to allocate them takes as long as to draw */
const pixels = new WeakMap();

/**
 * Transparent pixels for a canvas.
 *
 * @param {Context} context
 * @param {number} wide
 * @param {number} tall
 */
function pixelsOf(context, wide, tall) {
  const { canvas } = context;
  const before = pixels.get(canvas);
  if (before?.width === wide && before.height === tall) {
    before.data.fill(0);
    return before;
  }
  const image = context.createImageData(wide, tall);
  pixels.set(canvas, image);
  return image;
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 * @param {number} ratio
 */
function paintCells(context, layout, { parts, view, theme }, ratio) {
  const { left, top, width, height } = layout;
  const [x, y] = [Math.round(left * ratio), Math.round(top * ratio)];
  const wide = Math.max(1, Math.round((left + width) * ratio) - x);
  const tall = Math.max(1, Math.round((top + height) * ratio) - y);
  const image = pixelsOf(context, wide, tall);
  const target = new Uint32Array(image.data.buffer);
  const place = { row: view.row, col: view.col, scaleRow: view.rowScale * ratio, scaleCol: view.colScale * ratio };
  for (const { part, table } of parts) draw(target, wide, tall, part, table, place);
  context.putImageData(image, x, y);
  paintGaps(context, layout, view, theme);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
}

/**
 * Thin lines of the ground between large cells.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {View} view
 * @param {Theme} theme
 */
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

/**
 * Hidden columns, hatched, and beside each row a bar of the share that went to them.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 * @param {HiddenSinks} sinks
 */
function paintSinks(context, layout, { view, theme, family }, { keys, shares }) {
  const { left, top, width, height, unit } = layout;
  const { rowScale, colScale, row, col } = view;
  clipped(context, [left, top, width, height], () => {
    for (const key of keys) {
      const x = left + (key - col) * colScale;
      context.fillStyle = theme.background;
      context.fillRect(x, top, colScale, height);
      clipped(context, [x, top, colScale, height], () => hatch(context, theme, x, top, colScale, height));
    }
  });
  const [first, end] = visible(layout, view).rows;
  const step = Math.max(1, Math.floor(1 / rowScale));
  const [from, long] = [left + width + 6 * unit, 36 * unit];
  context.fillStyle = theme.surface;
  context.fillRect(from, top, long, height);
  clipped(context, [from, top, long, height], () => {
    context.fillStyle = theme.muted;
    for (let i = first; i < end; i += step) {
      const tall = Math.max(1, rowScale * step * 0.8);
      const middle = top + (i + 0.5 * step - row) * rowScale;
      context.fillRect(from, middle - tall / 2, long * shares[i], tall);
    }
  });
  context.font = fontOf(unit, family, 9.5);
  context.fillStyle = theme.muted;
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillText("hidden", from, top + height + 11 * unit);
}

/**
 * A block of pairs that do not exist, hatched.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
function paintAbsent(context, { left, top, width, height }, { view, theme, absent }) {
  if (!absent) return;
  const { row, col, rowScale, colScale } = view;
  const [x, y] = [left + (absent.cols[0] - col) * colScale, top + (absent.rows[0] - row) * rowScale];
  const wide = (absent.cols[1] - absent.cols[0]) * colScale;
  const tall = (absent.rows[1] - absent.rows[0]) * rowScale;
  const [from, to] = [Math.max(x, left), Math.min(x + wide, left + width)];
  const [above, below] = [Math.max(y, top), Math.min(y + tall, top + height)];
  if (to <= from || below <= above) return;
  context.fillStyle = theme.background;
  context.fillRect(from, above, to - from, below - above);
  clipped(context, [from, above, to - from, below - above], () =>
    hatch(context, theme, from, above, to - from, below - above),
  );
}

/**
 * A dot in the cell of each row's strongest keys, where cells are large enough.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
function paintMarks(context, layout, { view, theme, marks }) {
  if (!marks || view.scale < 5) return;
  const { left, top, width, height } = layout;
  const radius = Math.min(4, view.scale / 5);
  clipped(context, [left, top, width, height], () => {
    marks.keys.forEach((keys, i) => {
      for (const key of keys) {
        const { x, y, wide, tall } = placeOf(layout, view, { query: marks.first + i, key });
        context.beginPath();
        context.arc(x + wide / 2, y + tall / 2, radius, 0, 2 * Math.PI);
        context.fillStyle = theme.background;
        context.fill();
        context.lineWidth = 1.5;
        context.strokeStyle = theme.text;
        context.stroke();
      }
    });
  });
}

/**
 * @param {Context} context
 * @param {Theme} theme
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function hatch(context, theme, x, y, width, height) {
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = y - width; at < y + height + width; at += 5) {
    context.moveTo(x, at + width);
    context.lineTo(x + width, at);
  }
  context.stroke();
}

/**
 * The chosen token's row (or column): a bar at the edge, and a frame where cells are large.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
function paintPinned(context, layout, { view, pinned, inward, theme }) {
  if (pinned === null) return;
  const { left, top, width, height, unit } = layout;
  const scale = scaleOf(view, inward ? "key" : "query");
  const start = (pinned - (inward ? view.col : view.row)) * scale;
  if (start < -0.5 || start > (inward ? width : height) - 0.5) return;
  const side = Math.max(scale, 2);
  const bar = 3 * unit;
  context.fillStyle = context.strokeStyle = theme.primary;
  if (inward) context.fillRect(left + start, top - bar - 1, side, bar);
  else context.fillRect(left - bar - 1, top + start, bar, side);
  if (scale < 5) return;
  context.save();
  context.beginPath();
  context.rect(left - 1, top - 1, width + 2, height + 2);
  context.clip();
  context.lineWidth = 1.5;
  if (inward) context.strokeRect(left + start, top, side, height);
  else context.strokeRect(left, top + start, width, side);
  context.restore();
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
function paintCaptions(context, layout, { view, labels, theme, family }) {
  const { left, top, unit } = layout;
  context.fillStyle = theme.muted;
  context.font = fontOf(layout.unit, family, 11.5);
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  const line = layout.title + layout.noted + 14 * unit;
  const count = tokensPerLine(layout, view);
  const notes = count === null ? [] : [` · each line of labels names ${count} tokens in order`, ` · ${count} tokens a line`];
  const caption = `key: the ${isTimed(labels.key) ? "moment" : "token"} attended to →`;
  const fits = (/** @type {string} */ note) => context.measureText(caption + note).width <= layout.wide - left;
  context.fillText(caption + (notes.find(fits) ?? ""), left, line);
  context.textAlign = "right";
  ["query: the", `${isTimed(labels.query) ? "moment" : "token"} that`, "attends ↓"].forEach((text, i) =>
    context.fillText(text, left - 8 * unit, top - (39 - 14 * i) * unit),
  );
}

/**
 * Tokens that a drag along the labels would choose, as a band over the picture.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Pick<Picture, "view" | "theme">} picture
 * @param {import("../types").Axis} axis
 * @param {Range} range
 */
export function paintBand(context, { left, top, width, height }, { view, theme }, axis, range) {
  const [from, to] = range.map((i) => (i - (axis === "query" ? view.row : view.col)) * scaleOf(view, axis));
  context.fillStyle = theme.primary;
  context.globalAlpha = 0.25;
  if (axis === "query") context.fillRect(0, top + from, left + width, to - from);
  else context.fillRect(left + from, 0, to - from, top + height);
  context.globalAlpha = 1;
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
function paintScale(context, layout, { theme, scale, view, family }) {
  const { left, width, unit, scaleTop, wide } = layout;
  const length = Math.min(Math.max(width, 200 * unit), 300 * unit, wide - left - 12 * unit);
  const { ramp: colours, ticks, words, place } = scale;
  const ramp = context.createLinearGradient(left, 0, left + length, 0);
  for (let i = 0; i < 256; i += 5)
    ramp.addColorStop(i / 255, `rgb(${colours[3 * i]},${colours[3 * i + 1]},${colours[3 * i + 2]})`);
  context.fillStyle = ramp;
  context.fillRect(left, scaleTop, length, 10 * unit);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, scaleTop - 0.5, length + 1, 10 * unit + 1);
  context.font = fontOf(layout.unit, family, 11);
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  let end = Infinity;
  for (const { value, text } of [...ticks].reverse()) {
    const at = left + place(value) * length;
    const half = context.measureText(text).width / 2;
    if (at + half > end - 5 * unit) continue;
    end = at - half;
    context.fillStyle = theme.muted;
    context.fillText(text, at, scaleTop + 24 * unit);
    context.fillRect(at - 0.5, scaleTop + 10 * unit, 1, 3 * unit);
  }
  context.textAlign = "left";
  const masked = scale.masks ? context.measureText("masked").width + 24 * unit : 0;
  const over = Math.max(0, left + context.measureText(words).width + masked - wide);
  const from = Math.max(0, left - over);
  context.fillText(words, from + masked, scaleTop + 41 * unit);
  if (scale.masks) paintMasked(context, theme, from, scaleTop + 41 * unit, unit);
  context.fillStyle = theme.muted;
  if (view.scale * (devicePixelRatio || 1) < 1) {
    const most = `several tokens per pixel: the largest ${scale.name} is drawn`;
    context.fillText(most, left, scaleTop + 56 * unit);
  }
  context.textAlign = "right";
  context.fillText(scale.name, left - 8 * unit, scaleTop + 9 * unit);
}

/**
 * The colour of masked cells, with its name.
 *
 * @param {Context} context
 * @param {Theme} theme
 * @param {number} x
 * @param {number} y of the line of type
 * @param {number} unit
 */
function paintMasked(context, theme, x, y, unit) {
  context.fillStyle = theme.line;
  context.fillRect(x, y - 9 * unit, 10 * unit, 10 * unit);
  context.fillStyle = theme.muted;
  context.fillText("masked", x + 14 * unit, y);
}

// ---- the cross-hair

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Pick<Picture, "view" | "labels" | "theme" | "family">} picture
 * @param {Cell} cell
 */
export function paintCross(context, layout, { view, labels, theme, family }, cell) {
  const { left, top, width, height } = layout;
  const { x, y, wide, tall } = placeOf(layout, view, cell);
  clipped(context, [left - 1, top - 1, width + 2, height + 2], () => {
    if (view.scale < 5) paintThinCross(context, layout, theme, x + wide / 2, y + tall / 2);
    else paintWideCross(context, layout, theme, [x, y, wide, tall]);
  });
  paintNames(context, layout, { view, labels, theme, family }, cell);
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Theme} theme
 * @param {[number, number, number, number]} cell its corner, width and height
 */
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

/**
 * Where cells are smaller than lines: two hairlines that leave the cell itself free.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Theme} theme
 * @param {number} x
 * @param {number} y
 */
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
