// Marks in units of the font size, made with few words; where they are, the numbers that they write, and the colours of
// figures by name.
//
// A mark's look is a few words: “surface/line 2 bold start” is filled with one colour and outlined, 2 wide, with
// another; of a text the first is that of its letters. The names of terms (query, key, …) and of heads (head0, …) are
// colours, too.

import { parse, textOn } from "../core/colours.js";

/** @import {Ink, Inputs, Mark, StoryTheme} from "../types" */

/** @typedef {{x: number, y: number, w: number, h: number}} Extent */

const WIDE = 0.55; // of a letter, in sizes of its text
const LINES = new Set(["line", "arrow", "curve", "path"]);

/** @param {Mark} mark */
export const isLine = ({ kind }) => LINES.has(kind);

/** Where a mark is, in the picture's units; the width of a text is an estimate. @type {(mark: Mark) => Extent} */
export function extentOf(mark) {
  const { kind, x = 0, y = 0, w = 0, h = 0, r = 0, x2 = x, y2 = y, size = 14 } = mark;
  if (kind === "rect" || kind === "image") return { x, y, w, h };
  if (kind === "circle") return { x: x - r, y: y - r, w: 2 * r, h: 2 * r };
  if (kind !== "text")
    return { x: Math.min(x, x2), y: Math.min(y, y2), w: Math.abs(x2 - x), h: Math.abs(y2 - y) };
  const letters = (mark.text ?? "").replace(/[_^{}]/g, "").length;
  const wide = letters * size * WIDE;
  const before = { start: 0, middle: wide / 2, end: wide }[mark.anchor ?? "middle"];
  return { x: x - before, y: y - size / 2, w: wide, h: size };
}

/** The nearest of other marks in a direction, straight ahead before aside; dy grows downwards. @type {(from: Mark, others: Mark[], dx: number, dy: number) => Mark | undefined} */
export function nearest(from, others, dx, dy) {
  const middle = (/** @type {Mark} */ mark) => {
    const { x, y, w, h } = extentOf(mark);
    return [x + w / 2, y + h / 2];
  };
  const [x, y] = middle(from);
  const far = others.map((each) => {
    const [across, down] = middle(each).map((to, i) => to - [x, y][i]);
    const ahead = across * dx + down * dy;
    return ahead > 1 ? ahead + 3 * Math.abs(across * dy + down * dx) : Infinity;
  });
  const least = Math.min(...far);
  return least < Infinity ? others[far.indexOf(least)] : undefined;
}

/** A number with a typographic minus. @type {(value: number, digits?: number) => string} */
export function fixed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** A number as digits times a power of ten, written as text: “6.9·10⁻⁷”. @type {(value: number, digits: number) => string} */
export function power(value, digits) {
  const [text, exponent] = value.toExponential(digits).split("e");
  const raised = [...String(Number(exponent))].map((sign) =>
    sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)],
  );
  return `${text.replace("-", "−")}·10${raised.join("")}`;
}

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

/** The keys of the cells of a matrix's row. @type {(key: string, row: number, length: number) => string[]} */
export const rowOf = (key, row, length) => Array.from({ length }, (_, col) => `${key}/${row}.${col}`);

/** The keys of the cells of a matrix's column. @type {(key: string, col: number, length: number) => string[]} */
export const columnOf = (key, col, length) => Array.from({ length }, (_, row) => `${key}/${row}.${col}`);

/** A number's text, in brackets if it is negative. @param {string} text */
export const bracketed = (text) => (text.startsWith("−") ? `(${text})` : text);

/** An input with one number of it changed. @type {(list: Inputs[string], at: number, value: number) => Inputs[string]} */
export const replaced = (list, at, value) => (Array.isArray(list) ? list.with(at, value) : value);

/** A sum of products written out: “0.25 · 3 + 0.75 · 1 = 1.5”. @type {(a: number[], b: number[], digits?: number) => string} */
export function writtenSum(a, b, digits = 2) {
  const written = (value) => bracketed(fixed(value, digits));
  const total = a.reduce((sum, value, i) => sum + value * b[i], 0);
  return `${a.map((value, i) => `${written(value)}·${written(b[i])}`).join(" + ")} = ${fixed(total, digits)}`;
}

/** A number, at a place of an input, that can be typed in its cell. @type {(inputs: Inputs, name: string, at: number, label: string, value: number) => Mark["edit"]} */
export const typed = (inputs, name, at, label, value) => ({
  label,
  value,
  apply: (next) => ({ [name]: replaced(inputs[name], at, next) }),
});

/** @type {(values: number[], digits?: number) => string} */
export const list = (values, digits) => values.map((each) => fixed(each, digits)).join(", ");

/** A number with commas between thousands, and at most so many digits after the point. @type {(value: number, digits?: number) => string} */
export const grouped = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits });

/** The numbers of a column. @type {(values: number[][], col: number) => number[]} */
export const nth = (values, col) => values.map((each) => each[col]);

/**
 * @typedef {Omit<Mark, "fill" | "stroke" | "term"> & {fill?: Colour, stroke?: Colour, term?: string}} Drawn a mark in em, its colours by name
 * @typedef {string | ((ink: Ink) => string)} Colour a name of the ink or of a term, or made from the ink
 */

