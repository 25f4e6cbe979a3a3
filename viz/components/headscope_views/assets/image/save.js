// The picture as a file: large enough to print, with what it shows, which network it is and what
// the colours mean.

import { contextOf, savePng } from "../core/dom.js";
import { sheet } from "../core/overlay.js";
import { paintScale } from "./scale.js";

/** @import {Theme} from "../types" */
/** @import {ImageState} from "./state.js" */

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
 * @param {ImageState} state
 * @param {HTMLCanvasElement} picture at this ratio
 * @param {{wide: number, tall: number, family: string}} size
 * @param {string} caption
 * @param {Theme} theme
 * @param {{plain: boolean, top: number}} drawing
 */
export function savePicture(state, picture, size, caption, theme, { plain, top }) {
  const { wide, tall, family } = size;
  const ratio = ratioFor(size);
  const measuring = contextOf(sheet(1, 1));
  const bold = `600 17px ${family}`;
  const normal = `400 16px ${family}`;
  const { model, note } = state.base;
  /** @type {[string, string][]} */
  const lines = [];
  for (const [font, text] of [[bold, model], [normal, caption], [normal, plain ? "" : note]]) {
    if (!text) continue;
    measuring.font = font;
    for (const line of wrapped(text, wide, (words) => measuring.measureText(words).width))
      lines.push([font, line]);
  }
  const above = MARGIN + lines.length * LINE + 8;
  const coloured = !plain && state.selection.paint !== "mask";
  const below = (coloured ? SCALE : 0) + MARGIN;
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
  if (coloured) {
    context.translate(MARGIN, above + tall + 6);
    const drawn = { wide, unit: 1, family, colour: theme.muted };
    paintScale(context, drawn, state, top);
  }
  const { layer } = state.site();
  savePng(file, plain ? "image-picture-only" : `image-layer-${layer}-head-${state.selection.head}`);
}
