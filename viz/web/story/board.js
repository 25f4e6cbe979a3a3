// The picture of a step as rows of matrices and tables.

import { fixed } from "./marks.js";
import { PLOTS, describePlot, isPlot, plain, plotMarks, tipOf } from "./plots.js";

/** @import {Board, BoardPanel, FigureTable, Ink, Mark} from "../types" */

const CHARACTER = 0.57; // mean width of a character, in font sizes
const [LARGEST, TITLE, HEAD, GAP, SIDE] = [14, 24, 20, 18, 8];
const [TALLEST, PATCH, BETWEEN, SIGN] = [30, 20, 20, 26];

/** @typedef {{panel: BoardPanel, texts: string[][], names: number, cols: number[], bare: boolean, title: number}} Measured widths in characters */

const cellText = (value, digits) => (value === null ? "" : typeof value === "string" ? value : fixed(value, Math.max(0, digits)));

const long = (text) => plain(text).length;

function measured(panel) {
  if (isPlot(panel)) {
    const { wide, high } = PLOTS[panel.kind];
    return { panel, texts: Array.from({ length: high }, () => [""]), names: 0, cols: [wide], bare: false, title: 1 + long(panel.title) };
  }
  const texts = panel.values.map((row) => row.map((value) => cellText(value, panel.digits)));
  const bare = panel.digits < 0;
  const names = panel.rows.length ? 1 + Math.max(...panel.rows.map(long)) : 0;
  const cols = (texts[0] ?? []).map((_, j) => 1.5 + Math.max(1, long(panel.cols[j] ?? ""), ...texts.map((row) => (bare ? 0 : long(row[j])))));
  return { panel, texts, names, cols, bare, title: 1 + long(panel.title) };
}

/** The sizes of a board's text and cells: as large as fits. */
function layoutOf({ rows }, [width, height], least = 0) {
  const lines = rows.map((panels) => panels.map(measured));
  const [pictures, others] = [lines.filter(isBare), lines.filter((line) => !isBare(line))];
  const rowsOf = (/** @type {Measured[][]} */ some) => some.reduce((sum, line) => sum + Math.max(...line.map((each) => each.texts.length)), 0);
  const bare = Math.min(PATCH, ...pictures.map((line) => roomOf(line, width) / line.reduce((sum, { cols }) => sum + cols.length, 0)));
  const fixedHigh = lines.reduce((sum, line) => sum + TITLE + GAP + headOf(line), 0);
  const high = fixedHigh + bare * rowsOf(pictures);
  const text = Math.min(TALLEST, (height - high) / Math.max(1, rowsOf(others)));
  const wide = Math.min(...others.map((line) => fontOf(line, width)));
  const size = Math.max(Math.min(LARGEST, 0.62 * text, wide), Math.min(least, 0.8 * text, wide));
  return { lines, bare, text, size, high: high + text * rowsOf(others) };
}

/** @type {(board: Board, size: [number, number], least: number) => number} */
export const boardFont = (board, size, least) => layoutOf(board, size, least).size;

/**
 * The marks of a board, as large as fits.
 *
 * @param {Board} board
 * @param {[number, number]} size of the picture
 * @param {Ink} ink
 * @param {number} [least] size of text, where the board has room for it
 * @returns {Mark[]}
 */
export function boardMarks(board, [width, height], ink, least = 0) {
  const { lines, bare, text, size, high } = layoutOf(board, [width, height], least);
  let top = Math.max(0, (height - high) / 3);
  return lines.flatMap((line, r) => {
    const tall = isBare(line) ? bare : text;
    const wide = line.map((each) => (isOverAxis(each) ? width - 2 * SIDE : widthOf(each, size, bare)));
    const signs = line.filter(({ panel }) => panel.sign).length;
    let left = (width - wide.reduce((a, b) => a + b, 0) - BETWEEN * (line.length - 1) - SIGN * signs) / 2;
    const head = top + TITLE + headOf(line);
    const most = Math.max(...line.map(({ texts }) => texts.length));
    const marks = line.flatMap((each, p) => {
      const key = `b${r}.${p}`;
      const middle = head + (each.texts.length * tall) / 2;
      /** @type {Mark[]} */
      const sign = each.panel.sign ? [{ key: `${key}/sign`, kind: "text", x: left + SIGN / 2 - 4, y: middle, text: each.panel.sign, size: 20, bold: true, fill: ink.muted }] : [];
      if (sign.length) left += SIGN;
      const panel = panelMarks(key, each, { left, wide: wide[p], title: top + 10, head, tall, size, patch: bare }, ink);
      left += wide[p] + BETWEEN;
      return [...sign, ...panel];
    });
    top = head + most * tall + GAP;
    return marks;
  });
}