const LETTER = 0.51; // mean width of a letter
/** @type {Record<string, number>} */
const SIZES = { small: 0.88, large: 1.15 }; // of text
const TERMS = new Set(["query", "key", "value", "weight", "output"]);

/** Text without the signs of what is below and above the line. @param {string} string */
export const plain = (string) => string.replace(/[_^]\{([^}]*)\}/g, "$1");

/** Width of a text. @param {string} string */
export const wide = (string) => LETTER * [...plain(string)].length;

/** @type {(string: string, most: number) => string} */
export const cut = (string, most) =>
  [...string].length > most ? `${[...string].slice(0, most - 1).join("")}…` : string;

/** @type {(share: number) => Colour} */
export const weightOf = (share) => (ink) => ink.weight(Math.min(1, Math.max(0, share)));

/** @type {(share: number) => Colour} */
export const signedOf = (share) => (ink) => ink.signed(Math.min(1, Math.max(-1, share)));

/** A colour that is legible on another. @type {(ground: Colour) => Colour} */
export const onto = (ground) => (ink) => ink.on(colourOf(ground, ink) ?? ink.background);

/** @type {(colour: any, ink: any) => any} */
export function colourOf(colour, ink) {
  if (typeof colour === "function") return colour(ink);
  if (/^head\d+$/.test(colour)) return ink.heads[Number(colour.slice(4)) % ink.heads.length];
  return ink.term[colour] ?? ink[colour] ?? colour;
}

/** What the words of a look say. @type {(words: string, isText: boolean) => Partial<Drawn>} */
export function lookOf(words, isText) {
  /** @type {Partial<Drawn>} */
  const look = {};
  for (const word of words.split(" ").filter(Boolean)) {
    if (word === "bold") look.bold = true;
    else if (word === "arrow" || word === "curve") look.kind = word;
    else if (word === "start" || word === "end") look.anchor = word;
    else if (word === "dashed") look.dash = "4 4";
    else if (word in SIZES) look.size = SIZES[word];
    else if (Number(word)) look.width = Number(word);
    else {
      const [fill, stroke] = word.split("/");
      if (fill) look.fill = fill;
      if (stroke) look.stroke = stroke;
      const term = [fill, stroke].find((each) => TERMS.has(each));
      if (term) look.term = term;
    }
  }
  if (look.term && isText) look.fill ??= look.term;
  return look;
}

/** A kind of mark, made from its key, where it is, the words of its look, and what else is said of it. */
const kindOf =
  (kind, names, usual = "") =>
  (key, place, words = usual, more = {}) => {
    const where = Object.fromEntries(names.map((name, i) => [name, place[i]]));
    return { key, kind, ...where, ...lookOf(words, false), ...more };
  };

/** @typedef {(key: string, place: number[], words?: string, more?: Partial<Drawn>) => Drawn} Maker */

/** @type {Maker} */
export const rect = kindOf("rect", ["x", "y", "w", "h"]);

/** @type {Maker} */
export const line = kindOf("line", ["x", "y", "x2", "y2"], "/muted");

/** @type {(key: string, href: string, box: number[], more?: Partial<Drawn>) => Drawn} */
export const image = (key, href, box, more) => ({ ...rect(key, box), kind: "image", href, ...more });

/** @type {(key: string, middle: number[], r: number, words?: string, more?: Partial<Drawn>) => Drawn} */
export const circle = (key, middle, r, words = "", more) => ({
  ...rect(key, middle, words),
  ...{ kind: "circle", r, ...more },
});

/** @type {(key: string, place: number[], string: string, words?: string, more?: Partial<Drawn>) => Drawn} */
export const say = (key, [x, y], string, words = "", more) => ({
  ...{ key, kind: "text", x, y, text: string, size: 1 },
  ...lookOf(words, true),
  ...more,
});

/** @type {(key: string, d: string, words?: string, more?: Partial<Drawn>) => Drawn} */
export const path = (key, d, words = "/muted", more) => ({
  ...{ key, kind: "path", d },
  ...lookOf(words, false),
  ...more,
});

/** Points joined by a line. @type {(key: string, words: string, points: number[][], more?: Partial<Drawn>) => Drawn} */
export const joined = (key, words, points, more) =>
  path(key, `M${points.map((point) => point.join(" ")).join("L")}`, words, more);

/** The colours of a figure in the mode in force. @type {(theme: StoryTheme) => Ink} */
export function inkOf({ terms, weights, signed, ...named }) {
  return {
    ...named,
    term: terms,
    weight: (share) => pick(weights, share),
    signed: (share) => pick(signed, (share + 1) / 2),
    on: (ground) => textOn(parse(ground) ?? [255, 255, 255], named.text),
  };
}

function pick(colours, share) {
  const at = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return colours[Math.round(at * (colours.length - 1))];
}

/** @param {HTMLElement} root @param {StoryTheme} colours */
export function setColours({ style }, colours) {
  for (const [name, value] of Object.entries(colours.terms)) style.setProperty(`--term-${name}`, value);
  for (const name of ["background", "surface", "text", "muted", "line", "primary"])
    style.setProperty(`--hs-${name}`, colours[name]);
}
