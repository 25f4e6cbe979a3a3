// Where the thumbnails of all heads lie: a row for each layer, or one after the other in the order
// of one of their numbers.

import { layerRows } from "./layers.js";

/** @import {Base, Head} from "../types" */

export const GAP = 2;

/** @typedef {{site: number, head: Head}} Spot */

/**
 * @typedef {object} Arrangement
 * @property {number} size of a thumbnail, CSS pixels
 * @property {number} width
 * @property {number} height
 * @property {Spot[]} spots what has a thumbnail
 * @property {(spot: Spot) => {x: number, y: number} | null} place its upper left corner
 * @property {(x: number, y: number) => Spot | null} at what lies there
 * @property {(spot: Spot, key: string) => Spot | null} beside where a key leads; null for others
 */

/**
 * @typedef {object} Layers
 * @property {number} columns the heads of the widest layer, their mean and their maximum
 * @property {(column: number) => number} left edge of a column
 * @property {{row: import("./layers.js").Skipped, top: number}[]} skipped layers without attention
 */

/** @type {Record<string, [number, number]>} down and right */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * How many columns the layers take.
 *
 * @param {Base} base
 * @param {number[]} group indexes of the sites of one kind of attention
 */
export const columnsOf = (base, group) => Math.max(...group.map((site) => base.sites[site].heads)) + 2;

/**
 * Gaps in front of a column: before the mean, and between heads that share no keys.
 *
 * @param {number} column
 * @param {number} columns
 * @param {number} sharing heads that share keys
 */
export function gapsBefore(column, columns, sharing) {
  const groups = sharing > 1 ? Math.floor(Math.min(column, columns - 3) / sharing) : 0;
  return (column >= columns - 2 ? 3 * GAP : 0) + (sharing > 1 ? GAP : 0) + groups * 2 * GAP;
}

/**
 * A row of heads for each layer, then their mean and maximum; between them the layers without
 * attention.
 *
 * @param {Base} base
 * @param {number[]} group indexes of the sites of one kind of attention
 * @param {{size: number, line: number, sharing: number}} sizes of a thumbnail and of a line of text
 *   in pixels, and how many heads share keys
 * @returns {Arrangement & Layers}
 */
export function inLayers(base, group, { size, line, sharing }) {
  const columns = columnsOf(base, group);
  /** @type {Map<number, number>} the upper edge of each site's row */
  const tops = new Map();
  /** @type {Layers["skipped"]} */
  const skipped = [];
  let height = GAP;
  for (const row of layerRows(base, group)) {
    if ("site" in row) tops.set(row.site, height);
    else skipped.push({ row, top: height });
    height += "site" in row ? size + GAP : line;
  }

  const left = (column) => column * (size + GAP) + gapsBefore(column, columns, sharing);
  const columnOf = (head) => (typeof head === "number" ? head : columns - (head === "mean" ? 2 : 1));
  /** @type {(site: number, column: number) => Head | null} */
  const headAt = (site, column) => {
    if (column >= columns - 2) return column === columns - 2 ? "mean" : "max";
    return column < base.sites[site].heads ? column : null;
  };
  const all = [...Array(columns).keys()];

  return {
    ...{ size, height, width: left(columns - 1) + size, columns, left, skipped },
    spots: group.flatMap((site) =>
      all.map((column) => headAt(site, column)).flatMap((head) => (head === null ? [] : { site, head })),
    ),
    place: ({ site, head }) => ({ x: left(columnOf(head)), y: tops.get(site) ?? 0 }),
    at(x, y) {
      const inside = (/** @type {number} */ from, /** @type {number} */ at) =>
        at >= from && at < from + size + GAP;
      const site = group.find((each) => inside(tops.get(each) ?? 0, y));
      const column = all.find((each) => inside(left(each), x));
      if (site === undefined || column === undefined) return null;
      const head = headAt(site, column);
      return head === null ? null : { site, head };
    },
    beside({ site, head }, key) {
      let [row, column] = [group.indexOf(site), columnOf(head)];
      if (key === "Home") column = 0;
      else if (key === "End") column = columns - 1;
      else if (MOVES[key]) {
        const [below, right] = MOVES[key];
        row = Math.min(Math.max(0, row + below), group.length - 1);
        do column += right;
        while (right && column > 0 && column < columns - 1 && headAt(group[row], column) === null);
        column = Math.min(Math.max(0, column), columns - 1);
      } else return null;
      const next = headAt(group[row], column) ?? base.sites[group[row]].heads - 1;
      return { site: group[row], head: next };
    },
  };
}

/**
 * One after the other, line by line, with room for a caption below each.
 *
 * @param {Spot[]} spots in order
 * @param {{size: number, caption: number, wide: number}} sizes of a thumbnail, of its caption and of
 *   a whole line, in pixels
 * @returns {Arrangement}
 */
export function inOrder(spots, { size, caption, wide }) {
  const step = { x: size + 4 * GAP, y: size + caption + 2 * GAP };
  const columns = Math.max(1, Math.floor((wide + 4 * GAP) / step.x));
  const nameOf = (/** @type {Spot} */ { site, head }) => `${site}/${head}`;
  const places = new Map(spots.map((spot, index) => [nameOf(spot), index]));
  const lines = Math.ceil(spots.length / columns);

  return {
    ...{ size, spots, width: columns * step.x - 4 * GAP, height: GAP + lines * step.y },
    place(spot) {
      const index = places.get(nameOf(spot));
      if (index === undefined) return null;
      return { x: (index % columns) * step.x, y: GAP + Math.floor(index / columns) * step.y };
    },
    at(x, y) {
      const [line, column] = [Math.floor((y - GAP) / step.y), Math.floor(x / step.x)];
      if (line < 0 || column < 0 || column >= columns) return null;
      return spots[line * columns + column] ?? null;
    },
    beside(spot, key) {
      const last = spots.length - 1;
      const ends = { Home: 0, End: last };
      const [down, right] = MOVES[key] ?? [0, 0];
      if (last < 0 || !(key in MOVES || key in ends)) return null;
      const from = places.get(nameOf(spot)) ?? -1; // one that is left out comes before the first
      const to = key in ends ? ends[/** @type {keyof typeof ends} */ (key)] : from + right + down * columns;
      return spots[to < 0 || to > last ? Math.max(0, Math.min(last, from + right)) : to];
    },
  };
}
