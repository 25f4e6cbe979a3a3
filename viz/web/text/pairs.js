// Which pair of tokens is shown, and where its elements stand. Pure functions.

/** @import {Direction, SplitTerm} from "../types" */

/** @typedef {{query: number, key: number}} Pair */

/** The index of the largest number, if possible not among those to avoid. */
function best(values, avoid) {
  let [index, any] = [-1, 0];
  for (let i = 0; values && i < values.length; i++) {
    if (values[i] > values[any]) any = i;
    if (!avoid.has(i) && values[i] > 0 && (index < 0 || values[i] > values[index])) index = i;
  }
  return index < 0 ? any : index;
}

/**
 * The chosen pair; what is not chosen is the last query, and the strongest key beside the sinks.
 *
 * @param {{token: number | null, partner: number | null, direction: Direction}} chosen
 * @param {number} queries
 * @param {(query: number) => ArrayLike<number> | null} row weights of a query
 * @param {(key: number) => ArrayLike<number> | null} column weights to a key
 * @param {ReadonlySet<number>} sinks
 * @returns {Pair}
 */
export function pairOf({ token, partner, direction }, queries, row, column, sinks) {
  if (direction === "in" && token !== null)
    return { query: partner ?? best(column(token), new Set()), key: token };
  const query = token ?? queries - 1;
  return { query, key: partner ?? best(row(query), sinks) };
}

/**
 * Rows of square cells that hold all elements of a vector.
 *
 * @param {number} count
 * @param {number} wide pixels there are
 * @param {number} least pixels of a cell
 * @param {number} most pixels of a cell
 */
export function stripLayout(count, wide, least, most) {
  const fitting = Math.max(1, Math.floor(wide / least));
  const lines = Math.ceil(count / fitting);
  const across = Math.ceil(count / lines);
  return { lines, across, cell: Math.min(most, wide / across) };
}

/**
 * The element at a point of a strip; null outside.
 *
 * @param {{lines: number, across: number, cell: number}} layout
 * @param {number} count
 * @param {number} x
 * @param {number} y
 */
export function elementAt({ lines, across, cell }, count, x, y) {
  const [column, line] = [Math.floor(x / cell), Math.floor(y / cell)];
  if (x < 0 || y < 0 || column >= across || line >= lines) return null;
  const index = line * across + column;
  return index < count ? index : null;
}

/**
 * A number in four figures, with a real minus.
 *
 * @param {number | null} value null: −∞
 */
export function figures(value) {
  if (value === null || value === -Infinity) return "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e4 || size < 1e-4 ? value.toExponential(2) : value.toPrecision(4);
  return text.replace(/-/g, "−");
}

/**
 * The terms of a sum that matter most, and the rest; the largest first, whatever their sign.
 *
 * @param {SplitTerm[]} terms
 * @param {number} most
 */
export function foldedTerms(terms, most) {
  const sorted = [...terms].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const count = sorted.length <= most + 1 ? sorted.length : most; // one alone is not folded
  return { first: sorted.slice(0, count), rest: sorted.slice(count) };
}
