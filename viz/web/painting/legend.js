// The colour scale of a matrix: below it, its words to the right; or beside it, its words below.

import { fontOf, shortened } from "./lettering.js";

/** @import {Paint} from "./painter.js" */

/** @type {Paint} */
export const paintScale = (context, layout, { theme, scale, view, family }) => {
  const { width, unit, scaleLeft: left, scaleTop: top, wide } = layout;
  const isBeside = layout.legend === "beside";
  const room = wide - left;
  const length = isBeside
    ? Math.min(room - 8 * unit, 260 * unit)
    : Math.min(Math.max(width, 200 * unit), 300 * unit, room / 2);
  const { ramp: colours, ticks, words, place } = scale;
  const ramp = context.createLinearGradient(left, 0, left + length, 0);
  for (let i = 0; i < 256; i += 5)
    ramp.addColorStop(i / 255, `rgb(${colours[3 * i]},${colours[3 * i + 1]},${colours[3 * i + 2]})`);
  context.fillStyle = ramp;
  context.fillRect(left, top, length, 10 * unit);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, length + 1, 10 * unit + 1);
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
    context.fillText(text, at, top + 24 * unit);
    context.fillRect(at - 0.5, top + 10 * unit, 1, 3 * unit);
  }
  const many = view.scale * (devicePixelRatio || 1) < 1;
  const most = many ? `several tokens per pixel: the largest ${scale.name} is drawn` : "";
  context.textAlign = "left";
  const from = isBeside ? left : left + length + 16 * unit;
  let [x, line] = [from, top + (isBeside ? 42 : 9) * unit];
  if (scale.masks) {
    paintMasked(context, theme, x, line, unit);
    if (isBeside) line += 16 * unit;
    else x += context.measureText("masked").width + 24 * unit;
  }
  context.fillStyle = theme.muted;
  const said = isBeside ? `${scale.name}: ${words}` : words;
  context.fillText(shortened(context, said, wide - x), x, line);
  context.fillText(shortened(context, most, wide - from), from, line + 15 * unit);
  if (isBeside) return;
  context.textAlign = "right";
  context.fillText(scale.name, left - 8 * unit, top + 9 * unit);
};

/** The colour of masked cells, with its name. */
function paintMasked(context, theme, x, y, unit) {
  context.fillStyle = theme.line;
  context.fillRect(x, y - 9 * unit, 10 * unit, 10 * unit);
  context.fillStyle = theme.muted;
  context.fillText("masked", x + 14 * unit, y);
}
