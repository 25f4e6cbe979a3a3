// Tokens, words or letters in a row; each may be pressed.

import { free, WIDEST } from "./layout.js";
import { rect, say, wide } from "./marks.js";

/** @import {Mark} from "../types" */
/** @import {Part} from "./layout.js" */
/** @import {Drawn} from "./marks.js" */

const [TALL, GAP] = [1.9, 0.3];

/**
 * @typedef {object} TokensLook
 * @property {number} [chosen]
 * @property {(i: number) => Mark["press"] | false} [press]
 * @property {(i: number) => string} [words] the look of a token's box
 * @property {(i: number) => Partial<Drawn>} [more] of its box
 * @property {(i: number) => Partial<Drawn>} [letters] of its text
 * @property {number} [cell] width of each; as wide as its text by default
 * @property {boolean} [wrap] whether there are several lines if need be, or one that fits
 */

/** @type {(key: string, names: string[], look?: TokensLook) => Part} */
export function tokens(key, names, look = {}) {
  const { chosen, press, words, more, letters, cell, wrap = false } = look;
  const widths = names.map((name) => cell ?? Math.max(TALL, 0.8 + wide(name)));
  const lines = linesOf(widths, wrap ? WIDEST : Infinity);
  const longOf = (each) => each.reduce((sum, i) => sum + widths[i] + GAP, -GAP);
  const long = Math.max(0, ...lines.map(longOf));
  const unit = Math.min(1, WIDEST / long); // narrower than wanted
  const token = (i, left, top) => {
    const w = widths[i] * unit;
    const usual = i === chosen ? "surface/primary 2.5" : "background/line 1";
    const state = { r: 0.4, press: press?.(i) || undefined, ...more?.(i) };
    const box = rect(`${key}${i}`, [left, top, w, TALL], words?.(i) ?? usual, state);
    const size = Math.min(1, (0.96 * w) / Math.max(0.5, wide(names[i])));
    const said = `${box.term ?? ""} ${i === chosen ? "bold" : ""}`;
    const middle = [left + w / 2, top + TALL / 2];
    return [box, say(`${key}${i}/text`, middle, names[i], said, { size, ...letters?.(i) })];
  };
  const draw = (x, y) =>
    lines.flatMap((each, n) =>
      each.flatMap((i, at) => {
        const before = each.slice(0, at).reduce((sum, other) => sum + widths[other] + GAP, 0);
        return token(i, x + before * unit, y + n * (TALL + GAP));
      }),
    );
  return free(long * unit, lines.length * (TALL + GAP) - GAP, draw);
}

/** The numbers of the words of each line. */
function linesOf(widths, room) {
  /** @type {number[][]} */
  const lines = [[]];
  let used = 0;
  widths.forEach((width, i) => {
    if (used + width > room && used) {
      lines.push([]);
      used = 0;
    }
    lines[lines.length - 1].push(i);
    used += width + GAP;
  });
  return lines;
}
