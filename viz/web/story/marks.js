// Marks that many figures share: matrices, labelled bars, tokens.

/** @import {Ink, Inputs, Mark, Term} from "../types" */

/**
 * A number with a typographic minus.
 *
 * @param {number} value
 * @param {number} [digits]
 */
export function fixed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/**
 * A number as digits times a power of ten, written as text: “6.9·10⁻⁷”.
 *
 * @param {number} value
 * @param {number} digits after the point
 */
export function power(value, digits) {
  const [text, exponent] = value.toExponential(digits).split("e");
  const raised = [...String(Number(exponent))].map((sign) =>
    sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)],
  );
  return `${text.replace("-", "−")}·10${raised.join("")}`;
}

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

/**
 * A matrix of cells with its numbers, its title above and its names beside it.
 *
 * @param {string} key of the matrix; its marks' keys begin with it
 * @param {number[][]} values
 * @param {object} place
 * @param {number} place.x of the first cell's corner
 * @param {number} place.y
 * @param {number} place.cell width of a cell
 * @param {number} [place.tall] height of a cell; as wide by default
 * @param {string} [place.title]
 * @param {string[]} [place.rows] names
 * @param {string[]} [place.cols] names
 * @param {Term} [place.term]
 * @param {number} [place.digits] after the point; less than 0 for no numbers
 * @param {number} [place.size] of the numbers
 * @param {string} [place.stroke] of the cells
 * @param {number} [place.opacity]
 * @param {(value: number, row: number, col: number) => string} place.fill
 * @param {(value: number, row: number, col: number) => string} [place.tip]
 * @param {(row: number, col: number) => string[]} [place.of] keys of the cells that a number comes from
 * @param {(row: number, col: number) => Mark["edit"]} [place.edit]
 * @param {(row: number, col: number) => boolean} [place.lit] cells with a frame
 * @param {Ink} ink
 * @returns {Mark[]}
 */
export function matrix(key, values, place, ink) {
  const { x, y, cell, tall = cell, title, rows = [], cols = [], term, digits = 2, opacity = 1 } = place;
  const size = place.size ?? Math.min(14, tall * 0.42, cell * 0.3);
  /** @type {Mark[]} */
  const marks = [];
  const wide = (values[0]?.length ?? 0) * cell;
  if (title)
    marks.push({
      ...{ key: `${key}/title`, kind: "text", text: title, x: x + wide / 2, y: y - (cols.length ? 30 : 14) },
      ...{ size: 15, bold: true, fill: term ? ink.term[term] : ink.text, term, opacity },
    });
  values.forEach((row, i) => {
    const middle = y + (i + 0.5) * tall;
    if (rows[i])
      marks.push({
        key: `${key}/row${i}`,
        kind: "text",
        text: rows[i],
        x: x - 8,
        y: middle,
        anchor: "end",
        size: 13,
        fill: ink.muted,
        opacity,
      });
    row.forEach((value, j) => {
      const fill = place.fill(value, i, j);
      const lit = place.lit?.(i, j);
      marks.push({
        ...{ key: `${key}/${i}.${j}`, kind: "rect", x: x + j * cell, y: y + i * tall, w: cell, h: tall },
        ...{
          fill,
          stroke: lit ? ink.primary : (place.stroke ?? ink.line),
          width: lit ? 2.5 : 1,
          term,
          opacity,
        },
        ...{ tip: place.tip?.(value, i, j), of: place.of?.(i, j), edit: place.edit?.(i, j) },
      });
      if (digits >= 0)
        marks.push({
          ...{ key: `${key}/${i}.${j}/number`, kind: "text", text: fixed(value, digits), size },
          ...{ x: x + (j + 0.5) * cell, y: middle, fill: ink.on(fill), term, opacity },
        });
    });
  });
  cols.forEach((name, j) =>
    marks.push({
      key: `${key}/col${j}`,
      kind: "text",
      text: name,
      x: x + (j + 0.5) * cell,
      y: y - 12,
      size: 13,
      fill: ink.muted,
      opacity,
    }),
  );
  return marks;
}

/**
 * The keys of the cells of a matrix's row.
 *
 * @param {string} key of the matrix
 * @param {number} row
 * @param {number} length
 */
export const rowOf = (key, row, length) => Array.from({ length }, (_, col) => `${key}/${row}.${col}`);

/**
 * The keys of the cells of a matrix's column.
 *
 * @param {string} key of the matrix
 * @param {number} col
 * @param {number} length
 */
export const columnOf = (key, col, length) => Array.from({ length }, (_, row) => `${key}/${row}.${col}`);

/**
 * A number's text, in brackets if it is negative.
 *
 * @param {string} text
 */
export const bracketed = (text) => (text.startsWith("−") ? `(${text})` : text);

/**
 * An input with one number of it changed.
 *
 * @param {Inputs[string]} list
 * @param {number} at
 * @param {number} value
 */
export const replaced = (list, at, value) => (Array.isArray(list) ? list.with(at, value) : value);

/**
 * A sum of products written out: “0.25 · 3 + 0.75 · 1 = 1.5”.
 *
 * @param {number[]} a
 * @param {number[]} b
 * @param {number} [digits]
 */
export function writtenSum(a, b, digits = 2) {
  const terms = a.map((value, i) => `${bracketed(fixed(value, digits))}·${bracketed(fixed(b[i], digits))}`);
  return `${terms.join(" + ")} = ${fixed(
    a.reduce((sum, value, i) => sum + value * b[i], 0),
    digits,
  )}`;
}