/** Whether a row has colours alone. */
const isBare = (line) => line.every((each) => each.bare);

/** A curve or a picture, alone in its row and as wide as the board. */
const isOverAxis = ({ panel }) => isPlot(panel) && panel.kind !== "dots";

/** Height of the names of a row's columns. */
const headOf = (line) => (line.some(({ panel }) => panel.cols.length && !isPlot(panel)) ? HEAD : 0);

/** What the cells and names of a row have. @type {(line: Measured[], width: number) => number} */
const roomOf = (line, width) => width - 2 * SIDE - BETWEEN * (line.length - 1) - SIGN * line.filter(({ panel }) => panel.sign).length;

/** The font size at which a row of panels is as wide as the picture. @type {(line: Measured[], width: number) => number} */
const fontOf = (line, width) =>
  roomOf(line, width) / (CHARACTER * line.reduce((sum, { names, cols, title }) => sum + Math.max(title, names + cols.reduce((a, b) => a + b, 0)), 0));

/** @type {(each: Measured, size: number, patch: number) => number} */
function widthOf({ names, cols, bare, title }, size, patch) {
  const unit = CHARACTER * size;
  return bare ? patch * cols.length : Math.max(unit * (names + cols.reduce((a, b) => a + b, 0)), unit * title);
}

/** @type {(key: string, each: Measured, place: {left: number, wide: number, title: number, head: number, tall: number, size: number, patch: number}, ink: Ink) => Mark[]} */
function panelMarks(key, { panel, texts, names, cols, bare }, { left, wide, title, head, tall, size, patch }, ink) {
  if (isPlot(panel)) return plotMarks(key, panel, { left, wide, title, head, tall, size }, ink);
  const unit = CHARACTER * size;
  const cells = cols.map((each) => (bare ? patch : unit * each));
  const body = cells.reduce((a, b) => a + b, 0);
  const start = left + (wide - unit * names - body) / 2 + unit * names;
  const most = Math.max(1e-9, ...panel.values.flat().map((value) => (typeof value === "number" ? Math.abs(value) : 0)));
  const fillOf = (/** @type {number | string | null} */ value) => {
    if (value === null) return ink.surface;
    if (typeof value === "string" || panel.kind === "plain") return ink.background;
    return panel.kind === "weights" ? ink.weight(Math.min(1, Math.max(0, value))) : ink.signed(value / most);
  };
  /** @type {Mark[]} */
  const marks = [{ key: `${key}/title`, kind: "text", x: start - unit * names + (unit * names + body) / 2, y: title, text: panel.title, size: Math.max(13, size), bold: true, fill: ink.text }];
  let x = start;
  panel.cols.forEach((name, j) => {
    marks.push({ key: `${key}/col${j}`, kind: "text", x: x + cells[j] / 2, y: head - 10, text: name, size: Math.max(11, size - 1), fill: ink.muted });
    x += cells[j];
  });
  texts.forEach((row, i) => {
    const y = head + i * tall;
    if (panel.rows[i]) marks.push({ key: `${key}/row${i}`, kind: "text", x: start - 6, y: y + tall / 2, text: panel.rows[i], size, anchor: "end", fill: ink.muted });
    let across = start;
    row.forEach((text, j) => {
      const value = panel.values[i][j];
      const fill = fillOf(value);
      marks.push({ key: `${key}/${i}.${j}`, kind: "rect", x: across, y, w: cells[j], h: tall, fill, stroke: ink.line, tip: tipOf(panel, i, j) });
      if (!bare) marks.push({ key: `${key}/${i}.${j}/text`, kind: "text", x: across + cells[j] / 2, y: y + tall / 2, text, size, fill: ink.on(fill) });
      across += cells[j];
    });
  });
  return marks;
}

/** @param {Board} board */
export const describeBoard = ({ rows }) =>
  rows.flat().map((panel) => isPlot(panel) && panel.kind !== "dots" ? describePlot(panel) : `${plain(panel.title)}: ${panel.values.map((row, i) => `${panel.rows[i] ? `${panel.rows[i]} ` : ""}${row.map((value) => cellText(value, panel.digits) || "masked").join(", ")}`).join("; ")}`).join(". ");

/**
 * The panels as tables below the picture.
 *
 * @param {Board} board
 * @returns {FigureTable[]}
 */
export const boardTables = ({ rows }) => rows.flat().filter(({ values }) => values.length).map(({ title, rows: names, cols, values }) => ({ title: plain(title), rows: names.map(plain), cols: cols.map(plain), values }));
