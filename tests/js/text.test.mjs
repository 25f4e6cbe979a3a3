// The matrix without a canvas: its layout, zooming and panning, cells under pixels, weights.

import assert from "node:assert/strict";
import { test } from "node:test";

import { binsOf, cellOf, draw } from "../../viz/web/core/raster.js";
import { covers, density, Maps } from "../../viz/web/text/maps.js";
import * as scales from "../../viz/web/text/scale.js";
import * as plot from "../../viz/web/painting/layout.js";
import { baseOf } from "./helpers.mjs";

const SIZES = {
  ...{ wide: 600, high: 500, rows: 13, cols: 17, unit: 1 },
  widths: { query: 50, key: 60, apart: 60 },
};
const LAYOUT = plot.layoutOf(SIZES);

test("a plot fits its place, with cells as large and as legible as there is room", () => {
  assert.ok(LAYOUT.left + LAYOUT.width <= SIZES.wide && LAYOUT.tall <= SIZES.high);
  assert.ok(LAYOUT.tall > LAYOUT.top + LAYOUT.height);
  assert.equal(plot.layoutOf({ ...SIZES, rows: 2, cols: 2 }).rowCell, 64);
  assert.ok(plot.layoutOf({ ...SIZES, noted: true }).top > LAYOUT.top);
  const large = plot.layoutOf({ ...SIZES, unit: 1.4 });
  assert.ok(large.left + large.width <= SIZES.wide);
  const long = plot.layoutOf({ ...SIZES, rows: 14, cols: 201 });
  assert.equal(long.height, 14 * 16); // high enough to read
  assert.deepEqual([long.rowCell, long.colCell].map((scale) => plot.isLabelled(long, scale)), [true, false]);
  const tall = plot.layoutOf({ ...SIZES, rows: 201, cols: 14 });
  assert.ok(tall.width === 14 * 16 && tall.tall <= SIZES.high);
});

test("the colour scale stands beside a plot that leaves room, below one that does not, and not where numbers stand", () => {
  const many = { ...SIZES, rows: 60, cols: 60, numbered: true };
  const [wide, narrow] = [1000, 420].map((each) => plot.layoutOf({ ...many, wide: each, high: 400 }));
  assert.deepEqual([wide.legend, narrow.legend], ["beside", "below"]);
  assert.ok(wide.tall <= 400 && narrow.tall > narrow.top + narrow.height + 40);
  assert.equal(plot.layoutOf({ ...many, wide: 1000, rows: 9, cols: 9 }).legend, "none");
});

test("zooming keeps the cell under the pointer, from the whole to the deepest", () => {
  const whole = plot.whole(LAYOUT);
  assert.deepEqual(plot.visible(LAYOUT, whole), { rows: [0, 13], cols: [0, 17] });
  const [x, y] = [200, 150];
  const cellAt = (/** @type {import("../../viz/web/painting/layout.js").View} */ view) =>
    plot.cellAt(LAYOUT, view, LAYOUT.left + x, LAYOUT.top + y);
  let view = whole;
  for (let i = 0; i < 9; i++) {
    view = plot.zoomed(LAYOUT, view, 1.3, x, y);
    assert.deepEqual(cellAt(view), cellAt(whole));
  }
  assert.equal(view.zoom, plot.deepest(LAYOUT));
  assert.deepEqual(plot.zoomed(LAYOUT, view, 1e-6), whole);
});

test("panning stops at the edges, of a part of the tokens too", () => {
  for (const first of [{ row: 0, col: 0 }, { row: 3, col: 10 }]) {
    const layout = plot.layoutOf({ ...SIZES, first });
    const view = plot.zoomed(layout, plot.whole(layout), 2);
    const corner = plot.panned(layout, view, 1e6, 1e6);
    assert.deepEqual([corner.row, corner.col], [first.row, first.col]);
    const { rows, cols } = plot.visible(layout, plot.panned(layout, view, -1e6, -1e6));
    assert.deepEqual([rows[1], cols[1]], [first.row + 13, first.col + 17]);
  }
});

