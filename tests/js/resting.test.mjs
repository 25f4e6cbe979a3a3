// The token on which most of a head's weight rests, against shares counted by hand.

import assert from "node:assert/strict";
import { test } from "node:test";

import { topOf } from "../../viz/views/model/map.js";
import { restingIn, restingOn, sharesOf } from "../../viz/web/text/weights.js";
import { baseOf } from "./helpers.mjs";

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
