// Parts of the view as a picture.

import { textOn } from "../../web/core/colours.js";
import { contextOf, element } from "../../web/core/dom.js";
import { legible } from "../../web/core/labels.js";
import { colourOf, largest } from "../../web/methods/methods.js";

/** @import {Theme} from "../../web/types" */

function heading(context, text, theme) {
  context.fillStyle = theme.background;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  context.fillStyle = theme.text;
  context.font = "600 22px sans-serif";
  context.fillText(text, 20, 38);
}

/**
 * Pictures below each other.
 *
 * @param {HTMLCanvasElement[]} pictures
 * @param {Theme} theme
 */
export function below(pictures, theme) {
  const file = element("canvas");
  file.width = Math.max(...pictures.map(({ width }) => width));
  file.height = pictures.reduce((sum, { height }) => sum + height, 0);
  const context = contextOf(file);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, file.width, file.height);
  let top = 0;
  for (const picture of pictures) {
    context.drawImage(picture, 0, top);
    top += picture.height;
  }
  return file;
}

/**
 * A shaded text.
 *
 * @param {string} label
 * @param {{labels: string[], values: number[]}} text
 * @param {Theme} theme
 */
export function fileOfTokens(label, { labels, values }, theme) {
  const file = element("canvas");
  const [high, gap, wide] = [34, 6, 900];
  const measure = contextOf(file);
  measure.font = "18px sans-serif";
  let [x, y] = [20, 60];
  const places = labels.map((text) => {
    const width = measure.measureText(legible(text)).width + 16;
    if (x + width > wide - 20) [x, y] = [20, y + high + gap];
    const place = { text: legible(text), x, y, width };
    x += width + gap;
    return place;
  });
  [file.width, file.height] = [wide, y + high + 20];
  const context = contextOf(file);
  heading(context, label, theme);
  context.font = "18px sans-serif";
  context.textBaseline = "middle";
  const signed = values.some((value) => value < 0);
  places.forEach(({ text, x: left, y: top, width }, i) => {
    const ground = colourOf(theme, values[i] ?? 0, largest(values), signed);
    context.fillStyle = `rgb(${ground.join()})`;
    context.fillRect(left, top, width, high);
    context.fillStyle = textOn(ground, theme.text);
    context.fillText(text, left + 8, top + high / 2);
  });
  return file;
}
