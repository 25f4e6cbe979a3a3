// A plot: axes with ticks, and what is drawn between them; bars beside each other.

import { ticksOf } from "../core/ticks.js";
import { free } from "./layout.js";
import { joined, line, rect, say, wide } from "./marks.js";

/** @import {FigureTable, Mark} from "../types" */
/** @import {Part} from "./layout.js" */
/** @import {Drawn} from "./marks.js" */

/**
 * @typedef {object} Scale places of numbers
 * @property {(x: number) => number} x
 * @property {(y: number) => number} y
 * @property {(x: number, y: number) => number[]} at
 * @property {(key: string, words: string, points: number[][], more?: Partial<Drawn>) => Drawn} graph points joined by a line
 */

/**
 * @typedef {object} PlotLook
 * @property {number[]} x ends of the axis
 * @property {number[]} y
 * @property {string[]} [log] axes that are logarithmic
 * @property {{x?: (number | (number | string)[])[], y?: (number | (number | string)[])[]}} [ticks] with their texts; round numbers by default, [] for none
 * @property {string[]} [names] of the axes
 * @property {string} [title]
 * @property {number} [wide]
 * @property {number} [high]
 */

/** @type {(key: string, look: PlotLook, draw: (scale: Scale) => Drawn[], tables?: FigureTable[]) => Part} */
export function plot(key, look, draw, tables) {
  const { log = [], ticks = {}, names = ["", ""], title = "", wide: length = 30, high = 15 } = look;
  const [[x0, x1], [y0, y1]] = [look.x, look.y];
  const [across, up] = [ticksOn(ticks.x, x0, x1, 7), ticksOn(ticks.y, y0, y1, 5)];
  const [left, below] = [up.length ? 2.8 : 0.4, (across.length ? 1.4 : 0) + (names[0] ? 1.2 : 0)];
  const above = (title ? 1.7 : 0.3) + (names[1] ? 1.3 : 0);
  const small = { size: 0.88 };
  const drawn = (startX, startY) => {
    const x = scaleOf(x0, x1, startX + left, length, log.includes("x"));
    const y = scaleOf(y0, y1, startY + above + high, -high, log.includes("y"));
    const at = (/** @type {number} */ a, /** @type {number} */ b) => [x(a), y(b)];
    const graph = (name, words, points, more) =>
      joined(
        name,
        words,
        points.map(([a, b]) => at(a, b)),
        more,
      );
    const level = ([value, text], i) => [
      line(`${key}/y${i}`, [x(x0), y(value), x(x1), y(value)], "/line 1"),
      say(`${key}/y${i}/text`, [x(x0) - 0.4, y(value)], text, "muted end", small),
    ];
    return [
      ...(title ? [say(`${key}/title`, [startX, startY + 0.6], title, "bold start", { size: 1.04 })] : []),
      ...(names[1] ? [say(`${key}/y`, [startX, y(y1) - 0.8], names[1], "muted start", small)] : []),
      ...(names[0] ? [say(`${key}/x`, [x(x1), y(y0) + below - 0.6], names[0], "muted end", small)] : []),
      line(`${key}/floor`, [x(x0), y(y0), x(x1), y(y0)], "/muted 1"),
      ...across.map(([value, text], i) => say(`${key}/x${i}`, [x(value), y(y0) + 0.8], text, "muted", small)),
      ...up.flatMap(level),
      ...draw({ x, y, at, graph }),
    ];
  };
  return free(left + length + 0.8, above + high + below, drawn, tables);
}

/** The places and texts of ticks. */
const ticksOn = (ticks, low, high, most) =>
  ticks?.map((each) => (typeof each === "number" ? [each, String(each)] : each)) ??
  ticksOf([low, high], most).map(({ value, text }) => [value, text]);

function scaleOf(low, high, start, length, isLog) {
  const of = isLog ? Math.log : Number;
  return (value) => start + (length * (of(value) - of(low))) / (of(high) - of(low) || 1);
}

/**
 * @typedef {object} BarsLook
 * @property {string[]} [labels] below them
 * @property {string} [title]
 * @property {string} [name] of the labels
 * @property {number} [wide]
 * @property {number} [high]
 * @property {number} [most]
 * @property {(i: number) => string} [said] above a bar
 * @property {(i: number) => Partial<Drawn>} [bar] of its rectangle
 * @property {(i: number) => Mark["press"]} [press]
 * @property {(scale: Scale) => Drawn[]} [more] above the bars
 */

/** Bars beside each other. @type {(key: string, values: number[], look: BarsLook) => Part} */
export function bars(key, values, look) {
  const { labels = [], title = "", name = "", wide: across = 16, high = 8 } = look;
  const { most = Math.max(...values, 1e-9), said, bar, press, more } = look;
  const room = 0.8 + Math.max(0, ...labels.map(wide)); // of a label
  const few = Math.ceil((values.length * room) / across) || 1;
  const below = labels.map((text, i) => [i + 0.5, text]).filter((_, i) => i % few === 0);
  const above = said ? 1.2 / high : 0; // the highest bar
  const axes = {
    ...{ x: [0, values.length], y: [0, (1 + above) * most] },
    ...{ ticks: { x: below, y: [] }, names: [name, ""], title, wide: across, high },
  };
  const tables = title ? [{ title, rows: labels, cols: [name], values: values.map((value) => [value]) }] : [];
  const draw = (/** @type {Scale} */ scale) => {
    const { x, y } = scale;
    const one = (value, i) => {
      const [top, width] = [y(Math.max(0, value)), x(1) - x(0)];
      const sides = [x(i) + 0.08 * width, top, 0.84 * width, Math.max(0.06, y(0) - top)];
      const number =
        said && say(`${key}${i}/value`, [x(i + 0.5), top - 0.6], said(i), "muted", { size: 0.88 });
      const area =
        press &&
        rect(`${key}${i}/press`, [x(i), y(most), width, y(0) - y(most)], "none", { press: press(i) });
      return [
        rect(`${key}${i}`, sides, "line", bar?.(i)),
        ...(number ? [number] : []),
        ...(area ? [area] : []),
      ];
    };
    return [...values.flatMap(one), ...(more?.(scale) ?? [])];
  };
  return plot(`${key}axis`, axes, draw, tables);
}
