// The picture as a file: large enough to print, with what it shows, which network it is and what
// the colours mean.

import { contextOf, savePng } from "../core/dom.js";
import { sheet } from "./over.js";

/** @import {Look} from "./over.js" */
/** @import {Theme} from "../types" */

const LONGER = 1600; // pixels of the picture's longer side, at least
const MARGIN = 24; // the rest in CSS pixels of the page
const LINE = 24;
const SCALE = 48;

/**
 * Pixels a CSS pixel becomes in the file.
 *
 * @param {{wide: number, tall: number}} size of the picture on the page
 */
export const ratioFor = ({ wide, tall }) => Math.max(2, LONGER / Math.max(wide, tall));

/**
 * Words in lines no wider than `most`.
 *
 * @param {string} text
 * @param {number} most
 * @param {(text: string) => number} measure
 */
export function wrapped(text, most, measure) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && measure(longer) <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * What stands round a picture in a file.
 *
 * @typedef {object} Framing
 * @property {[string, string, string]} lines model, caption and remark; "" for none
 * @property {Theme} theme
 * @property {string} name of the file, without its ending
 * @property {((context: CanvasRenderingContext2D, look: Look) => void) | null} scale draws it below
 */

/**
 * @param {HTMLCanvasElement} picture at `ratioFor` its size
 * @param {{wide: number, tall: number, family: string}} size
 * @param {Framing} framing
 */
export function savePicture(picture, size, { lines: said, theme, name, scale }) {
  const { wide, tall, family } = size;
  const ratio = ratioFor(size);
  const measuring = contextOf(sheet(1, 1));
  const fonts = [`600 17px ${family}`, `400 16px ${family}`, `400 16px ${family}`];
  /** @type {[string, string][]} */
  const lines = [];
  said.forEach((text, i) => {
    if (!text) return;
    measuring.font = fonts[i];
    for (const line of wrapped(text, wide, (words) => measuring.measureText(words).width))
      lines.push([fonts[i], line]);
  });
  const above = MARGIN + lines.length * LINE + 8;
  const below = (scale ? SCALE : 0) + MARGIN;
  const file = sheet(Math.round((wide + 2 * MARGIN) * ratio), Math.round((above + tall + below) * ratio));
  const context = contextOf(file);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, file.width, file.height);
  context.drawImage(picture, Math.round(MARGIN * ratio), Math.round(above * ratio));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme.text;
  context.textBaseline = "alphabetic";
  lines.forEach(([font, line], i) => {
    context.font = font;
    context.fillText(line, MARGIN, MARGIN + 16 + i * LINE);
  });
  if (scale) {
    context.translate(MARGIN, above + tall + 6);
    scale(context, { wide, unit: 1, family, colour: theme.muted });
  }
  savePng(file, name);
}