test("a cell is found at each of its corners, and none outside", () => {
  const view = plot.whole(LAYOUT);
  const { left, top, rowCell, colCell, width, height } = LAYOUT;
  const at = (/** @type {number} */ x, /** @type {number} */ y) => plot.cellAt(LAYOUT, view, left + x, top + y);
  assert.deepEqual(at(0, 0), { query: 0, key: 0 });
  assert.deepEqual(at(2 * colCell + 0.1, rowCell + 0.1), { query: 1, key: 2 });
  assert.deepEqual(at(width - 1e-9, height - 1e-9), { query: 12, key: 16 });
  for (const [x, y] of [[-1, 5], [5, -1], [width + 1, 5], [5, height + 1]]) assert.equal(at(x, y), null);
});

test("walking brings the cell into view, moving as little as possible", () => {
  const view = plot.viewOf(LAYOUT, 3, 5, 2);
  const rows = LAYOUT.height / view.rowScale;
  assert.deepEqual(plot.revealing(LAYOUT, view, { query: 6, key: 6 }), view);
  assert.equal(plot.revealing(LAYOUT, view, { query: 2, key: 6 }).row, 2);
  assert.ok(Math.abs(plot.revealing(LAYOUT, view, { query: 10, key: 6 }).row - (11 - rows)) < 1e-9);
  assert.deepEqual(plot.nearest(LAYOUT, { query: -1, key: 99 }), { query: 0, key: 16 });
});

test("where not every label has room, those that matter come first and all keep apart", () => {
  assert.deepEqual(plot.labelled([3, 7], 9, 8.5, [5]), [3, 4, 5, 6]);
  const few = plot.labelled([0, 200], 2, 11, [101, 99, 103, 7, 250]);
  for (const index of [101, 7]) assert.ok(few.includes(index));
  for (const index of [99, 103, 250]) assert.ok(!few.includes(index));
  few.slice(1).forEach((index, i) => assert.ok(2 * (index - few[i]) >= 11));
  const widest = Math.max(...few.slice(1).map((index, i) => index - few[i]));
  assert.ok(widest <= 12, String(few)); // never more than two labels' room is left empty
  assert.ok(plot.labelled([500, 16384], 0.03, 11, []).every((index) => index >= 500));
});

test("every token lies in the cell that pooling put it in", () => {
  for (const [tokens, cells] of [[10, 10], [1283, 640], [7, 3], [641, 640]])
    for (let token = 0; token < tokens; token++) {
      const cell = cellOf(token, [0, tokens], cells);
      // analysis.overview: cell i covers ⌊i·len/n⌋ to ⌈(i+1)·len/n⌉
      assert.ok(Math.floor((cell * tokens) / cells) <= token);
      assert.ok(token < Math.ceil(((cell + 1) * tokens) / cells));
    }
  assert.equal(cellOf(100, [100, 200], 50), 0);
  assert.equal(cellOf(199, [100, 200], 50), 49);
});

test("pixels outside a part have no cell, pixels over several cells have all of them", () => {
  const { first, last } = binsOf(6, 0, 1, [2, 4], 2);
  assert.deepEqual([...first], [-1, -1, 0, 1, -1, -1]);
  assert.deepEqual([...last], [-1, -1, 0, 1, -1, -1]);
  const shrunk = binsOf(2, 0, 0.5, [0, 4], 4);
  assert.deepEqual([[...shrunk.first], [...shrunk.last]], [[0, 2], [1, 3]]);
});

/** @param {number[]} data @param {[number, number]} shape */
const partOf = (data, shape) => ({
  ...{ shape, stride: shape[1], data: Uint8Array.from(data) },
  rows: /** @type {[number, number]} */ ([0, shape[0]]),
  cols: /** @type {[number, number]} */ ([0, shape[1]]),
});
const IDENTITY = Uint32Array.from({ length: 256 }, (_, i) => i);

test("enlarging repeats cells, shrinking keeps the largest", () => {
  const large = new Uint32Array(16);
  const part = partOf([1, 2, 3, 4], [2, 2]);
  draw(large, 4, 4, part, IDENTITY, { row: 0, col: 0, scaleRow: 2, scaleCol: 2 });
  assert.deepEqual([...large], [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4]);
  const small = new Uint32Array(1);
  draw(small, 1, 1, part, IDENTITY, { row: 0, col: 0, scaleRow: 0.5, scaleCol: 0.5 });
  assert.deepEqual([...small], [4]);
});

