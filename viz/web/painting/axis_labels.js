// The labels of a matrix's rows and columns. Cells as large as type have a label each; of smaller ones every few
// have one, with its position. The names at the pointer are always drawn.

import { legible } from "../core/labels.js";
import { clipped, fontOf, shortened } from "./lettering.js";
import { isLabelled, labelled, labelSize, placeOf, scaleOf, slant, visible } from "./viewport.js";

/** @import {Cell} from "../types" */
/** @import {Context} from "./lettering.js" */
/** @import {Picture} from "./painter.js" */
/** @import {Layout} from "./viewport.js" */

/** @typedef {Pick<Picture, "view" | "labels" | "theme" | "family">} Named */

const SECONDS = /^\d+\.\d+ s$/; // a label of a moment of a recording
const LEVEL = 11; // pixels from the plot to the middle of a level label, at a unit of 1

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
export function paintAxes(context, layout, picture) {
  const { left, top, height, unit, wide } = layout;
  clipped(context, [0, top - 8 * unit, left, height + 16 * unit], () =>
    paintAxis(context, layout, picture, "query"),
  );
  clipped(context, [left - 8 * unit, 0, wide, top], () => paintAxis(context, layout, picture, "key"));
}

/** Where the tokens of an axis are: those in view, the first of the plot, and the plot's length. */
function extentOf(layout, { view }, axis) {
  const { rows, cols } = visible(layout, view);
  return axis === "query"
    ? { range: rows, origin: view.row, length: layout.height, start: layout.top }
    : { range: cols, origin: view.col, length: layout.width, start: layout.left };
}

/**
 * Whether an axis is the time of a recording.
 *
 * @param {readonly string[]} labels
 */
const isTimed = (labels) => SECONDS.test(labels[0] ?? "");

/** Tokens of an axis that are marked: the pinned one, and those searched for. */
function ownOf({ pinned, inward, matches }, axis) {
  const isPinned = pinned !== null && inward === (axis === "key");
  return { pinned: isPinned ? [pinned] : [], matches: matches[axis] };
}

/** A label for each token, or for as many as there is room. */
function paintAxis(context, layout, picture, axis) {
  const { unit } = layout;
  const { view, labels, theme, family } = picture;
  const all = isLabelled(layout, view, axis);
  const scale = scaleOf(view, axis);
  const timed = isTimed(labels[axis]); // which says more than the place
  context.font = fontOf(unit, family, labelSize(layout, view, axis) / unit);
  const angle = axis === "query" ? 0 : slant(layout, view);
  const { pinned, matches } = ownOf(picture, axis);
  const { range, origin, length, start } = extentOf(layout, picture, axis);
  for (const i of labelled(range, scale, all ? 0 : 11 * unit, [...matches, ...pinned])) {
    const at = (i + 0.5 - origin) * scale;
    if (at < 0 || at > length) continue;
    const strong = pinned.includes(i) || matches.has(i);
    if (matches.has(i)) paintFound(context, layout, theme, axis, start + at);
    const text = all || timed ? legible(labels[axis][i]) : `${i} ${legible(labels[axis][i])}`;
    const [x, y] = axis === "query" ? [layout.left, start + at] : [start + at, layout.top];
    paintLabel(context, layout, picture, { axis, all, strong, text, angle }, x, y);
  }
}

/** The mark beside a token that was searched for. */
function paintFound(context, { left, top, unit }, theme, axis, at) {
  const [x, y] = axis === "query" ? [left - 5 * unit, at - 3 * unit] : [at - 2 * unit, top - 4 * unit];
  context.fillStyle = theme.primary;
  context.fillRect(x, y, 4 * unit, 4 * unit);
}

/** A label; where not every token has one, with a tick. */
function paintLabel(context, layout, { theme }, { axis, all, strong, text, angle }, x, y) {
  const { unit } = layout;
  context.fillStyle = strong ? theme.primary : theme.text;
  const font = context.font;
  if (strong) context.font = bold(font);
  context.textBaseline = "middle";
  const most = axis === "query" ? Math.min(layout.longest, x - 7 * unit) : layout.longest;
  const words = shortened(context, text, most);
  if (axis === "query") {
    context.textAlign = "right";
    context.fillText(words, x - 7 * unit, y);
    if (!all) paintTick(context, theme, x - 4 * unit, y - 0.5, 4 * unit, 1);
  } else {
    turned(context, x, y - (angle ? 6 : LEVEL) * unit, angle, () => {
      context.textAlign = angle ? "left" : "center";
      context.fillText(words, 0, 0);
    });
    if (!all) paintTick(context, theme, x - 0.5, y - 4 * unit, 1, 4 * unit);
  }
  context.font = font;
}

const bold = (font) => `bold ${font.replace(/^(bold|\d+00) /, "")}`;

function paintTick(context, theme, x, y, width, height) {
  context.fillStyle = theme.line;
  context.fillRect(x, y, width, height);
}

function turned(context, x, y, angle, paint) {
  context.save();
  context.translate(x, y);
  context.rotate(angle);
  paint();
  context.restore();
}

// ---- the names at the pointer

/**
 * The names of the row and the column under the pointer, where their labels are.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Named} picture
 * @param {Cell} cell
 */
export function paintNames(context, layout, { view, labels, theme, family }, cell) {
  const { left, top, unit, longest } = layout;
  const { x, y, wide, tall } = placeOf(layout, view, cell);
  for (const axis of /** @type {const} */ (["query", "key"])) {
    context.font = fontOf(unit, family, Math.max(9, labelSize(layout, view, axis) / unit));
    const words = shortened(context, legible(labels[axis][cell[axis]]), longest);
    const long = context.measureText(words).width;
    const paint = () => pill(context, theme, unit, words, long);
    if (axis === "query") turned(context, left - 7 * unit - long, y + tall / 2, 0, paint);
    else if (layout.level) turned(context, x + (wide - long) / 2, top - LEVEL * unit, 0, paint);
    else turned(context, x + wide / 2, top - 6 * unit, slant(layout, view), paint);
  }
}

function pill(context, theme, unit, words, wide) {
  const tall = parseFloat(context.font.replace(/^.*?([\d.]+)px.*$/, "$1")) * 1.45;
  context.fillStyle = theme.text;
  context.beginPath();
  context.roundRect(-4 * unit, -tall / 2, wide + 8 * unit, tall, 3 * unit);
  context.fill();
  context.fillStyle = theme.background;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(words, 0, 0);
}
