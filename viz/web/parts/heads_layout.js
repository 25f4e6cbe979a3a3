// Where the thumbnails of all heads lie: layers and heads, the longer side across, all of them in sight.

/** @import {Base, Head} from "../../web/types" */

const GAP = 1; // pixels between pictures
const APART = 5; // before the mean and the largest of a layer's heads
const WIDEST = 1.7; // times its height that a picture may be wide
const LARGEST = 44; // pixels of its height

/** @typedef {{site: number, head: Head}} Spot */

/**
 * @param {Pick<Base, "sites">} base
 * @param {number[]} group indexes of the sites of one kind of attention
 * @param {{wide: number, high: number}} room in pixels
 */
export function layoutOf(base, group, { wide, high }) {
  const most = Math.max(...group.map((site) => base.sites[site].heads));
  const columns = most + 2; // the mean and the largest come last
  const layersAcross = group.length > columns;
  const [across, down] = layersAcross ? [group.length, columns] : [columns, group.length];
  const height = Math.max(3, Math.min(LARGEST, (high - APART) / down - GAP));
  const width = Math.max(3, Math.min((wide - APART) / across - GAP, WIDEST * height));
  const along = (/** @type {number} */ head) => (head >= most ? APART : 0);
  const headAt = (/** @type {number} */ site, /** @type {number} */ column) => {
    if (column >= most) return column === most ? "mean" : "max";
    return column < base.sites[site].heads ? column : null;
  };
  const columnOf = (/** @type {Head} */ head) =>
    typeof head === "number" ? head : most + (head === "mean" ? 0 : 1);
  /** @param {Spot} spot */
  function place({ site, head }) {
    const [row, column] = [group.indexOf(site), columnOf(head)];
    const [x, y] = layersAcross ? [row, column] : [column, row];
    const apart = along(column);
    return {
      x: x * (width + GAP) + (layersAcross ? 0 : apart),
      y: y * (height + GAP) + (layersAcross ? apart : 0),
    };
  }
  /** @type {Spot[]} */
  const spots = group.flatMap((site) =>
    [...Array(columns).keys()]
      .map((column) => headAt(site, column))
      .flatMap((head) => (head === null ? [] : { site, head })),
  );
  return {
    ...{ width, height, layersAcross, spots, place, most },
    size: [
      across * (width + GAP) + (layersAcross ? 0 : APART),
      down * (height + GAP) + (layersAcross ? APART : 0),
    ],
    /** @type {(x: number, y: number) => Spot | null} */
    at(x, y) {
      const inside = (/** @type {Spot} */ spot) => {
        const from = place(spot);
        return x >= from.x && x < from.x + width + GAP && y >= from.y && y < from.y + height + GAP;
      };
      return spots.find(inside) ?? null;
    },
    /** So many rows and columns on. @type {(spot: Spot, step: [number, number]) => Spot} */
    beside({ site, head }, [rows, cols]) {
      const [byLayer, byHead] = layersAcross ? [cols, rows] : [rows, cols];
      const row = group[Math.min(Math.max(0, group.indexOf(site) + byLayer), group.length - 1)];
      const heads = spots.filter((spot) => spot.site === row).map((spot) => spot.head);
      const now = heads.indexOf(head) < 0 ? base.sites[row].heads - 1 : heads.indexOf(head);
      return { site: row, head: heads[Math.min(Math.max(0, now + byHead), heads.length - 1)] };
    },
  };
}
