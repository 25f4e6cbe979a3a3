// Where the words of a text stand: in lines, as large as they fit. Pure functions; lengths are CSS pixels.

/** @import {Text} from "../../web/types" */

const SIZES = [88, 76, 64, 52, 41, 36, 32, 28, 24, 21, 18, 16];
const SPECIAL = 0.52; // of the size: special tokens
const APART = 0.24; // of the size: between words
const INSIDE = 0.16; // of the size: at the sides of a word
const PITCH = 3.8; // of the size: from line to line, where there is room
const CLOSE = 2.35; // of the size: the least
const HIGH = 1.36; // of the size: a word

/** @typedef {{index: number, x: number, y: number, wide: number, high: number, line: number}} Word */

/**
 * @param {Text} text
 * @param {readonly [number, number]} range tokens that are drawn
 * @param {{wide: number, high: number}} room
 * @param {number[]} widths of the tokens at a size of 1
 * @param {number} [largest] size of the type
 */
export function layoutOf(text, range, room, widths, largest = SIZES[0]) {
  const sizes = SIZES.filter((size) => size <= largest);
  for (const size of sizes) {
    const lines = linesOf(text, range, room.wide, size, widths);
    const least = size * CLOSE * lines.length;
    if (least <= room.high || size === sizes[sizes.length - 1]) return placed(lines, room, size);
  }
  throw new Error("expected a size of type");
}

/** @type {(text: Text, range: readonly [number, number], wide: number, size: number, widths: number[]) => {index: number, x: number, wide: number}[][]} */
function linesOf({ special, joined = [] }, [from, to], wide, size, widths) {
  const [specials, touches] = [new Set(special), new Set(joined)];
  const lines = [/** @type {{index: number, x: number, wide: number}[]} */ ([])];
  let x = 0;
  for (let index = from; index < to; index++) {
    const type = specials.has(index) ? SPECIAL * size : size;
    const width = Math.min(wide, widths[index] * type + 2 * INSIDE * size);
    const gap = x === 0 ? 0 : touches.has(index) ? 2 : APART * size;
    if (x + gap + width > wide && x > 0) {
      lines.push([]);
      x = 0;
    } else x += gap;
    lines[lines.length - 1].push({ index, x, wide: width });
    x += width;
  }
  return lines;
}

function placed(lines, { wide, high }, size) {
  const pitch = Math.max(CLOSE * size, Math.min(PITCH * size, high / lines.length));
  const tall = Math.max(high, pitch * lines.length);
  const above = lines.length === 1 ? 0.42 * high : (tall - pitch * (lines.length - 1)) / 2;
  /** @type {Map<number, Word>} */
  const words = new Map();
  lines.forEach((line, number) => {
    const last = line[line.length - 1];
    const shift = last ? Math.max(0, (wide - last.x - last.wide) / 2) : 0;
    for (const { index, x, wide: width } of line)
      words.set(index, {
        ...{ index, x: x + shift, wide: width, line: number },
        ...{ y: above + number * pitch - (HIGH * size) / 2, high: HIGH * size },
      });
  });
  return { size, special: SPECIAL * size, pitch, tall, words, lines: lines.length };
}

/**
 * The line from one word to another: an S between lines of text, below them within one.
 *
 * @param {Word} from
 * @param {Word} to
 * @param {number} pitch
 */
export function strandOf(from, to, pitch) {
  const [x, z] = [from.x + from.wide / 2, to.x + to.wide / 2];
  if (from.line === to.line) {
    const y = from.y + from.high + 4;
    const deep = Math.min(0.42 * pitch, 14 + 0.12 * Math.abs(z - x));
    return `M${x} ${y}C${x} ${y + deep} ${z} ${y + deep} ${z} ${y}`;
  }
  const [upper, lower] = from.line < to.line ? [from, to] : [to, from];
  const [ux, lx] = [upper.x + upper.wide / 2, lower.x + lower.wide / 2];
  const [top, bottom] = [upper.y + upper.high + 2, lower.y - 6];
  const bend = 0.62 * (bottom - top);
  return `M${ux} ${top}C${ux} ${top + bend} ${lx} ${bottom - bend} ${lx} ${bottom}`;
}
