// Paragraphs with terms, glossary entries and numbers.

import { html } from "../core/html.js";
import { power } from "../scene/marks.js";

/** @import {ProsePart} from "../types" */

const LONGEST = 16; // digits after the point

/** The value at a path such as “weights.2.1”; undefined if there is none. @type {(numbers: any, path: string) => any} */
export const valueAt = (numbers, path) => path.split(".").reduce((value, name) => value?.[name], numbers);

/**
 * A number as Python's format() writes it, with a typographic minus and powers of ten: “.2f”, “+.2f”,
 * “.0%”, “.4e”, “,d”; anything else is shown as it is.
 *
 * @param {unknown} value
 * @param {string} format
 */
export function formatted(value, format) {
  const match = /^(\+?)(,?)(?:\.(\d+))?([fe%d])$/.exec(format);
  if (typeof value !== "number" || !match) return String(value ?? "–");
  const [, plus, comma, places, kind] = match;
  const digits = Math.min(LONGEST, Number(places ?? (kind === "d" ? 0 : 6)));
  const size = Math.abs(kind === "%" ? 100 * value : value);
  let text = kind === "e" ? power(size, digits) : size.toFixed(digits);
  const negative = value < 0 && Number(text) !== 0;
  if (comma) text = text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return `${negative ? "−" : plus}${text}${kind === "%" ? "\u00a0%" : ""}`;
}

/** Numbers at a path as text: of a list all, with those of the other lists in the path beside them. @type {(numbers: any, path: string, format: string) => string} */
export function writtenAt(numbers, path, format) {
  const [first, ...others] = path.split("&").map((each) => valueAt(numbers, each));
  const isDeep = Array.isArray(first?.[0]);
  const one = (value) => (Array.isArray(value) ? value.map(one).join(", ") : formatted(value, format));
  if (!Array.isArray(first)) return one(first);
  const beside = (i) => others.map((each) => ` ${one(each?.[i])}`).join("");
  return first.map((value, i) => `${one(value)}${beside(i)}`).join(isDeep ? "; " : ", ");
}

/** A paragraph as plain text. @type {(parts: ProsePart[], numbers: any) => string} */
export const plainText = (parts, numbers) =>
  parts
    .map((part) => {
      if (typeof part === "string") return part;
      return part.tag === "number"
        ? writtenAt(numbers, part.path, part.format)
        : plainText(part.parts, numbers);
    })
    .join("");

/** The parts of a paragraph; until its numbers arrive, room for them. @param {{parts: ProsePart[], numbers?: any}} props */
export function Prose({ parts, numbers = null }) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    if (part.tag === "number") {
      if (numbers === null) return html`<span class="story-number coming" aria-hidden="true" />`;
      return html`<span class="story-number">${writtenAt(numbers, part.path, part.format)}</span>`;
    }
    const inner = html`<${Prose} parts=${part.parts} numbers=${numbers} />`;
    if (part.tag === "term") return html`<span class="story-term" data-term=${part.term}>${inner}</span>`;
    if (part.tag !== "glossary") return html`<${part.tag}>${inner}<//>`;
    const name = `${plainText(part.parts, numbers)}: ${part.meaning}`;
    return html`<span class="story-glossary" tabindex="0" role="note" data-meaning=${part.meaning} aria-label=${name}>${inner}</span>`;
  });
}
