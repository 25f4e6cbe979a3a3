// The colour scale below a matrix.

import { fontOf, shortened } from "./lettering.js";

/** @import {Paint} from "./painter.js" */

/** @type {Paint} */
export const paintScale = (context, layout, { theme, scale, view, family }) => {
  const { left, width, unit, scaleTop, wide } = layout;
  const length = Math.min(Math.max(width, 200 * unit), 300 * unit, (wide - left) / 2);
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
  const from = left + length + 16 * unit;
  if (scale.masks) paintMasked(context, theme, from, scaleTop + 9 * unit, unit);
  context.fillStyle = theme.muted;
  const room = wide - from;
  context.fillText(shortened(context, words, room - masked), from + masked, scaleTop + 9 * unit);
  if (view.scale * (devicePixelRatio || 1) < 1) {
    const most = `several tokens per pixel: the largest ${scale.name} is drawn`;
    context.fillText(shortened(context, most, room), from, scaleTop + 24 * unit);
  }
  context.textAlign = "right";
  context.fillText(scale.name, left - 8 * unit, scaleTop + 9 * unit);
};

/** The colour of masked cells, with its name. */
function paintMasked(context, theme, x, y, unit) {
  context.fillStyle = theme.line;
  context.fillRect(x, y - 9 * unit, 10 * unit, 10 * unit);
  context.fillStyle = theme.muted;
  context.fillText("masked", x + 14 * unit, y);
}
