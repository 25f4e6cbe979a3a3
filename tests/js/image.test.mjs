// The image view's numbers without a canvas.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fadeOf, nearlyUniform, pixelsOf } from "../../viz/web/painting/pixels.js";
import * as layers from "../../viz/web/image/state.js";
import { PatchState } from "../../viz/web/image/state.js";
import { patchThere } from "../../viz/web/core/selection.js";
import { baseOf, HeldSource, packed } from "./helpers.mjs";

/** Patches in rows and columns behind so many tokens. @type {(prefix: number, shape: [number, number]) => any} */
const gridOf = (prefix, shape) => ({
  ...{ picture: 0, name: "", shape, box: [0, 0, 1, 1], frames: [] },
  places: Array.from({ length: shape[0] * shape[1] }, (_, patch) => prefix + patch),
});

/**
 * A state whose trace is open: so many layers of three heads over a grid of patches.
 *
 * @param {number} count
 * @param {[number, number]} shape
 * @param {PatchState} [first] which it stands beside
 */
async function opened(count, shape, first) {
  const queries = 1 + shape[0] * shape[1];
  const sites = Array.from({ length: count }, (_, layer) => ({ layer, kind: "self", heads: 3, queries, keys: queries }));
  const labels = ["class", ...Array.from({ length: queries - 1 }, () => "patch")];
  const texts = [{ labels, special: [], grids: [gridOf(1, shape)] }];
  const source = new HeldSource();
  const props = { page: "", path: [], revision: "1", link: {}, trace: "t", start: null, defaults: {}, kind: "image" };
  const host = { set() {}, trigger() {}, source: () => source };
  const state = new PatchState(/** @type {any} */ ({}), props, host, first);
  if (first) first.second = state;
  state.update(props);
  await source.answer("overview", packed({ trace: "t", base: { ...baseOf([]), texts, sites, patches: true } }));
  return state;
}

test("a rough row is its query's, a column its key's; of every patch its cell's", () => {
  const header = { site: 0, shape: /** @type {[number, number, number]} */ ([1, 2, 2]), factor: 2, resting: [] };
  const area = new Uint8Array([...new Uint8Array(new Float32Array([1, 0.5]).buffer), 255, 0, 0, 255]);
  const layer = layers.layerOf({ ...header, maxima: 0, at: 8 }, area, gridOf(1, [2, 1])); // a cell of two patches
  assert.deepEqual([...layer.cells], [0, 1, 1]);
  assert.deepEqual([...layers.roughRow(layer, 0, 2, "query")], [0, 0.5, 0.5]);
  assert.deepEqual([...layers.roughRow(layer, 0, 0, "key")], [1, 0, 0]);
  assert.deepEqual([...layers.cellsOf(gridOf(0, [3, 3]), 2)], [0, 0, 1, 0, 0, 1, 2, 2, 3]);
});

test("beside a patch on which a head rests the shared scale ends at the 99th percentile", () => {
  const patches = Float32Array.from({ length: 201 }, (_, i) => (i + 1) / 1000);
  const rests = (/** @type {number} */ patch) => patch === 200;
  assert.deepEqual(layers.sharedTop(patches, rests), { top: patches[198], beside: true });
  assert.deepEqual(layers.sharedTop(patches, () => false), { top: patches[200], beside: false });
  patches[200] = 0; // a row that gives nothing to that patch
  assert.deepEqual(layers.sharedTop(patches, rests), { top: patches[199], beside: false });
});

test("mean and largest of the heads follow them", () => {
  const [, , mean, max] = layers.withMeanAndMax([Float32Array.of(0, 1), Float32Array.of(0.5, 0.5)]);
  assert.deepEqual([[...mean], [...max]], [[0.25, 0.75], [0.5, 1]]);
});

test("a token moves to the patch at its place on another grid, one without a place stays", () => {
  const text = (/** @type {number} */ prefix, /** @type {[number, number]} */ shape) => ({ labels: [], special: [], grids: [gridOf(prefix, shape)] });
  assert.equal(patchThere(13, text(0, [4, 4]), text(0, [2, 2])), 2); // row 3, column 1 → row 1, column 0
  assert.equal(patchThere(2, text(0, [2, 2]), text(0, [4, 4])), 13);
  assert.deepEqual([0, null].map((token) => patchThere(token, text(1, [2, 2]), text(1, [4, 4]))), [0, null]);
});