test("a tile is drawn over its own place only", () => {
  const target = new Uint32Array(16);
  const tile = { ...partOf([9], [1, 1]), rows: /** @type {[number, number]} */ ([1, 2]) };
  tile.cols = [2, 3];
  draw(target, 4, 4, tile, IDENTITY, { row: 0, col: 0, scaleRow: 1, scaleCol: 1 });
  assert.deepEqual([...target].map((pixel, i) => [i, pixel]).filter(([, pixel]) => pixel), [[6, 9]]);
});

const BASE = baseOf([{}, { heads: 1 }], { labels: [..."abcd"] });

/** @type {(change: object, bytes: number[]) => [any, Uint8Array]} */
const mapOf = (change, bytes) => [
  { ...{ site: 0, head: 0, rows: [0, 4], cols: [0, 4], shape: [2, 2], max: 0.5, at: 0 }, ...change },
  Uint8Array.from(bytes),
];

test("a weight is read as exactly as it is known", () => {
  const maps = new Maps(BASE);
  assert.equal(maps.weight(0, 0, 1, 1), null);
  maps.keepMap(...mapOf({}, [255, 0, 0, 128]));
  assert.deepEqual(maps.weight(0, 0, 1, 1), { value: 0.5, sign: "≤" });
  maps.keepMap(...mapOf({ rows: [0, 2], cols: [0, 2], max: 0.25 }, [255, 0, 0, 255]));
  assert.deepEqual(maps.weight(0, 0, 1, 1), { value: 0.25, sign: "≈" });
  assert.equal(maps.weight(0, 0, 3, 3)?.sign, "≤"); // outside the tile
  const row = new Float32Array([0.1, 0.2, 0.3, 0.4]);
  const header = { site: 0, head: 0, index: 1, count: 4, sum: 1, at: 0 };
  const area = new Uint8Array(row.buffer);
  maps.keepRow({ ...header, axis: "key" }, area);
  assert.deepEqual(maps.weight(0, 0, 3, 1), { value: row[3], sign: "" });
  maps.keepRow({ ...header, axis: "query" }, area);
  assert.deepEqual(maps.weight(0, 0, 1, 3), { value: row[3], sign: "", sum: 1 });
  assert.equal(maps.weight(0, 0, 1, 4), null); // there is no such key
  assert.equal(maps.weight(0, 0, 4, 1), null);
});

test("a tile without the whole map is nothing to draw", () => {
  const maps = new Maps(BASE);
  maps.keepMap(...mapOf({ rows: [0, 2], cols: [0, 2] }, [1, 2, 3, 4]));
  assert.deepEqual(maps.parts(0, 0), []);
  maps.keepMap(...mapOf({}, [1, 2, 3, 4]));
  assert.deepEqual(maps.parts(0, 0).map(({ whole }) => whole), [true, false]);
  assert.equal(maps.parts(0, 0), maps.parts(0, 0));
});

test("a thumbnail is the whole map where nothing was pooled, and is cropped from its padding", () => {
  const maps = new Maps(BASE);
  const columns = 5; // three heads, mean, max
  const area = Uint8Array.from({ length: 2 * columns * 25 }, (_, i) => i % 251);
  const max = [0, 1].map(() => Array(columns).fill(1));
  const thumbs = { at: 0, first: 0, sites: 2, columns, rows: 5, cols: 5, max };
  maps.take({ header: { v: 1, thumbs }, area });
  const [part] = maps.parts(0, "mean");
  assert.deepEqual([part.shape, part.stride, part.data[0]], [[4, 4], 5, 75]);
  assert.equal(maps.thumb(1, 0)?.data[0], 125);
  assert.equal(maps.thumb(2, 0), null);
  assert.equal(maps.parts(0, "mean"), maps.parts(0, "mean"));
});

test("thumbnails come for all sites at once, or for one after the other", () => {
  const maps = new Maps(BASE);
  const area = Uint8Array.from({ length: 5 * 25 }, (_, i) => i);
  const thumbs = { at: 0, first: 1, sites: 1, columns: 5, rows: 5, cols: 5, max: [[1, 2, 3, 4, 5]] };
  maps.take({ header: { v: 1, thumbs }, area });
  assert.equal(maps.thumb(0, 0), null);
  assert.deepEqual([maps.thumb(1, "max")?.data[0], maps.thumb(1, "max")?.max], [100, 5]);
  maps.take({ header: { v: 1, thumbs: { ...thumbs, first: 0 } }, area });
  assert.equal(maps.thumb(0, 1)?.max, 2);
  assert.equal(maps.thumbs.size, 2);
});

