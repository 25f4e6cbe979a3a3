// Rows with names, and columns of texts, numbers or bars beside them.

import { written } from "./matrix.js";
import { free } from "./layout.js";
import { plain, rect, say, wide } from "./marks.js";

/** @import {Mark} from "../types" */
/** @import {Part} from "./layout.js" */
/** @import {Colour, Drawn} from "./marks.js" */

const [GAP, BAR] = [1, 1.1]; // between columns, height of a bar

/**
 * @typedef {object} Column
 * @property {string} [head]
 * @property {(number | string | null)[]} values
 * @property {number} [bar] length of the bars of its numbers, of which each has its number beside it
 * @property {number} [most] the number with the longest bar; where some are below 0, bars begin in the middle
 * @property {number} [digits]
 * @property {string} [term]
 * @property {(i: number) => string} [said] in place of the number
 * @property {(i: number) => Colour | undefined} [fill]
 * @property {(i: number) => string | undefined} [tip]
 * @property {(i: number) => string[]} [of]
 * @property {(i: number) => Partial<Drawn>} [more] of the bar or the text
 */

/**
 * @typedef {object} ListLook
 * @property {string} [about] the title of its table
 * @property {string} [head] above the names
 * @property {string} [term] of the names
 * @property {number} [tall] height of a row
 * @property {number} [lit] the row that stands out
 * @property {(i: number) => Mark["press"] | undefined} [press] what pressing a row does
 * @property {(i: number) => Partial<Drawn>} [more] of a name
 */

/** @type {(key: string, names: string[], columns: (Column | false | undefined)[], look?: ListLook) => Part} */
export function list(key, names, columns, look = {}) {
  const { about = "", head = "", term, tall = 1.8, lit, press, more } = look;
  const all = columns.flatMap((each) => (each ? [columnOf(each)] : []));
  const heads = [head, ...all.map((each) => each.head ?? "")].some(Boolean) ? 1.7 : 0;
  const inset = press ? 0.5 : 0;
  const first = inset + Math.max(wide(head), ...names.map(wide)) + GAP;
  const starts = all.map((_, c) => all.slice(0, c).reduce((sum, each) => sum + each.w + GAP, first));
  const width = starts[starts.length - 1] + all[all.length - 1].w + inset;
  const draw = (x, y) => {
    const headOf = (each, c) => {
      const words = `${each.term ?? "muted"} bold ${each.bar ? "start" : "end"}`;
      const place = [x + starts[c] + (each.bar ? 0 : each.w), y + 0.7];
      return say(`${key}/head${c}`, place, each.head ?? "", words, { size: 0.94 });
    };
    const rowOf = (name, i) => {
      const middle = y + heads + (i + 0.5) * tall;
      const words = `${term ?? ""} start ${i === lit ? "bold" : ""}`;
      const pressed = press?.(i);
      const frame = [x, middle - 0.47 * tall, width, 0.94 * tall];
      const line = i === lit ? "/primary 2" : "/line 0.6";
      return [
        say(`${key}${i}`, [x + inset, middle], name, words, more?.(i)),
        ...all.flatMap((each, c) => each.draw(`${key}${i}/${c}`, i, x + starts[c], middle)),
        ...(pressed ? [rect(`${key}${i}/press`, frame, line, { r: 0.4, press: pressed })] : []),
      ];
    };
    const above = head
      ? [say(`${key}/head`, [x + inset, y + 0.7], head, `muted bold start ${term ?? ""}`)]
      : [];
    return [...above, ...all.map(headOf), ...names.flatMap(rowOf)];
  };
  const values = names.map((_, i) => all.map((each) => each.values[i] ?? null));
  const cols = all.map((each) => plain(each.head ?? ""));
  const tables = about ? [{ title: about, rows: names.map(plain), cols, values }] : [];
  return free(width, heads + tall * names.length, draw, tables);
}

/** A column with its width, and how its cells are drawn. */
function columnOf(column) {
  const { values, bar = 0, digits = 2, term = "", head = "", said, tip, of, fill, more } = column;
  const numbers = values.map(Number);
  const text = (i) => said?.(i) ?? written(values[i], digits);
  const longest = Math.max(...values.map((_, i) => wide(text(i))));
  const w = Math.max(wide(head), 0.94 * longest + (bar ? bar + 0.4 : 0));
  const isSigned = numbers.some((each) => each < 0);
  const most = column.most ?? Math.max(...numbers.map(Math.abs), 1e-9);
  /** @type {(key: string, i: number, x: number, y: number) => Drawn[]} */
  const draw = (key, i, x, y) => {
    const look = { tip: tip?.(i), of: of?.(i), ...(fill?.(i) && { fill: fill(i) }), ...more?.(i) };
    if (!bar) return [say(key, [x + w, y], text(i), `${term} end`, { size: 0.94, ...look })];
    const [zero, share] = [x + (isSigned ? bar / 2 : 0), numbers[i] / most / (isSigned ? 2 : 1)];
    const end = isSigned ? x + bar : x + Math.max(0, share * bar);
    const box = [Math.min(zero, zero + share * bar), y - BAR / 2, Math.abs(share * bar), BAR];
    return [
      rect(key, box, term || "muted", { r: 0.15, ...look }),
      say(`${key}/number`, [end + 0.4, y], text(i), `${term} start`, { size: 0.94 }),
    ];
  };
  return { ...column, w, draw };
}
