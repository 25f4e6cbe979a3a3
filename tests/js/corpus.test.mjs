// Heads over a corpus: intervals, distributions, and what an example shows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { intervalOf } from "../../viz/web/core/ticks.js";
import { wordsOf } from "../../viz/web/controls/runs.js";
import { around } from "../../viz/web/corpus/examples.js";

test("a mean is written with two digits of its interval", () => {
  assert.equal(intervalOf({ mean: 0.7123, low: 0.7, high: 0.7246 }), "0.712 ± 0.012");
  assert.equal(intervalOf({ mean: 14.3, low: 12.1, high: 16.5 }), "14.3 ± 2.2");
  assert.equal(intervalOf({ mean: -0.5, low: -0.75, high: -0.25 }), "−0.50 ± 0.25");
  assert.equal(intervalOf({ mean: 0.99999, low: 0.99998, high: 1 }), "1.0000 ± < 0.0001");
  assert.equal(intervalOf({ mean: 0.25, low: 0.25, high: 0.25 }), "0.250 ± 0.000");
  assert.equal(intervalOf({ mean: 0.98, low: 0.94, high: 0.995 }), "0.980 (0.940 to 0.995)");
  assert.equal(intervalOf({ mean: 0.25, low: null, high: null }), "0.250");
});

test("an example shows a short text whole, and of a long one what matters", () => {
  const weights = new Map([[3, 0.01], [60, 0.5]]);
  assert.deepEqual(around(40, 5, weights), [0, 40]);
  assert.deepEqual(around(200, 70, weights), [52, 79]);
  assert.deepEqual(around(200, -1, weights), [52, 69]);
  assert.deepEqual(around(200, 198, new Map()), [190, 200]);
});

test("a run under way says how far it is", () => {
  const report = { done: 1200, total: 5000, left: 61.2, problem: "" };
  assert.equal(wordsOf({ ...report, status: "running" }), "1,200 of 5,000 texts, 1 min left");
  assert.equal(wordsOf({ ...report, status: "running", left: 7.1 }), "1,200 of 5,000 texts, 8 s left");
  assert.equal(wordsOf({ ...report, status: "running", left: 7300 }), "1,200 of 5,000 texts, 2 h 2 min left");
  assert.equal(wordsOf({ ...report, status: "stopped" }), "1,200 of 5,000 texts, stopped");
  assert.equal(wordsOf({ ...report, status: "running", total: null, left: null }), "1,200 texts counted");
  assert.equal(wordsOf({ ...report, status: "failed", problem: "no such file" }), "no such file");
});