test("how fine a part is, and what it covers", () => {
  /** @type {import("../../viz/web/types").Part} */
  const part = {
    ...partOf([1, 2, 3, 4], [2, 2]),
    ...{ values: /** @type {const} */ ("weights"), min: 0, max: 1, whole: false, sinks: null },
  };
  part.rows = [0, 4];
  assert.equal(density(part), 0.5);
  assert.equal(covers(part, [1, 4], [0, 2]), true);
  assert.equal(covers(part, [1, 5], [0, 2]), false);
});

/** @type {import("../../viz/web/types").Theme} */
const THEME = {
  ...baseOf([{}]).theme.light,
  ...{ mode: "light", line: "#010203" },
  ramp: Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3)),
  bothWays: Uint8Array.from({ length: 768 }, (_, i) => (i % 3 ? 0 : Math.floor(i / 3))),
};

test("a byte has the colour of the number it stands for, on every scale", () => {
  const part = { ...partOf([0, 1, 128, 255], [2, 2]), whole: true, sinks: null, min: 0, max: 0.25 };
  /** @type {(table: Uint32Array) => number[]} */
  const reds = (table) => [0, 2, 128, 255].map((q) => table[q] & 255);
  const sqrt = { .../** @type {const} */ ({ values: "weights" }), ...part };
  assert.deepEqual(reds(scales.tableFor(sqrt, scales.weightScale(THEME, 0.25, true), THEME)), [0, 2, 128, 255]);
  assert.deepEqual(reds(scales.tableFor(sqrt, scales.weightScale(THEME, 1, false), THEME)), [0, 1, 64, 128]);
  const scores = { .../** @type {const} */ ({ values: "scores" }), ...part, min: -4, max: 2 };
  // zero stands in the middle, masked cells have the colour of lines
  assert.deepEqual(reds(scales.tableFor(scores, scales.scoreScale(THEME, scores), THEME)), [1, 1, 96, 191]);
  assert.ok(scales.scoreScale(THEME, scores).masks);
  const gained = scales.differenceScale(THEME, { min: -0.1, max: 0.4 });
  assert.deepEqual([-0.4, 0, 0.2].map((value) => Number(gained.place(value).toFixed(9))), [0, 0.5, 0.75]);
  assert.deepEqual(gained.ticks.map(({ text }) => text), ["−0.400", "−0.200", "0", "+0.200", "+0.400"]);
  const positive = { ...scores, min: 2, max: 6 };
  assert.deepEqual(reds(scales.tableFor(positive, scales.scoreScale(THEME, positive), THEME)), [1, 1, 128, 255]);
});

test("maps and rows of scores and of hidden sinks are kept apart from weights", () => {
  const maps = new Maps(baseOf([{ queries: 2, keys: 2 }]));
  const area = new Uint8Array(32);
  area.set([255, 128, 255, 0]);
  new Float32Array(area.buffer, 8, 2).set([3, -Infinity]);
  new Float32Array(area.buffer, 16, 2).set([0.75, 0.5]);
  const place = { site: 0, head: 0 };
  const sinks = { mode: "hidden", keys: [0], share: 0.625, shares: 16 };
  const map = { ...place, rows: [0, 2], cols: [0, 2], shape: [2, 2], max: 1, at: 0 };
  maps.keepMap(map, area);
  maps.keepMap({ ...map, coding: "scores", min: -1, max: 3 }, area);
  maps.keepMap({ ...map, sinks }, area);
  const row = { ...place, axis: "query", index: 0, count: 2, at: 8, sum: null };
  maps.keepRow({ ...row, values: "scores" }, area);
  /** @type {import("../../viz/web/types").Variant} */
  const scores = { values: "scores", sinks: "shown" };
  assert.equal(maps.weight(0, 0, 0, 0)?.value, 1);
  assert.deepEqual(maps.weight(0, 0, 0, 0, scores), { value: 3, sign: "", sum: null });
  assert.equal(maps.weight(0, 0, 1, 1, scores)?.value, -Infinity);
  assert.equal(maps.weight(0, 0, 1, 0, scores)?.value, 3);
  const [hidden] = maps.parts(0, 0, { values: "weights", sinks: "hidden" });
  assert.deepEqual([hidden.sinks?.keys, [...(hidden.sinks?.shares ?? [])]], [[0], [0.75, 0.5]]);
});
