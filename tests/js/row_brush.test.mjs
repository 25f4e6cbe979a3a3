// Rows that are painted: which cells, and what becomes of the row.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keysOf, rowAfter } from "../../viz/components/headscope_views/assets/text/row_brush.js";

const near = (/** @type {number} */ a, /** @type {number} */ b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} for ${b}`);

test("cells lie between the first and the last, whichever comes first", () => {
  assert.deepEqual(keysOf({ query: 4, first: 1, last: 3, value: 0.1 }), [1, 2, 3]);
  assert.deepEqual(keysOf({ query: 4, first: 3, last: 1, value: 0.1 }), [1, 2, 3]);
  assert.deepEqual(keysOf({ query: 4, first: 2, last: 2, value: 0.1 }), [2]);
});

test("a row that keeps its sum scales the other cells, or the painted ones where these take it all", () => {
  const weights = [0.5, 0.2, 0.1, 0.2, 0, 0];
  const of = { visible: 4, keepsSum: true };
  const some = rowAfter(weights, [1, 2], 0.3, of);
  near(some.each, 0.3);
  near(some.others, 0.4);
  near(some.sum, 1);
  const much = rowAfter(weights, [1, 2], 0.8, of);
  near(much.each, 0.5);
  near(much.others, 0);
  near(much.sum, 1);
  const whole = rowAfter(weights, [0, 1, 2, 3], 0.1, of);
  near(whole.each, 0.25);
  near(whole.sum, 1);
});

test("a row that need not keep its sum leaves the other cells as they are", () => {
  const after = rowAfter([0.5, 0.2, 0.1, 0.2], [1, 2], 0.6, { visible: 4, keepsSum: false });
  near(after.each, 0.6);
  near(after.others, 0.7);
  near(after.sum, 1.9);
});
