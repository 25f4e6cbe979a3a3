// Type on a canvas: fonts, the widths of labels, labels cut to a width.

import { contextOf, element } from "../core/dom.js";

/** @typedef {CanvasRenderingContext2D} Context */

/**
 * @param {number} unit
 * @param {string} family
 * @param {number} size at a unit of 1
 * @param {number} [weight]
 */
export const fontOf = (unit, family, size, weight = 400) =>
  `${weight} ${Math.round(size * unit * 10) / 10}px ${family}`;

/** @type {Context | undefined} */
let measuring;
/** @type {Map<string, number>} */
const widths = new Map();

/** Widths are other ones once a font has been loaded. */
export const forgetWidths = () => widths.clear();

/**
 * @param {string} font
 * @param {string} text
 */
export function widthOf(font, text) {
  const key = `${font} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    measuring ??= contextOf(element("canvas"));
    measuring.font = font;
    width = measuring.measureText(text).width;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

const letters = (text) =>
  typeof Intl.Segmenter === "function"
    ? [...new Intl.Segmenter().segment(text)].map((part) => part.segment)
    : Array.from(text);

/**
 * A label no wider than `most`, its end cut off with an ellipsis where it must be.
 *
 * @param {Context} context
 * @param {string} label
 * @param {number} most
 */
export function shortened(context, label, most) {
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

/**
 * Paints within a rectangle alone.
 *
 * @param {Context} context
 * @param {[number, number, number, number]} box
 * @param {() => void} paint
 */
export function clipped(context, box, paint) {
  context.save();
  context.beginPath();
  context.rect(...box);
  context.clip();
  paint();
  context.restore();
}
