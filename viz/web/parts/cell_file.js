// A table of cells as a picture.

import { textOn } from "../core/colours.js";
import { contextOf, element, savePng } from "../core/dom.js";

/** @import {Theme} from "../types" */

/**
 * A table for a picture.
 *
 * @typedef {object} Sheet
 * @property {string} title
 * @property {string[]} rows
 * @property {string[]} across names of the columns
 * @property {{text: string, ground: [number, number, number] | null}[][]} cells
 * @property {number} wide of a cell
 */

const [TALL, LEFT, TOP, EDGE] = [24, 110, 88, 20];

/**
 * Saves a table as a picture.
 *
 * @param {Sheet} sheet
 * @param {string} name of the file
 * @param {Theme} theme
 */
export function saveCells({ title, rows, across, cells, wide }, name, theme) {
  const file = element("canvas");
  const measured = contextOf(file);
  measured.font = "600 16px sans-serif";
  const width = Math.max(LEFT + across.length * wide, measured.measureText(title).width) + 2 * EDGE;
  [file.width, file.height] = [2 * width, 2 * (TOP + rows.length * TALL + EDGE)];
  const context = contextOf(file);
  context.scale(2, 2);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, file.width, file.height);
  context.fillStyle = theme.text;
  context.textBaseline = "middle";
  context.font = "600 16px sans-serif";
  context.fillText(title, EDGE, EDGE + 10);
  context.font = "13px sans-serif";
  function write(text, x, y, most) {
    let short = text;
    while (short.length > 1 && context.measureText(short).width > most) short = `${short.slice(0, -2)}…`;
    context.fillText(short, x, y);
  }
  across.forEach((label, i) => write(label, EDGE + LEFT + i * wide + 4, TOP - TALL / 2, wide - 6));
  rows.forEach((label, row) => {
    const y = TOP + row * TALL;
    context.fillStyle = theme.text;
    write(label, EDGE, y + TALL / 2, LEFT - 8);
    cells[row].forEach(({ text, ground }, column) => {
      const x = EDGE + LEFT + column * wide;
      if (ground) {
        context.fillStyle = `rgb(${ground.join()})`;
        context.fillRect(x, y, wide - 1, TALL - 1);
      }
      context.fillStyle = ground ? textOn(ground, theme.text) : theme.text;
      write(text, x + 4, y + TALL / 2, wide - 6);
    });
  });
  savePng(file, name);
}
