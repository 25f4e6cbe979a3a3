// The labels of a matrix's rows and columns. Cells as large as type have a label each; smaller ones
// are named by lines of several tokens in reading order where the layout has room for them, else
// every few, with its position. The names at the pointer are always drawn.

import { legible } from "../core/labels.js";
import { LINE_TYPE, linesOf, wordsOf } from "./label_lines.js";
import { clipped, fontOf, shortened, widthOf } from "./lettering.js";
import {
  isLabelled,
  labelled,
  labelSize,
  placeOf,
  scaleOf,
  slant,
  tokensPerLine,
  visible,
} from "./viewport.js";

/** @import {Axis, Cell} from "../types" */
/** @import {Context} from "./lettering.js" */
/** @import {Picture} from "./painter.js" */
/** @import {Layout} from "./viewport.js" */

/** @typedef {Pick<Picture, "view" | "labels" | "theme" | "family">} Named */

const AROUND = 4; // tokens on each side of the pointer that are named where not all are
const SECONDS = /^\d+\.\d+ s$/; // a label of a moment of a recording
const LEVEL = 11; // pixels from the plot to the middle of a level label, at a unit of 1
const APART = 13; // pixels between those names, at a unit of 1

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Picture} picture
 */
export function paintAxes(context, layout, picture) {
  const { left, top, height, unit, wide } = layout;
  const paint = tokensPerLine(layout, picture.view) === null ? paintEach : paintLines;
  clipped(context, [0, top - 8 * unit, left, height + 16 * unit], () =>
    paint(context, layout, picture, "query"),
  );
  clipped(context, [left - 8 * unit, 0, wide, top], () => paint(context, layout, picture, "key"));
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
export const isTimed = (labels) => SECONDS.test(labels[0] ?? "");

/** Tokens of an axis that are marked: the pinned one, and those searched for. */
function ownOf({ pinned, inward, matches }, axis) {
  const isPinned = pinned !== null && inward === (axis === "key");
  return { pinned: isPinned ? [pinned] : [], matches: matches[axis] };
}

/** A label for each token, or for as many as there is room. */
function paintEach(context, layout, picture, axis) {
  const { unit } = layout;
  const { view, labels, important, inward, theme, family } = picture;
  const all = isLabelled(layout, view, axis);
  const scale = scaleOf(view, axis);
  const timed = isTimed(labels[axis]); // which says more than the place
  context.font = fontOf(unit, family, labelSize(layout, view, axis) / unit);
  const angle = axis === "query" ? 0 : slant(layout, view);
  const { pinned, matches } = ownOf(picture, axis);
  const others = inward === (axis === "query") ? important : [];
  const { range, origin, length, start } = extentOf(layout, picture, axis);
  for (const i of labelled(range, scale, all ? 0 : 11 * unit, [...matches, ...pinned, ...others])) {
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

// ---- lines of labels

function lineAt(layout, { labels, family }, axis, line) {
  const { unit } = layout;
  const font = fontOf(unit, family, LINE_TYPE);
  const room = layout.lines?.[axis] ?? 0;
  return wordsOf(line, (i) => widthOf(font, legible(labels[axis][i])), room, unit);
}

/** Goes to where the words of a line begin: text then stands at (0, 0), read along the line. */
function alongLine(context, { left, top, unit }, axis, at, length, paint) {
  if (axis === "query") turned(context, left - 8 * unit - length, at, 0, paint);
  else turned(context, at, top - 8 * unit, -Math.PI / 2, paint);
}

/**
 * The token whose name in a line is at a point; that of the line's first word before it, of its last
 * behind it.
 *
 * @param {Layout} layout
 * @param {Named} picture
 * @param {Axis} axis
 * @param {number} index of a token beside which the point is
 * @param {number} x
 * @param {number} y
 */
export function wordAt(layout, picture, axis, index, x, y) {
  const { left, top, unit } = layout;
  const count = tokensPerLine(layout, picture.view) ?? 1;
  const [line] = linesOf([index, index + 1], count, picture.labels[axis].length);
  const { words, length } = lineAt(layout, picture, axis, line);
  const along = axis === "query" ? x - (left - 8 * unit - length) : top - 8 * unit - y;
  return words.findLast(({ start }) => start <= along)?.index ?? line[0];
}

/** Lines that name several tokens each; a bracket holds the cells of each line. */
function paintLines(context, layout, picture, axis) {
  const { left, top, unit } = layout;
  const { view, labels, theme, family } = picture;
  const scale = scaleOf(view, axis);
  const count = tokensPerLine(layout, view) ?? 1;
  const font = fontOf(unit, family, LINE_TYPE);
  const { pinned, matches } = ownOf(picture, axis);
  const { range, origin, start } = extentOf(layout, picture, axis);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const line of linesOf(range, count, labels[axis].length)) {
    const [from, to] = line.map((i) => start + (i - origin) * scale);
    const bracket = /** @type {const} */ ([from + 0.75, to - from - 1.5]);
    if (axis === "query") paintTick(context, theme, left - 4 * unit, bracket[0], 1.5, bracket[1]);
    else paintTick(context, theme, bracket[0], top - 4 * unit, bracket[1], 1.5);
    const { words, length } = lineAt(layout, picture, axis, line);
    alongLine(context, layout, axis, (from + to) / 2, length, () => {
      for (const word of words) {
        const strong = pinned.includes(word.index) || matches.has(word.index);
        context.font = strong ? bold(font) : font;
        context.fillStyle = strong ? theme.primary : word.index % 2 ? theme.muted : theme.text;
        context.fillText(
          shortened(context, legible(labels[axis][word.index]), word.wide * (strong ? 1.15 : 1)),
          word.start,
          0,
        );
      }
    });
    for (let i = line[0]; i < line[1]; i++)
      if (matches.has(i)) paintFound(context, layout, theme, axis, start + (i + 0.5 - origin) * scale);
  }
}

// ---- the names at the pointer

/**
 * The names of the row and the column under the pointer; where not every token has a label, those
 * around them too.
 *
 * @param {Context} context
 * @param {Layout} layout
 * @param {Named} picture
 * @param {Cell} cell
 */
export function paintNames(context, layout, picture, cell) {
  const { view, family } = picture;
  const { x, y, wide, tall } = placeOf(layout, view, cell);
  for (const axis of /** @type {const} */ (["query", "key"])) {
    const each = isLabelled(layout, view, axis);
    const size = labelSize(layout, view, axis) / layout.unit;
    const paint = each ? paintPill : layout.lines ? paintWord : paintAround;
    context.font = fontOf(layout.unit, family, each ? size : layout.lines ? LINE_TYPE : 11);
    paint(context, layout, picture, axis, cell[axis], axis === "query" ? y + tall / 2 : x + wide / 2);
  }
}

/** The name of a row or column, where its label is. */
function paintPill(context, layout, { view, labels, theme }, axis, index, at) {
  const { left, top, unit, longest } = layout;
  const words = shortened(context, legible(labels[axis][index]), longest);
  const wide = context.measureText(words).width;
  const angle = slant(layout, view);
  if (axis === "query")
    turned(context, left - 7 * unit - wide, at, 0, () => pill(context, theme, unit, words, wide));
  else if (layout.level)
    turned(context, at - wide / 2, top - LEVEL * unit, 0, () => pill(context, theme, unit, words, wide));
  else turned(context, at, top - 6 * unit, angle, () => pill(context, theme, unit, words, wide));
}

/** The same within its line. */
function paintWord(context, layout, picture, axis, index) {
  const { view, labels, theme } = picture;
  const { unit } = layout;
  const count = tokensPerLine(layout, view) ?? 1;
  const { origin, start } = extentOf(layout, picture, axis);
  const [line] = linesOf([index, index + 1], count, labels[axis].length);
  const [from, to] = line.map((i) => start + (i - origin) * scaleOf(view, axis));
  const { words, length } = lineAt(layout, picture, axis, line);
  const word = words[index - line[0]];
  alongLine(context, layout, axis, (from + to) / 2, length, () => {
    context.translate(word.start, 0);
    pill(
      context,
      theme,
      unit,
      legible(labels[axis][index]),
      widthOf(context.font, legible(labels[axis][index])),
    );
  });
}

/** The same, with its neighbours, over the labels that are there; a thread leads from each to its cells. */
function paintAround(context, layout, picture, axis, index) {
  const { left, top, unit, longest } = layout;
  const { view, labels, theme } = picture;
  const { range, origin, start, length } = extentOf(layout, picture, axis);
  const first = Math.max(range[0], index - AROUND);
  const count = Math.min(range[1], index + AROUND + 1) - first;
  const apart = APART * unit;
  const centre = start + (index + 0.5 - origin) * scaleOf(view, axis);
  const least = Math.max(start, centre - (index - first + 0.5) * apart);
  const from = Math.min(least, Math.max(start, start + length - count * apart));
  const far = 16 * unit; // from the plot
  const most = axis === "query" ? left : top - layout.noted - 20 * unit;
  const ground = Math.min(longest + far, most);
  context.fillStyle = theme.background;
  if (axis === "query") context.fillRect(left - ground, from - 2, ground - 1, count * apart + 4);
  else context.fillRect(from - 2, top - ground, count * apart + 4, ground - 1);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let i = first; i < first + count; i++) {
    const at = from + (i - first + 0.5) * apart;
    const cell = start + (i + 0.5 - origin) * scaleOf(view, axis);
    const words = shortened(context, legible(labels[axis][i]), ground - far - 2 * unit);
    const wide = context.measureText(words).width;
    context.beginPath();
    if (axis === "query") {
      context.moveTo(left - far + 3 * unit, at);
      context.lineTo(left - 2, cell);
    } else {
      context.moveTo(at, top - far + 3 * unit);
      context.lineTo(cell, top - 2);
    }
    context.lineWidth = 1;
    context.strokeStyle = i === index ? theme.text : theme.muted;
    context.stroke();
    const paint = () => {
      if (i === index) return pill(context, theme, unit, words, wide);
      context.fillStyle = theme.text;
      context.fillText(words, 0, 0);
    };
    if (axis === "query") turned(context, left - far - wide, at, 0, paint);
    else turned(context, at, top - far, -Math.PI / 2, paint);
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
