// A recording on a canvas: its time axis, its spectrogram, the weight over it, and the seconds.

import { parse } from "../../web/core/colours.js";
import { contextOf } from "../../web/core/dom.js";
import { ticksOf } from "../../web/core/ticks.js";

/** @import {Heard, Spectrogram, SpokenWord, Theme} from "../../web/types" */

export const FOLD = 72; // CSS pixels that folded padding takes
const LEAST = 84; // CSS pixels a second takes at least
const GAP = 4; // between words of a row

/**
 * Seconds without padding and with it, which is a narrow strip; and the CSS pixels of all and of a second.
 *
 * @typedef {{heard: number, seconds: number, wide: number, scale: number}} TimeAxis
 */

/** @type {(length: Heard, room: number) => TimeAxis} */
export function timeAxis({ heard, seconds }, room) {
  const fold = seconds - heard > 0.05 ? FOLD : 0;
  const scale = Math.max(LEAST, (room - fold) / Math.max(heard, 0.01));
  return { heard, seconds, wide: Math.round(heard * scale + fold), scale };
}

/**
 * The second at a place, null in padding and outside.
 *
 * @type {(axis: TimeAxis, x: number) => number | null}
 */
export const secondAt = ({ scale, heard }, x) => (x < 0 || x >= heard * scale ? null : x / scale);

/**
 * The row of each word, so that none covers another: the first row that has room.
 *
 * @type {(words: {start: number}[], widths: number[], scale: number) => number[]}
 */
export function lanesOf(words, widths, scale) {
  /** @type {number[]} where each row ends */
  const ends = [];
  return words.map(({ start }, i) => {
    const left = start * scale;
    const free = ends.findIndex((end) => end <= left);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = left + widths[i] + GAP;
    return lane;
  });
}

/**
 * The sum of a row of weights over time between two seconds.
 *
 * @type {(row: Float32Array, seconds: number, from: number, to: number) => number}
 */
export function weightWithin(row, seconds, from, to) {
  const at = (/** @type {number} */ second) => Math.round((second / seconds) * row.length);
  return row.subarray(at(from), at(to)).reduce((sum, value) => sum + value, 0);
}

/**
 * The word that is spoken at a second; −1 for none.
 *
 * @type {(words: SpokenWord[], second: number) => number}
 */
export const wordAt = (words, second) => words.findIndex(({ start, end }) => start <= second && second < end);

const [IMAGE, CURVE, AXIS] = [104, 60, 20]; // CSS pixels
const TICK = 70; // CSS pixels between ticks, about

/** CSS pixels of it all */
export const TALL = IMAGE + CURVE + AXIS;

/**
 * A spectrogram in the colours of a theme, a pixel a cell; of a single row the amplitudes, as tall bars.
 *
 * @param {Spectrogram} spectrogram
 * @param {Theme} theme
 */
export function groundOf({ rows, cols, levels }, theme) {
  const bytes = atob(levels);
  const [dark, light] = [theme.background, theme.text].map((colour) => parse(colour) ?? [128, 128, 128]);
  const tall = rows > 1 ? rows : IMAGE;
  const image = new ImageData(cols, tall);
  for (let row = 0; row < tall; row++)
    for (let col = 0; col < cols; col++) {
      const level = bytes.charCodeAt((rows > 1 ? row * cols : 0) + col) / 255;
      const isInside = Math.abs(row - tall / 2) <= (level * tall) / 2;
      const share = rows > 1 ? level ** 1.5 * 0.9 : isInside ? 0.6 : 0;
      const at = 4 * ((tall - 1 - row) * cols + col);
      for (let c = 0; c < 3; c++) image.data[at + c] = dark[c] + (light[c] - dark[c]) * share;
      image.data[at + 3] = 255;
    }
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [cols, tall];
  contextOf(canvas).putImageData(image, 0, 0);
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {object} drawn
 * @param {HTMLCanvasElement | null} drawn.ground
 * @param {Float32Array | null} drawn.row weights over time
 * @param {TimeAxis} drawn.axis
 * @param {Theme} drawn.theme
 * @param {string} drawn.family
 */
export function paint(context, { ground, row, axis, theme, family }) {
  const { heard, seconds, wide, scale } = axis;
  const [end, base] = [heard * scale, IMAGE + CURVE];
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, wide, IMAGE);
  if (ground) context.drawImage(ground, 0, 0, end, IMAGE);
  if (row) paintWeights(context, row, axis, theme);
  context.fillStyle = theme.muted;
  context.font = `12px ${family}`;
  context.textBaseline = "top";
  for (const { value, text } of ticksOf([0, heard], Math.max(2, (heard * scale) / TICK))) {
    const x = value * scale;
    context.fillRect(Math.round(x), base, 1, 4);
    context.textAlign = x < 12 ? "left" : x > wide - 24 ? "right" : "center";
    context.fillText(`${text} s`, x, base + 6);
  }
  if (wide - end < 8) return;
  context.textAlign = "center";
  context.globalAlpha = 0.12;
  context.fillRect(end, 0, wide - end, base);
  context.globalAlpha = 1;
  const all = row ? weightWithin(row, seconds, 0, seconds) : 0;
  const share = row && all > 0 ? Math.round((100 * weightWithin(row, seconds, heard, seconds)) / all) : null;
  const words = ["padding", `${(seconds - heard).toFixed(1)} s`];
  if (share !== null) words.push("", `${share}\u00a0% of`, "the weight");
  words.forEach((text, i) => context.fillText(text, end + (wide - end) / 2, 8 + 15 * i, FOLD));
}

/** A bar for each moment, which shades the spectrogram above it. */
function paintWeights(context, row, { heard, seconds, wide, scale }, theme) {
  const step = seconds / row.length;
  const last = Math.min(row.length, Math.ceil(heard / step));
  const visible = row.subarray(0, last);
  const most = Math.max(...visible, 1e-9);
  context.fillStyle = theme.primary;
  visible.forEach((value, i) => {
    const tall = (value / most) * (CURVE - 6);
    const x = i * step * scale;
    context.fillRect(x, IMAGE + CURVE - tall, Math.max(0.8, step * scale - 0.3), tall);
    context.globalAlpha = 0.55 * Math.sqrt(value / most);
    context.fillRect(x, 0, Math.max(0.8, step * scale), IMAGE);
    context.globalAlpha = 1;
  });
  context.fillStyle = theme.line;
  context.fillRect(0, IMAGE + CURVE, wide, 1);
}
