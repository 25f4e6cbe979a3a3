// The lines between two columns of tokens: which are drawn, which heads, which tokens are in sight.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Maps } from "../../viz/web/text/maps.js";
import { headsShown, listOf, toggled } from "../../viz/web/parts/switches.js";
import * as strands from "../../viz/web/text/weights.js";
import { baseOf } from "./helpers.mjs";

test("the heads that a link lists are drawn, else the chosen one", () => {
  assert.deepEqual(headsShown("", 3, 12), [3]);
  assert.deepEqual(headsShown("", "mean", 12), ["mean"]);
  assert.deepEqual(headsShown("7.1.1", 3, 12), [1, 7]);
  assert.deepEqual(headsShown("7.30", 3, 8), [7]);
  assert.deepEqual(headsShown("30", 3, 8), [3]);
});

test("a head is switched on and off, and one always stays", () => {
  assert.equal(toggled([3], 1), "1.3");
  assert.equal(toggled([1, 3], 1), "3");
  assert.equal(toggled([3], 3), "3");
  assert.equal(toggled(["mean"], 2), "2");
  assert.equal(listOf([10, 2, "max"]), "2.10");
});

test("the tokens in sight, at the ends too", () => {
  assert.deepEqual(strands.inSight(0, 100, 24, 16), [0, 5]);
  assert.deepEqual(strands.inSight(30, 100, 24, 16), [1, 6]);
  assert.deepEqual(strands.inSight(10_000, 100, 24, 16), [15, 16]);
  assert.deepEqual(strands.inSight(0, 100, 24, 2), [0, 2]);
  assert.deepEqual(strands.inSight(0, 0, 24, 5), [0, 1]);
});

test("a window's weights are lines, the weakest first, and the faintest are left out", () => {
  const weights = Float32Array.of(0.5, 0.006, 0.2, 0.02);
  const found = strands.strandsOf(weights, [4, 6], [7, 9], 0.01);
  assert.deepEqual(
    found.map(({ query, key }) => [query, key]),
    [[5, 8], [5, 7], [4, 7]],
  );
  assert.equal(strands.strandsOf(weights, [4, 6], [7, 9], 0.005).length, 4);
});

test("equal lines of several heads lie side by side, within a token's row", () => {
  assert.deepEqual(strands.apart(1, 24, 1.6), [0]);
  assert.deepEqual(strands.apart(3, 24, 2), [-2, 0, 2]);
  const many = strands.apart(12, 11, 1.6);
  assert.equal(new Set(many).size, 12);
  assert.ok(many[11] - many[0] < 11);
});

test("the largest values come with their places", () => {
  assert.deepEqual(strands.strongest([0.1, 0.5, 0.2, 0.4], 2), [[1, 0.5], [3, 0.4]]);
  assert.deepEqual(strands.strongest([1], 3), [[0, 1]]);
  assert.deepEqual(strands.strongest([], 3), []);
  assert.deepEqual(strands.strongest([0.5, 0.5, 0.6], 2), [[2, 0.6], [0, 0.5]]);
});

test("a window of a map is cut from whichever part has every weight of it", () => {
  const maps = new Maps(baseOf([{ heads: 1 }], { labels: [..."abcd"] }));
  const header = { v: 1, trace: "t", maps: [] };
  const pooled = { site: 0, head: 0, rows: [0, 4], cols: [0, 4], shape: [2, 2], max: 1, at: 0 };
  maps.take(/** @type {any} */ ({ header: { ...header, maps: [pooled] }, area: Uint8Array.of(255, 0, 0, 255) }));
  assert.equal(maps.window(0, 0, [0, 2], [0, 2]), null);
  const part = { site: 0, head: 0, rows: [1, 3], cols: [0, 3], shape: [2, 3], max: 0.5, at: 0 };
  const area = Uint8Array.of(0, 255, 51, 255, 0, 0);
  maps.take(/** @type {any} */ ({ header: { ...header, maps: [part] }, area }));
  const cut = maps.window(0, 0, [1, 3], [1, 3]) ?? [];
  assert.deepEqual([...cut].map((each) => Math.round(each * 1000) / 1000), [0.5, 0.02, 0, 0]);
  assert.equal(maps.window(0, 0, [0, 2], [1, 3]), null);
});
