// Dots of a plot: where they stand, which one is nearest, which one is next in a direction.

/** @import {Range} from "../types" */

const SIDEWAYS = 2.5; // a step aside counts as much as so many steps ahead
const SAME = 0.5; // pixels within which two dots are at one place

/**
 * The rectangle of a plot, in CSS pixels.
 *
 * @typedef {object} Plot
 * @property {number} left
 * @property {number} top
 * @property {number} width
 * @property {number} height
 */

/** @typedef {{x: number, y: number} | null} Dot null where a dot has no place */

/**
 * @param {(number | null)[]} xs
 * @param {(number | null)[]} ys
 * @param {Range} across
 * @param {Range} up
 * @param {Plot} plot
 * @returns {Dot[]}
 */
export function placed(xs, ys, across, up, { left, top, width, height }) {
  return xs.map((x, i) => {
    const y = ys[i];
    if (x === null || y === null) return null;
    return {
      x: left + (width * (x - across[0])) / (across[1] - across[0]),
      y: top + height - (height * (y - up[0])) / (up[1] - up[0]),
    };
  });
}

/**
 * The values that a rectangle over a plot covers along both axes.
 *
 * @param {Plot} box
 * @param {Range} across
 * @param {Range} up
 * @param {Plot} plot
 * @returns {{x: Range, y: Range}}
 */
export function covered(box, across, up, plot) {
  const right = (across[1] - across[0]) / plot.width;
  const upwards = (up[1] - up[0]) / plot.height;
  const low = across[0] + (box.left - plot.left) * right;
  const bottom = up[0] + (plot.top + plot.height - box.top - box.height) * upwards;
  return { x: [low, low + box.width * right], y: [bottom, bottom + box.height * upwards] };
}

/**
 * The nearest dot to a point; -1 if none is within reach.
 *
 * @param {Dot[]} dots
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 */
export function nearest(dots, x, y, reach) {
  let [best, least] = [-1, reach];
  dots.forEach((dot, i) => {
    const distance = dot ? Math.hypot(dot.x - x, dot.y - y) : Infinity;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

/**
 * The next dot from one in a direction: the nearest ahead, where aside counts more; dots at one
 * place follow each other in their order. The same dot if there is none.
 *
 * @param {Dot[]} dots
 * @param {number} from
 * @param {readonly [number, number]} direction down and right: -1, 0 or 1
 */
export function beside(dots, from, [down, right]) {
  const start = dots[from];
  if (!start) return Math.max(0, dots.findIndex(Boolean));
  const onward = down + right;
  let [best, least] = [from, Infinity];
  dots.forEach((dot, i) => {
    if (!dot || i === from) return;
    const [x, y] = [dot.x - start.x, dot.y - start.y];
    const ahead = x * right + y * down;
    const aside = Math.abs(right ? y : x);
    if (Math.hypot(x, y) < SAME) {
      const later = (i - from) * onward;
      if (later > 0 && later * 1e-6 < least) [best, least] = [i, later * 1e-6];
    } else if (ahead >= SAME && ahead + SIDEWAYS * aside < least) {
      // the first of several at one place on the way out, the last on the way back
      [best, least] = [i, ahead + SIDEWAYS * aside];
    } else if (ahead >= SAME && onward < 0 && ahead + SIDEWAYS * aside === least) best = i;
  });
  return best;
}

/**
 * Dots at one place with another, itself among them.
 *
 * @param {Dot[]} dots
 * @param {number} index
 */
export function together(dots, index) {
  const here = dots[index];
  if (!here) return [];
  return [...dots.keys()].filter((i) => {
    const dot = dots[i];
    return dot && Math.hypot(dot.x - here.x, dot.y - here.y) < SAME;
  });
}
