// Where marks are, and which is next in a direction.

/** @import {Mark} from "../types" */

/** @typedef {{x: number, y: number, w: number, h: number}} Extent */

const WIDE = 0.55; // of a letter, in sizes of its text
const LINES = new Set(["line", "arrow", "curve", "path"]);

/** @param {Mark} mark */
export const isLine = ({ kind }) => LINES.has(kind);

/**
 * Where a mark is, in the picture's units; the width of a text is an estimate.
 *
 * @param {Mark} mark
 * @returns {Extent}
 */
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
