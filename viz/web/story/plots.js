// Panels of a board that are no tables: dots on a line, a curve, and a picture over an axis.

import { ticksOf } from "../core/ticks.js";
import { bracketed, fixed } from "./marks.js";

/** @import {BoardPanel, Ink, Mark} from "../types" */

/** @typedef {BoardPanel & {kind: "dots" | "curve" | "picture"}} Plot */
/** @typedef {{left: number, wide: number, title: number, head: number, tall: number, size: number}} Place */

/** Of each kind, how many characters it is wide and how many rows of a table it is high. */
export const PLOTS = { dots: { wide: 44, high: 2 }, curve: { wide: 56, high: 5 }, picture: { wide: 56, high: 5 } };
const AXIS = 17; // height of the numbers below an axis
const NAME = 18; // height of a name in a curve
const MARGIN = 12; // beside an axis, for its first and last number
const TICKS = 7; // at most
const BETWEEN = 5; // pictures side by side
const FRAME = "#ffffff"; // over pictures, which are dark in both modes

/** @type {(panel: BoardPanel) => panel is Plot} */
export const isPlot = (panel) => panel.kind in PLOTS;

/** Without the marks for what is below and above the line. @param {string} text */
export const plain = (text) => text.replace(/[_^]\{([^}]*)\}/g, "$1");

/** @type {(key: string, panel: Plot, place: Place, ink: Ink) => Mark[]} */
export function plotMarks(key, panel, place, ink) {
  const { left, wide, title, size } = place;
  const marks = { dots: dotMarks, curve: curveMarks, picture: pictureMarks }[panel.kind](key, panel, place, ink);
  return [{ key: `${key}/title`, kind: "text", x: left + wide / 2, y: title, text: panel.title, size: Math.max(13, size), bold: true, fill: ink.text }, ...marks];
}

/** @type {(panel: BoardPanel, i: number, j: number) => string} */
export function tipOf({ title, rows, cols, values }, i, j) {
  const value = values[i][j];
  const place = [rows[i] ?? "", cols[j] ?? ""].filter(Boolean).join(", ");
  const said = value === null ? "masked" : typeof value === "string" ? value : bracketed(fixed(value, 4));
  return `${plain(title)}${place ? `, ${place}` : ""}: ${said}`;
}

/** What a curve or a picture shows, for a screen reader. @param {Plot} panel */
export function describePlot({ title, rows, values, axis, span }) {
  const numbers = values.map(([value]) => Number(value));
  const most = numbers.indexOf(Math.max(...numbers));
  const over = axis ? `, from ${axis.low} to ${fixed(axis.high, 1)} ${axis.unit}` : "";
  const top = numbers.length ? `, largest at ${rows[most]}` : "";
  return `${plain(title)}${over}${top}${span ? `; “${span.name}” lies between ${fixed(span.low)} and ${fixed(span.high)}` : ""}`;
}

/**
 * Numbers as dots on a line between the least and the largest; rows with a name stand out.
 *
 * @type {(key: string, panel: Plot, place: Place, ink: Ink) => Mark[]}
 */
