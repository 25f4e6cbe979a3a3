// Rows of weights: the lines between two columns of tokens, and the token on which most of a head's weight rests, against
// shares counted by hand.

import assert from "node:assert/strict";
import { test } from "node:test";

import { topOf } from "../../viz/views/model/map.js";
import { headsShown, listOf, toggled } from "../../viz/web/parts/switches.js";
import { Maps } from "../../viz/web/text/maps.js";
import { restingIn, restingOn, sharesOf } from "../../viz/web/text/weights.js";
import { baseOf } from "./helpers.mjs";
import * as strands from "../../viz/web/text/weights.js";

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

/**
 * A state that shows one head's matrix.
 *
 * @param {number[][]} rows
 * @param {{head?: unknown, values?: string, known?: boolean}} [of]
 */
function stateOf(rows, { head = 0, values = "weights", known = true } = {}) {
  const base = baseOf([{ queries: rows.length, keys: rows[0].length }]);
  return /** @type {any} */ ({
    selection: { site: 0, head },
    variant: () => ({ values, sinks: "shown" }),
    site: () => base.sites[0],
    maps: {
      window: () => (known ? Float32Array.from(rows.flat()) : null),
    },
  });
}

test("over half of the weight on one token, the mean over rows", () => {
  const rows = [
    [0.75, 0.125, 0.125],
    [0.5, 0.25, 0.25],
    [0.625, 0.25, 0.125],
  ];
  assert.deepEqual(restingOn(stateOf(rows)), { key: 0, share: 0.625 });
  assert.equal(restingOn(stateOf(rows, { head: "max" })), null);
  assert.equal(restingOn(stateOf(rows, { values: "scores" })), null);
  assert.equal(restingOn(stateOf(rows, { known: false })), null);
});

test("the mean is over rows that see the token, at least half of them", () => {
  const within = [
    [1, 0, 0, 0],
    [0.25, 0.75, 0, 0],
    [0.25, 0.5, 0.25, 0],
    [0.125, 0.5, 0.125, 0.25],
  ];
  assert.deepEqual(restingOn(stateOf(within)), { key: 1, share: 1.75 / 3 });
  const late = [
    [1, 0, 0],
    [0.25, 0.75, 0],
    [0.125, 0.125, 0.75],
  ];
  assert.equal(restingOn(stateOf(late))?.key, undefined); // 0.46; 0.44; the last is seen by one row
});

test("a map rests on a token by the same rule", () => {
  assert.deepEqual(restingIn([1, 0, 0, 0.75, 0.25, 0, 0.5, 0.25, 0.25], 3, 3), { key: 0, share: 0.75 });
  assert.equal(restingIn([0.5, 0.5, 0.5, 0.5], 2, 2), null);
});

test("the largest value is that of what is shown", () => {
  const map = /** @type {any} */ ({ max: 0.9, shape: [2, 3], cells: [0.9, 0.1, 0.2, 0.8, 0.3, 0] });
  assert.equal(topOf(map, null), 0.9);
  assert.equal(topOf(map, { keys: [0], share: 0.85, shares: new Float32Array(2) }), 0.3);
});

test("cells become shares of their rows, also of rows that are 0", () => {
  assert.deepEqual(sharesOf([3, 1, 0, 0, 2, 2], 3, 2), [0.75, 0.25, 0, 0, 0.5, 0.5]);
});
