// Where the thumbnails of all heads lie: a row for each layer, and lines for layers without attention.

import { layerRows } from "./layers.js";

/** @import {Base, Head} from "../../web/types" */
/** @import {Skipped} from "./layers.js" */

export const GAP = 2; // pixels
const SMALLEST = 29; // 12 heads, their mean and maximum fit beside a picture in a window 1024 wide
const LARGEST = 56;
const TALLEST = 520; // of all pictures, while they can be larger than the smallest
const NAMES = 64; // width of the names of layers at a unit of 1
const SKIPPED = 18; // height of a line for layers without attention, likewise

/** @typedef {{site: number, head: Head}} Spot */

/** @type {Record<string, [number, number]>} down and right */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * Gaps in front of a column: before the mean, and between heads that share no keys.
 *
 * @param {number} column
 * @param {number} columns
 * @param {number} sharing heads that share keys
 */
function gapsBefore(column, columns, sharing) {
  const groups = sharing > 1 ? Math.floor(Math.min(column, columns - 3) / sharing) : 0;
  return (column >= columns - 2 ? 3 * GAP : 0) + (sharing > 1 ? GAP : 0) + groups * 2 * GAP;
}

/**
 * A row of heads for each layer, then their mean and maximum.
 *
 * @param {Base} base
 * @param {number[]} group indexes of the sites of one kind of attention
 * @param {{wide: number, unit: number, sharing: number}} room its width in pixels, the size of type, and how
 *   many heads share keys
 */
export function layoutOf(base, group, { wide, unit, sharing }) {
  const columns = Math.max(...group.map((site) => base.sites[site].heads)) + 2;
  const beside = NAMES * unit + gapsBefore(columns - 1, columns, sharing) + 7;
  const fit = Math.floor((wide - beside) / columns) - GAP;
  const high = Math.max(SMALLEST, Math.floor(TALLEST / group.length) - GAP);
  const size = Math.max(SMALLEST, Math.min(LARGEST * Math.max(1, unit), fit, high));
  const line = Math.round(SKIPPED * unit);
  /** @type {Map<number, number>} the upper edge of each site's row */
  const tops = new Map();
  /** @type {{row: Skipped, top: number}[]} */
  const skipped = [];
  let height = GAP;
  for (const row of layerRows(base, group)) {
    if ("site" in row) tops.set(row.site, height);
    else skipped.push({ row, top: height });
    height += "site" in row ? size + GAP : line;
  }
  const all = [...Array(columns).keys()];
  const top = (/** @type {number} */ site) => tops.get(site) ?? 0;
  const left = (/** @type {number} */ column) => column * (size + GAP) + gapsBefore(column, columns, sharing);
  const columnOf = (/** @type {Head} */ head) =>
    typeof head === "number" ? head : columns - (head === "mean" ? 2 : 1);
  /** @type {(site: number, column: number) => Head | null} */
  const headAt = (site, column) => {
    if (column >= columns - 2) return column === columns - 2 ? "mean" : "max";
    return column < base.sites[site].heads ? column : null;
  };

  return {
    ...{ size, line, height, width: left(columns - 1) + size, columns, left, top, skipped, columnOf },
    need: beside + columns * (SMALLEST + GAP),
    /** @type {Spot[]} */
    spots: group.flatMap((site) =>
      all.map((column) => headAt(site, column)).flatMap((head) => (head === null ? [] : { site, head })),
    ),
    /** @param {Spot} spot */
    place: ({ site, head }) => ({ x: left(columnOf(head)), y: top(site) }),
    /**
     * What lies at a point.
     *
     * @param {number} x
     * @param {number} y
     * @returns {Spot | null}
     */
    at(x, y) {
      const inside = (/** @type {number} */ from, /** @type {number} */ at) =>
        at >= from && at < from + size + GAP;
      const site = group.find((each) => inside(top(each), y));
      const column = all.find((each) => inside(left(each), x));
      const head = site === undefined || column === undefined ? null : headAt(site, column);
      return site === undefined || head === null ? null : { site, head };
    },
    /**
     * Where a key leads; null for other keys.
     *
     * @param {Spot} spot
     * @param {string} key
     * @returns {Spot | null}
     */
    beside({ site, head }, key) {
      if (!(key in MOVES) && key !== "Home" && key !== "End") return null;
      const [below, right] = MOVES[key] ?? [0, 0];
      const row = group[Math.min(Math.max(0, group.indexOf(site) + below), group.length - 1)];
      let column = key === "Home" ? 0 : key === "End" ? columns - 1 : columnOf(head);
      do column += right;
      while (right && column > 0 && column < columns - 1 && headAt(row, column) === null);
      column = Math.min(Math.max(0, column), columns - 1);
      return { site: row, head: headAt(row, column) ?? base.sites[row].heads - 1 };
    },
  };
}
