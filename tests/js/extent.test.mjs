// Where a written-out sum lies, and which number an arrow key leads to.

import assert from "node:assert/strict";
import { test } from "node:test";

import { beside, nearest } from "../../viz/web/scene/extent.js";

/** @import {Extent} from "../../viz/web/scene/extent.js" */

const ROOM = { x: 0, y: 0, w: 400, h: 300 };
const SIZE = { w: 120, h: 24 };

/** @type {(a: Extent, b: Extent) => boolean} */
const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** A matrix of 5 × 7 cells. */
const cells = Array.from({ length: 35 }, (_, i) => ({ x: 20 + 50 * (i % 7), y: 40 + 40 * Math.floor(i / 7), w: 50, h: 40 }));

test("a sum is inside the room and never on what it explains", () => {
  for (const cell of cells) {
    const [x, y] = beside(cell, SIZE, ROOM, cells);
    assert.ok(x >= 0 && y >= 0 && x + SIZE.w <= ROOM.w && y + SIZE.h <= ROOM.h, `${x}, ${y}`);
    assert.ok(!meet({ x, y, ...SIZE }, cell), JSON.stringify(cell));
  }
});

test("a sum covers nothing where there is a free place", () => {
  const [x, y] = beside(cells[3], SIZE, ROOM, cells);
  assert.deepEqual([x, y], [cells[3].x + 25 - 60, 40 - 6 - 24], "above the first row");
  const free = beside(cells[6], SIZE, { ...ROOM, w: 520, y: 40 }, cells);
  assert.equal(free[0], 20 + 7 * 50 + 6, "right of the last column");
});

test("what a number comes from is covered last", () => {
  const [x, y] = beside(cells[10], SIZE, ROOM, cells, cells.slice(0, 7));
  assert.equal(y, cells[10].y + 40 + 6, `below at ${x}`);
  const above = beside(cells[10], SIZE, ROOM, cells, cells.slice(11));
  assert.ok(above[1] < cells[10].y, String(above));
});

test("an arrow key leads to the next number in its direction, straight ahead before aside", () => {
  const all = cells.map((extent, key) => ({ key, extent }));
  const from = (/** @type {number} */ at, /** @type {number} */ dx, /** @type {number} */ dy) =>
    nearest(cells[at], all.filter(({ key }) => key !== at), dx, dy)?.key;
  assert.equal(from(8, 1, 0), 9);
  assert.equal(from(8, -1, 0), 7);
  assert.equal(from(8, 0, 1), 15);
  assert.equal(from(8, 0, -1), 1);
  assert.equal(from(6, 1, 0), undefined);
});
