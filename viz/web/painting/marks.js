// What lies over the cells of a matrix: hidden columns, pairs that do not exist, and the row or column of the
// chosen token.

import { clipped, fontOf } from "./lettering.js";
import { scaleOf, visible } from "./viewport.js";

/** @import {Paint} from "./painter.js" */

/** @type {Paint} */
export const paintMarks = (context, layout, picture) => {
  if (picture.sinks) paintSinks(context, layout, picture, picture.sinks);
  paintAbsent(context, layout, picture);
  paintPinned(context, layout, picture);
};

/** Hidden columns, hatched, and beside each row a bar of the share that went to them. */
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

/** A block of pairs that do not exist, hatched. @type {Paint} */
const paintAbsent = (context, { left, top, width, height }, { view, theme, absent }) => {
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
};

/**
 * The chosen token's row (or column): a bar at the edge, and a frame where cells are large.
 *
 * @type {Paint}
 */
const paintPinned = (context, layout, { view, pinned, inward, theme }) => {
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
  clipped(context, [left - 1, top - 1, width + 2, height + 2], () => {
    context.lineWidth = 1.5;
    if (inward) context.strokeRect(left + start, top, side, height);
    else context.strokeRect(left, top + start, width, side);
  });
};

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
