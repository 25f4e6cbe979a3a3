// Numbers as figures write them, and the keys of cells.

/** @import {Inputs, Mark} from "../types" */

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
