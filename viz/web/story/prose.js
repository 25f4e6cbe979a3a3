// Paragraphs with terms, glossary entries and live numbers.

import { element, setText } from "../core/dom.js";
import { power } from "../scene/numbers.js";

/** @import {ProsePart} from "../types" */

const LONGEST = 16; // digits after the point

/**
 * The value at a path such as “weights.2.1”; undefined if there is none.
 *
 * @param {any} numbers
 * @param {string} path
 */
export function valueAt(numbers, path) {
  let value = numbers;
  for (const name of path.split(".")) value = value?.[name];
  return value;
}

/**
 * A number as Python's format() writes it, with a typographic minus and powers of ten: “.2f”, “+.2f”,
 * “.0%”, “.4e”, “,d”; anything else is shown as it is.
 *
 * @param {unknown} value
 * @param {string} format
 */
export function formatted(value, format) {
  const match = /^(\+?)(,?)(?:\.(\d+))?([fe%d])$/.exec(format);
  if (typeof value !== "number" || !match) return value === undefined || value === null ? "–" : String(value);
  const [, plus, comma, places, kind] = match;
  const digits = Math.min(LONGEST, Number(places ?? (kind === "d" ? 0 : 6)));
  const size = Math.abs(kind === "%" ? 100 * value : value);
  let text = kind === "e" ? power(size, digits) : size.toFixed(digits);
  const negative = value < 0 && Number(text) !== 0;
  if (comma) text = text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return `${negative ? "−" : plus}${text}${kind === "%" ? "\u00a0%" : ""}`;
}

/**
 * The nodes of a paragraph.
 *
 * @param {ProsePart[]} parts
 * @param {any} numbers of the figure; null before they have arrived: `fill` writes them then
 * @returns {(Node | string)[]}
 */
export function nodes(parts, numbers) {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    if (part.tag === "number") {
      const { path, format } = part;
      const text = numbers === null ? "…" : formatted(valueAt(numbers, path), format);
      return element("span", "story-number", { "data-path": path, "data-format": format }, text);
    }
    const inner = nodes(part.parts, numbers);
    if (part.tag === "term") return element("span", "story-term", { "data-term": part.term }, ...inner);
    if (part.tag !== "glossary") return element(part.tag, "", {}, ...inner);
    const entry = element("span", "story-glossary", { tabindex: "0", role: "note", "data-meaning": part.meaning }, ...inner);
    entry.ariaLabel = `${entry.textContent}: ${part.meaning}`;
    return entry;
  });
}

/**
 * Writes the numbers into all paragraphs of an element.
 *
 * @param {ParentNode} root
 * @param {any} numbers null while they are on their way
 */
export function fill(root, numbers) {
  for (const place of root.querySelectorAll("[data-path]")) {
    const { path = "", format = "" } = /** @type {HTMLElement} */ (place).dataset;
    setText(place, numbers === null ? "…" : formatted(valueAt(numbers, path), format));
  }
}
