// Where marks are, what lies beside them, and which is next in a direction.

/** @import {Mark} from "../types" */

/** @typedef {{x: number, y: number, w: number, h: number}} Extent */

const GAP = 6; // CSS pixels between a sum and what it explains
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

/**
 * The corner of a box beside its target, inside a room, where it covers the least of the others, and
 * of the sources least of all.
 *
 * @param {Extent} target
 * @param {{w: number, h: number}} size of the box
 * @param {Extent} room
 * @param {Extent[]} others
 * @param {Extent[]} [sources] what the target comes from
 * @returns {[number, number]}
 */
export function beside(target, size, room, others, sources = []) {
  const [right, bottom] = [target.x + target.w, target.y + target.h];
  const [left, top] = [target.x + (target.w - size.w) / 2, target.y + (target.h - size.h) / 2];
  const across = [left, target.x, right - size.w];
  const down = [top, target.y, bottom - size.h];
  /** @type {[number, number][]} */
  const places = [
    ...across.map((x) => /** @type {[number, number]} */ ([x, bottom + GAP])),
    ...across.map((x) => /** @type {[number, number]} */ ([x, target.y - GAP - size.h])),
    ...down.map((y) => /** @type {[number, number]} */ ([right + GAP, y])),
    ...down.map((y) => /** @type {[number, number]} */ ([target.x - GAP - size.w, y])),
  ];
  /** @type {[number, number]} */
  let best = [room.x, room.y];
  let least = Infinity;
  for (const [wantedX, wantedY] of places) {
    const x = Math.max(room.x, Math.min(wantedX, room.x + room.w - size.w));
    const y = Math.max(room.y, Math.min(wantedY, room.y + room.h - size.h));
    const box = { x, y, ...size };
    const area = (/** @type {Extent[]} */ extents) =>
      extents.reduce((sum, each) => sum + shared(box, each), 0);
    const covered = area(others) + 20 * area(sources) + 1e6 * shared(box, target);
    if (covered < least - 1) [best, least] = [[x, y], covered];
  }
  return best;
}

/** The area that two extents share. */
const shared = (a, b) =>
  Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));

/**
 * The nearest of others in a direction, straight ahead before aside.
 *
 * @template {{extent: Extent}} T
 * @param {Extent} from
 * @param {T[]} others
 * @param {number} dx −1, 0 or 1
 * @param {number} dy grows downwards
 * @returns {T | undefined}
 */
export function nearest(from, others, dx, dy) {
  const middle = (/** @type {Extent} */ { x, y, w, h }) => [x + w / 2, y + h / 2];
  const [x, y] = middle(from);
  /** @type {T | undefined} */
  let closest;
  let least = Infinity;
  for (const each of others) {
    const [toX, toY] = middle(each.extent);
    const ahead = (toX - x) * dx + (toY - y) * dy;
    const far = ahead + 3 * Math.abs((toX - x) * dy + (toY - y) * dx);
    if (ahead > 1 && far < least) [closest, least] = [each, far];
  }
  return closest;
}
