// A matrix: cells with their numbers, a title above and names beside them.

import { fixed, onto, path, plain, rect, say, signedOf, weightOf, wide } from "./marks.js";
import { free } from "./layout.js";

/** @import {Mark} from "../types" */
/** @import {Part} from "./layout.js" */
/** @import {Colour, Drawn} from "./marks.js" */

/** @typedef {number | string | null} Value null is masked, a text is shown as it is */

/**
 * @typedef {object} MatrixLook
 * @property {string} [title]
 * @property {string} [about] the title of its table, where it has no title
 * @property {string[]} [rows] names
 * @property {string[]} [cols] names
 * @property {string} [term]
 * @property {string} [kind] of its colours: “weights” from 0 to 1, “signed” below and above 0, or “plain” without
 * @property {number} [most] the number with the full colour
 * @property {number} [digits] after the point; less than 0 for colours alone
 * @property {boolean} [upright] whether the names of columns stand
 * @property {number} [cell] width of a cell
 * @property {number} [tall] height of a row
 * @property {string} [stroke]
 * @property {(value: any, i: number, j: number) => Colour | false} [fill]
 * @property {(value: any, i: number, j: number) => string | false} [tip]
 * @property {(i: number, j: number) => string[]} [of] keys of the cells that a number comes from
 * @property {(i: number, j: number) => Mark["edit"]} [edit]
 * @property {(i: number, j: number) => boolean} [lit] cells with a frame
 * @property {(i: number) => Mark["press"]} [follow] what pressing a row's name does
 * @property {(i: number, j: number) => Partial<Drawn>} [more] of a cell
 */

/** @type {(value: Value, digits: number) => string} */
export const written = (value, digits) =>
  value === null ? "" : typeof value === "string" ? value : fixed(value, Math.max(0, digits));

/** @type {(key: string, values: Value[][], look?: MatrixLook) => Part} */
export function matrix(key, values, look = {}) {
  const { title = "", about = title, rows = [], cols = [], term, kind = "plain", digits = 2 } = look;
  const isBare = digits < 0;
  const bare = Math.min(1.2, 14 / Math.max(values.length, values[0]?.length ?? 0));
  const { tall = isBare ? bare : 1.75 } = look;
  const texts = values.map((each) => each.map((value) => written(value, digits)));
  const widths = (texts[0] ?? []).map((_, j) => {
    const most = isBare ? 0 : Math.max(...texts.map((each) => 0.5 + 0.92 * wide(each[j])));
    return look.cell ?? (isBare ? bare : Math.max(1.7, 0.4 + 0.92 * wide(cols[j] ?? ""), most));
  });
  const isEven = values.flat().every((value) => typeof value === "number");
  const cells = isEven ? widths.map(() => Math.max(...widths)) : widths;
  const body = cells.reduce((sum, width) => sum + width, 0);
  const names = rows.some(Boolean) ? (look.follow ? 1.2 : 0.5) + 0.92 * Math.max(...rows.map(wide)) : 0;
  const isTurned = (isBare || look.upright) && cols.length > 0; // names stand where cells are narrow
  const head =
    (title ? 1.7 : 0) + (isTurned ? 0.4 + 0.85 * Math.max(...cols.map(wide)) : cols.length ? 1.5 : 0);
  const most =
    look.most ??
    (kind === "weights" ? 1 : Math.max(1e-9, ...values.flat().map((value) => Math.abs(Number(value) || 0))));
  const ground = (value, i, j) => {
    if (look.fill) return look.fill(value, i, j) || "background";
    if (typeof value !== "number") return value === null ? "surface" : "background";
    if (kind === "plain") return "background";
    return kind === "weights" ? weightOf(value / most) : signedOf(value / most);
  };
  const outline = look.stroke ?? (kind === "plain" ? term : undefined) ?? "line";

  const draw = (x, y) => {
    const left = x + names;
    const across = (j) => left + cells.slice(0, j).reduce((sum, width) => sum + width, 0);
    const down = (i) => y + head + i * tall;
    const small = { size: 0.92 };
    const cell = (i, j) => {
      const [value, at] = [values[i][j], `${key}/${i}.${j}`];
      const [fill, box] = [ground(value, i, j), [across(j), down(i), cells[j], tall]];
      const cause = {
        tip: look.tip?.(value, i, j) || undefined,
        of: look.of?.(i, j),
        edit: look.edit?.(i, j),
      };
      const words = look.lit?.(i, j) ? "/primary 2.5" : `/${outline} 1`;
      const square = rect(at, box, words, { fill, term, ...cause, ...look.more?.(i, j) });
      if (isBare || texts[i][j] === "") return [square];
      const middle = [across(j) + cells[j] / 2, down(i) + tall / 2];
      const letters = { ...small, fill: onto(fill), term, opacity: square.opacity };
      return [square, say(`${at}/number`, middle, texts[i][j], "", letters)];
    };
    const above = say(`${key}/title`, [left + body / 2, y + 0.75], title, `${term ?? ""} bold`, {
      size: 1.04,
    });
    const column = (name, j) => {
      const place = [across(j) + cells[j] / 2, down(0) - (isTurned ? 0.3 : 0.7)];
      const turn = isTurned ? -60 : 0;
      return say(`${key}/col${j}`, place, name, isTurned ? "muted start" : "muted", { ...small, turn });
    };
    const row = (name, i) => nameOf(key, i, name, [x, down(i), names, tall], look.follow?.(i));
    return [
      ...(title ? [above] : []),
      ...cols.map(column),
      ...rows.flatMap((name, i) => (name ? row(name, i) : [])),
      ...values.flatMap((each, i) => each.flatMap((_, j) => cell(i, j))),
    ];
  };
  const tables = about ? [{ title: plain(about), rows: rows.map(plain), cols: cols.map(plain), values }] : [];
  const over = Math.max(0, wide(title) * 1.04 - body); // of a title that is wider than its cells
  const aside = Math.max(0, over / 2 - (over ? Math.min(names, over / 2) : 0));
  return free(names + body + over, head + tall * values.length, (x, y) => draw(x + aside, y), tables);
}

/** The name of a row, which may be pressed. */
function nameOf(key, i, name, [x, y, w, h], press) {
  if (!press) return [say(`${key}/row${i}`, [x + w - 0.4, y + h / 2], name, "muted end", { size: 0.92 })];
  const words = press.pressed ? "background/primary 2.5" : "background/line 1";
  return [
    rect(`${key}/row${i}`, [x + 0.05, y + 0.12, w - 0.3, h - 0.24], words, { r: 0.7, press }),
    say(`${key}/row${i}/name`, [x + w / 2 - 0.1, y + h / 2], name, press.pressed ? "bold" : "", {
      size: 0.92,
    }),
  ];
}

const SHADES = 12;

/** Weights as a small square without numbers: one mark for each shade. @type {(key: string, weights: number[][], side: number) => Part} */
export const heatmap = (key, weights, side) =>
  free(side, side, (x, y) => {
    const cell = side / weights.length;
    const paths = Array(SHADES + 1).fill("");
    const square = (i, j) => `M${x + j * cell} ${y + i * cell}h${cell}v${cell}h${-cell}z`;
    weights.forEach((row, i) =>
      row.forEach((weight, j) => (paths[Math.round(weight * SHADES)] += square(i, j))),
    );
    const shaded = (d, shade) => path(`${key}/${shade}`, d, "", { fill: weightOf(shade / SHADES) });
    return paths.flatMap((d, shade) => (d ? [shaded(d, shade)] : []));
  });
