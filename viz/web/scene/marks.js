// Marks in units of the font size, made with few words, and the colours of figures by name.
//
// A mark's look is a few words: “surface/line 2 bold start” is filled with one colour and outlined, 2 wide, with
// another; of a text the first is that of its letters. The names of terms (query, key, …) and of heads (head0, …) are
// colours, too.

import { parse, textOn } from "../core/colours.js";

/** @import {Ink, Mark, StoryTheme} from "../types" */

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
