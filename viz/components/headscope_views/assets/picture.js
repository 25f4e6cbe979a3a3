// The picture of a matrix: where everything goes, and painting it, with names, axes and scale.

import { draw } from "./raster.js";
import { shown } from "./view.js";

const LARGEST_CELL = 64; // CSS pixels
const TICKS = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1];
const SLANT = (-50 * Math.PI) / 180;

const letters = (text) =>
  typeof Intl.Segmenter === "function"
    ? [...new Intl.Segmenter().segment(text)].map((part) => part.segment)
    : Array.from(text);

/** A label no wider than `most`, its end cut off with an ellipsis where it must be. */
function shortened(context, label, most) {
  if (context.measureText(label).width <= most) return label;
  const parts = letters(label.slice(0, 80));
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${parts.slice(0, middle).join("")}…`).width <= most) low = middle;
    else high = middle - 1;
  }
  return `${parts.slice(0, low).join("")}…`;
}

/** All places of the picture, CSS pixels. It depends on texts and width, not on the head. */
export function layoutOf(wide, rows, cols, { unit, family, query, key, names, note }) {
  const context = layoutOf.context ??= document.createElement("canvas").getContext("2d");
  const font = (size, weight = 400) => `${weight} ${Math.round(size * unit * 10) / 10}px ${family}`;
  const narrow = wide < 480 * unit;
  const size = 12 * unit;
  context.font = font(12);
  const longest = (narrow ? 72 : 104) * unit;
  const widest = (labels) =>
    Math.min(longest, labels.reduce((most, l) => Math.max(most, measured(context, shown(l))), 0));
  const [wideQuery, wideKey] = [widest(query), widest(key)];
  const left = Math.max(wideQuery, 66 * unit) + 12 * unit;
  context.font = font(15, 600);
  const together = context.measureText(names.join(" · ")).width <= wide;
  const title = (together ? 22 : 42) * unit;
  const noted = note ? 19 * unit : 0;
  const slanted = wideKey * Math.sin(-SLANT) + 12 * unit;
  const head = Math.max(slanted, 52 * unit);
  const top = title + noted + 24 * unit + head;
  const right = Math.min(wideKey, longest) * Math.cos(SLANT) * 0.8 + 4 * unit;
  const room = Math.max(40, wide - left - right);
  const cell = Math.min(room / cols, tallest(unit) / rows, LARGEST_CELL * unit);
  const [width, height] = [cell * cols, cell * rows];
  const scaleTop = top + height + 14 * unit;
  return {
    ...{ unit, size, font, wide, narrow, rows, cols, left, top, width, height, cell },
    ...{ longest, together, title, noted, scaleTop, wideKey },
    tall: Math.ceil(scaleTop + (cell * 3 < 3 ? 60 : 46) * unit),
    short: shortened,
  };
}

/** A plot that leaves room for its title, scale and read-out in the window. */
export function tallest(unit = 1) {
  return Math.min(760, Math.max(420, innerHeight - 360 * unit));
}

const widths = new Map();
document.fonts.addEventListener("loadingdone", () => widths.clear());

function measured(context, label) {
  const key = context.font + label;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    widths.set(key, (width = context.measureText(label).width));
  }
  return width;
}

/** Ranges of tokens in view: the first inside, the last outside. */
export function visible({ rows, cols, width, height }, { row, col, scale }) {
  const range = (start, room, size) => [
    Math.floor(start + 1e-6),
    Math.min(size, Math.ceil(start + room / scale - 1e-6)),
  ];
  return { rows: range(row, height, rows), cols: range(col, width, cols) };
}

export function paintPicture(context, layout, picture, ratio) {
  const { theme } = picture;
  context.fillStyle = theme.background;
  context.fillRect(0, 0, layout.wide, layout.tall);
  paintTitle(context, layout, picture);
  paintCells(context, layout, picture, ratio);
  paintPinned(context, layout, picture);
  paintCaptions(context, layout, picture);
  paintAxes(context, layout, picture);
  paintScale(context, layout, picture);
}

function paintTitle(context, layout, { names, note, theme }) {
  const { unit, font, wide, together } = layout;
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillStyle = theme.text;
  context.font = font(15, 600);
  const lines = together ? [names.join(" · ")] : [names[0], names.slice(1).join(" · ")];
  lines.forEach((line, i) =>
    context.fillText(shortened(context, line, wide), 0, (15 + 20 * i) * unit),
  );
  if (!note) return;
  context.font = font(12.5, 600);
  context.fillStyle = theme.primary;
  context.fillText(shortened(context, note, wide), 0, layout.title + 12 * unit);
}

function paintCells(context, layout, { parts, view, theme }, ratio) {
  const { left, top, width, height, unit } = layout;
  const [x, y] = [Math.round(left * ratio), Math.round(top * ratio)];
  const [wide, tall] = [
    Math.max(1, Math.round((left + width) * ratio) - x),
    Math.max(1, Math.round((top + height) * ratio) - y),
  ];
  const image = context.createImageData(wide, tall);
  const target = new Uint32Array(image.data.buffer);
  const scale = view.scale * ratio;
  const window_ = { row: view.row, col: view.col, scaleRow: scale, scaleCol: scale };
  for (const { part, table } of parts) draw(target, wide, tall, part, table, window_);
  context.putImageData(image, x, y);
  if (view.scale >= 11 * unit) gaps(context, layout, view, theme);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
}

/** The chosen token's row (or column): a bar at the edge, and a frame where cells are large. */
function paintPinned(context, layout, { view, pinned, inward, theme }) {
  if (pinned === null) return;
  const { left, top, width, height, unit } = layout;
  const start = (pinned - (inward ? view.col : view.row)) * view.scale;
  if (start < -0.5 || start > (inward ? width : height) - 0.5) return;
  const side = Math.max(view.scale, 2);
  const bar = 3 * unit;
  context.fillStyle = context.strokeStyle = theme.primary;
  if (inward) context.fillRect(left + start, top - bar - 1, side, bar);
  else context.fillRect(left - bar - 1, top + start, bar, side);
  if (view.scale < 5) return;
  context.save();
  context.beginPath();
  context.rect(left - 1, top - 1, width + 2, height + 2);
  context.clip();
  context.lineWidth = 1.5;
  if (inward) context.strokeRect(left + start, top, side, height);
  else context.strokeRect(left, top + start, width, side);
  context.restore();
}

/** Thin lines of the ground between large cells. */
function gaps(context, { left, top, width, height }, { row, col, scale }, theme) {
  context.fillStyle = theme.background;
  context.globalAlpha = 0.55;
  for (let i = Math.floor(col) + 1; (i - col) * scale < width - 1; i++)
    context.fillRect(Math.round(left + (i - col) * scale) - 0.5, top, 1, height);
  for (let i = Math.floor(row) + 1; (i - row) * scale < height - 1; i++)
    context.fillRect(left, Math.round(top + (i - row) * scale) - 0.5, width, 1);
  context.globalAlpha = 1;
}

function paintCaptions(context, layout, { theme }) {
  const { left, top, unit, font } = layout;
  context.fillStyle = theme.muted;
  context.font = font(11.5);
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  const line = layout.title + layout.noted + 14 * unit;
  context.fillText("key: the token attended to →", left, line);
  context.textAlign = "right";
  ["query: the", "token that", "attends ↓"].forEach((text, i) =>
    context.fillText(text, left - 8 * unit, top - (39 - 14 * i) * unit),
  );
}

/** Every how many tokens a position is written so that numbers keep apart. */
function stride(scale, room) {
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) if (factor * power * scale >= room) return factor * power;
}

/** Height of the labels: that of the cells where these are small. */
export function labelSize({ size, unit }, { scale }) {
  return scale < 11 * unit ? size : Math.min(size, Math.max(10 * unit, scale * 0.92));
}

/** Angle of the labels on top: slanted reads best, upright takes least room. */
export function slant({ unit }, { scale }) {
  return scale >= 15 * unit ? SLANT : -Math.PI / 2;
}

function paintAxes(context, layout, picture) {
  const { left, top, width, height, unit } = layout;
  const { view, labels, pinned, inward } = picture;
  const fits = view.scale >= 11 * unit;
  context.font = layout.font(labelSize(layout, view) / unit);
  const seen = visible(layout, view);
  context.save();
  context.beginPath();
  context.rect(0, top - 8 * unit, left, height + 16 * unit);
  context.clip();
  axis(seen.rows, view.row, height, inward ? null : pinned, (i, at) => {
    const own = !inward && i === pinned;
    label(context, layout, picture, { i, own, fits, text: labels.query[i] }, left, top + at, 0);
  });
  context.restore();
  context.save();
  context.beginPath();
  context.rect(left - 8 * unit, 0, layout.wide, top);
  context.clip();
  const angle = slant(layout, view);
  axis(seen.cols, view.col, width, inward ? pinned : null, (i, at) => {
    const own = inward && i === pinned;
    label(context, layout, picture, { i, own, fits, text: labels.key[i] }, left + at, top, angle);
  });
  context.restore();

  function axis([start, stop], origin, room, chosen, each) {
    const step = fits ? 1 : stride(view.scale, (14 + 8 * String(stop).length) * unit);
    for (let i = start; i < stop; i++) {
      const at = (i + 0.5 - origin) * view.scale;
      if (at < 0 || at > room) continue;
      if (i % step === 0 || i === chosen) each(i, at);
    }
  }
}

function label(context, layout, { theme }, { i, own, fits, text }, x, y, angle) {
  const { unit } = layout;
  const named = fits || own;
  context.fillStyle = own ? theme.primary : named ? theme.text : theme.muted;
  const font = context.font;
  if (own) context.font = `bold ${font.replace(/^(bold|\d+00) /, "")}`;
  context.textBaseline = "middle";
  const most = angle === 0 ? Math.min(layout.longest, x - 7 * unit) : layout.longest;
  const words = named ? shortened(context, shown(text), most) : String(i);
  if (angle === 0) {
    context.textAlign = "right";
    context.fillText(words, x - 7 * unit, y);
    if (!named) tick(context, theme, x - 4 * unit, y - 0.5, 4 * unit, 1);
  } else if (!named) {
    context.textAlign = "center";
    context.fillText(words, x, y - 13 * unit);
    tick(context, theme, x - 0.5, y - 4 * unit, 1, 4 * unit);
  } else {
    context.save();
    context.translate(x, y - 6 * unit);
    context.rotate(angle);
    context.textAlign = "left";
    context.fillText(words, 0, 0);
    context.restore();
  }
  context.font = font;
}

function tick(context, theme, x, y, width, height) {
  context.fillStyle = theme.line;
  context.fillRect(x, y, width, height);
}

function paintScale(context, layout, { theme, top, own, view }) {
  const { left, width, unit, font, scaleTop, wide } = layout;
  const length = Math.min(Math.max(width, 200 * unit), 300 * unit, wide - left - 12 * unit);
  const ramp = context.createLinearGradient(left, 0, left + length, 0);
  const colours = theme.ramp;
  for (let i = 0; i < 256; i += 5)
    ramp.addColorStop(i / 255, `rgb(${colours[3 * i]},${colours[3 * i + 1]},${colours[3 * i + 2]})`);
  context.fillStyle = ramp;
  context.fillRect(left, scaleTop, length, 10 * unit);
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, scaleTop - 0.5, length + 1, 10 * unit + 1);
  context.font = font(11);
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  let end = Infinity;
  const ticks = [...TICKS.filter((value) => value < top * 0.999), top];
  for (const value of ticks.reverse()) {
    const at = left + Math.sqrt(value / top) * length;
    const words = tidy(value);
    const half = context.measureText(words).width / 2;
    if (at + half > end - 5 * unit) continue;
    end = at - half;
    context.fillStyle = theme.muted;
    context.fillText(words, at, scaleTop + 24 * unit);
    context.fillRect(at - 0.5, scaleTop + 10 * unit, 1, 3 * unit);
  }
  context.textAlign = "left";
  const range = own ? `from 0 to this map’s largest, ${tidy(top)}` : "fixed range 0 to 1";
  const words = `${range}; colour ∝ √weight`;
  const over = Math.max(0, left + context.measureText(words).width - wide);
  context.fillText(words, Math.max(0, left - over), scaleTop + 41 * unit);
  if (view.scale * (devicePixelRatio || 1) < 1)
    context.fillText(
      "several tokens a pixel: largest weight drawn",
      left,
      scaleTop + 56 * unit,
    );
  context.textAlign = "right";
  context.fillText("weight", left - 8 * unit, scaleTop + 9 * unit);
}

/** .05, 0.25 and 1 as short as can be; a map's own largest to three figures. */
function tidy(value) {
  if (value === 0 || value === 1) return String(value);
  return TICKS.includes(value) ? String(value) : value.toPrecision(3);
}