test("colours of a uniform map are faint, and a larger weight is never darker", () => {
  const even = [0.024, 0.025, 0.026];
  assert.equal(nearlyUniform(even), true);
  assert.ok(fadeOf(even) < 0.2);
  assert.equal(nearlyUniform([0, 0.8, 0.1]), false);
  assert.equal(fadeOf([0, 0.8, 0.1]), 1);
  const ramp = Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3)); // greys
  const table = pixelsOf(Array.from({ length: 256 }, (_, t) => t ** 2), { ramp, top: 255 ** 2 });
  for (const level of [0, 90, 255])
    for (let t = 1; t < 256; t++) {
      const [before, after] = [table[t - 1], table[t]].map((pixel) => {
        const share = (pixel >>> 24) / 255;
        return level * (1 - share) + (pixel & 255) * share;
      });
      assert.ok(after >= before - 0.75, `${level} ${t}`);
    }
});

test("rows without sinks leave them out", () => {
  const keys = new Set([0, 2]);
  const row = Float32Array.of(0.5, 0.125, 0.25, 0.125);
  /** @type {(axis: "query" | "key", token: number, cells?: Uint32Array) => number[]} */
  const shown = (axis, token, cells) => [...layers.withoutSinks(row, { axis, token, keys, cells })];
  assert.deepEqual(shown("query", 3), [0, 0.125, 0, 0.125]);
  assert.deepEqual(shown("key", 1), [...row]); // a column of a key that is no sink
  assert.deepEqual(shown("key", 2), [0, 0, 0, 0]);
  assert.deepEqual(shown("query", 0, Uint32Array.of(0, 1, 1, 2)), [0, 0, 0, 0.125]); // its whole cell goes
});

test("two pictures show the same layer, head and place, and share their scale", async () => {
  const first = await opened(4, [4, 4]);
  const second = await opened(2, [2, 2], first);
  const both = [first, second];
  try {
    first.select({ site: 2, head: 1, token: 1 + 13 });
    assert.deepEqual([second.selection.site, second.selection.head], [1, 1]); // the nearest layer
    assert.equal(second.selection.token, 1 + 2); // row 3, column 1 of 4 is row 1, column 0 of 2
    second.select({ token: 1 + 1, scale: "own" });
    assert.equal(first.selection.token, 1 + 1 * 4 + 3); // the middle of that patch
    assert.deepEqual(both.map(({ selection }) => selection.scale), ["own", "own"]);
    first.select({ site: 0 });
    assert.deepEqual(both.map(({ selection }) => selection.site), [0, 0]);
    first.pointAt(16);
    assert.deepEqual(both.map((state) => state.token()), [16, 4]);
    second.pointAt(0);
    assert.deepEqual(both.map((state) => state.token()), [0, 0]);
    second.pointAt(null);
    assert.deepEqual(both.map((state) => state.pointed), [null, null]);
    first.select({ token: 0, scale: "layer", head: 1 });
    for (const [state, most] of /** @type {[PatchState, number][]} */ ([[first, 0.25], [second, 0.5]])) {
      const count = state.site().keys; // all heads give this to a patch, the class token more
      const given = [0, 1, 2].flatMap((head) => [0.5, 0.01, head ? most / 2 : most, ...Array(count - 3).fill(0)]);
      const row = { site: 0, head: "layer", axis: "query", index: 0, count: given.length, at: 0, sum: null };
      state.maps.keepRow(/** @type {any} */ (row), new Uint8Array(Float32Array.from(given).buffer));
    }
    assert.deepEqual(both.map((state) => state.topOf(new Float32Array(17))), [0.5, 0.5]);
  } finally {
    for (const state of both) state.destroy();
  }
});

test("of changes the largest of either sign is shown", () => {
  const heads = [Float32Array.of(0.1, -0.4, 0), Float32Array.of(0.2, 0.1, 0)];
  const [mean, max] = layers.withMeanAndMax(heads).slice(2).map((row) => Array.from(row, (value) => Number(value.toFixed(3))));
  assert.deepEqual(mean, [0.15, -0.15, 0]);
  assert.deepEqual(max, [0.2, -0.4, 0]);
});