function dotMarks(key, panel, { left, wide, head, tall, size }, ink) {
  const y = head + tall;
  const values = panel.values.map(([value]) => Number(value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (/** @type {number} */ value) => left + 8 + ((wide - 16) * (value - low)) / (high - low || 1);
  const small = Math.max(11, size - 1);
  /** @type {(i: number) => Mark[]} */
  const dot = (i) => {
    const [value, name] = [values[i], panel.rows[i]];
    const r = name ? 6 : 4;
    const fill = name ? ink.primary : ink.muted;
    const anchor = x(value) > left + wide / 2 ? "end" : "start";
    /** @type {Mark[]} */
    const label = name ? [{ key: `${key}/${i}.0/text`, kind: "text", x: x(value) + (anchor === "end" ? 6 : -6), y: y - 16, text: `${name}: ${fixed(value, panel.digits)}`, size: small, anchor, bold: true, fill }] : [];
    return [{ key: `${key}/${i}.0`, kind: "rect", x: x(value) - r, y: y - r, w: 2 * r, h: 2 * r, r, fill, opacity: name ? 1 : 0.55, tip: tipOf(panel, i, 0) }, ...label];
  };
  const order = values.map((_, i) => i).sort((a, b) => panel.rows[a].length - panel.rows[b].length);
  return [{ key: `${key}/line`, kind: "path", d: `M${left + 8} ${y}H${left + wide - 8}`, stroke: ink.muted, width: 1 }, ...order.flatMap(dot)];
}

/**
 * Numbers at equal distances as a curve from 0 to the largest, with a part of the axis that has a name.
 *
 * @type {(key: string, panel: Plot, place: Place, ink: Ink) => Mark[]}
 */
function curveMarks(key, panel, place, ink) {
  const { left, wide, head, tall, size } = place;
  const values = panel.values.map(([value]) => Number(value));
  const { span } = panel;
  const bottom = head + tall * PLOTS.curve.high - AXIS;
  const top = head + (span ? NAME : 2);
  const most = Math.max(...values) || 1;
  const x = across(panel, place);
  const step = (wide - 2 * MARGIN) / values.length;
  /** @type {Mark[]} */
  const named = [];
  if (span) {
    const [from, to] = [x(span.low), x(span.high)];
    const half = 0.3 * size * span.name.length;
    const middle = Math.min(left + wide - half, Math.max(left + half, (from + to) / 2));
    named.push(
      { key: `${key}/span`, kind: "rect", x: from, y: head, w: Math.max(2, to - from), h: bottom - head, fill: ink.primary, opacity: 0.16 },
      { key: `${key}/span/name`, kind: "text", x: middle, y: head + NAME / 2, text: span.name, size: Math.max(12, size), bold: true, fill: ink.text },
    );
  }
  const bars = values.map((value, i) => {
    const high = ((bottom - top) * value) / most;
    return /** @type {Mark} */ ({ key: `${key}/${i}.0`, kind: "rect", x: left + MARGIN + i * step, y: bottom - high, w: step, h: high, fill: ink.term.weight, term: "weight", tip: tipOf(panel, i, 0) });
  });
  return [...named, ...bars, ...axisMarks(key, panel, place, bottom, ink)];
}

/**
 * One picture, or parts of one side by side.
 *
 * @type {(key: string, panel: Plot, place: Place, ink: Ink) => Mark[]}
 */
function pictureMarks(key, panel, place, ink) {
  const { left, wide, head, tall } = place;
  const { axis, span, hrefs = [] } = panel;
  const bottom = head + tall * PLOTS.picture.high - (axis ? AXIS : 0);
  const gap = hrefs.length > 1 ? BETWEEN : 0;
  const width = (wide - 2 * MARGIN + gap) / hrefs.length;
  const marks = hrefs.map((href, i) => /** @type {Mark} */ ({ key: `${key}/${i}`, kind: "image", href, x: left + MARGIN + i * width, y: head, w: width - gap, h: bottom - head - 2 }));
  if (span) {
    const [from, to] = [span.low, span.high].map(across(panel, place));
    marks.push({ key: `${key}/span`, kind: "rect", x: from, y: head - 1, w: to - from, h: bottom - head, fill: "none", stroke: FRAME, width: 2.5, tip: span.name });
  }
  return axis ? [...marks, ...axisMarks(key, panel, place, bottom, ink)] : marks;
}

/** Where a value of the axis lies. @type {(panel: Plot, place: Place) => (value: number) => number} */
function across({ axis }, { left, wide }) {
  const { low, high } = axis ?? { low: 0, high: 1 };
  return (value) => left + MARGIN + ((wide - 2 * MARGIN) * (value - low)) / (high - low || 1);
}

/** @type {(key: string, panel: Plot, place: Place, y: number, ink: Ink) => Mark[]} */
function axisMarks(key, panel, place, y, ink) {
  const { axis } = panel;
  if (!axis) return [];
  const x = across(panel, place);
  const size = Math.max(12, place.size - 1);
  return [
    { key: `${key}/axis`, kind: "line", x: x(axis.low), y, x2: x(axis.high), stroke: ink.muted, width: 1 },
    ...ticksOf([axis.low, axis.high], TICKS).map(({ value, text }) => /** @type {Mark} */ ({ key: `${key}/tick${value}`, kind: "text", x: x(value), y: y + AXIS / 2 + 1, text: `${text} ${axis.unit}`, size, fill: ink.muted })),
  ];
}
