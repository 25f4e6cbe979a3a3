// Numbers of heads: ticks, ranks and intervals; where thumbnails lie; and what is said of methods and examples.

import assert from "node:assert/strict";
import { test } from "node:test";

import { wordsOf } from "../../viz/web/controls/runs.js";
import { METHODS } from "../../viz/web/core/declared.js";
import { intervalOf, percent, signed, ticksOf } from "../../viz/web/core/ticks.js";
import { around } from "../../viz/web/corpus/examples.js";
import { explainedIn, largest, methodOf, together } from "../../viz/web/methods/choices.js";
import { layoutOf } from "../../viz/web/parts/all_heads.js";
import { baseOf } from "./helpers.mjs";
import * as numbers from "../../viz/web/core/head_numbers.js";

/** @param {string} key */
const measure = (key) => ({ key, title: key, formula: "", source: "", low: 0, high: 1, about: "" });

const ANSWER = {
  measures: [measure("entropy"), measure("induction")],
  values: {
    entropy: [[0.5, 1.25, 12], [2, 0.5, 0]],
    induction: [[0.1, null, 0.3], [null, 0.1, 0.01]],
  },
  reasons: { induction: "no token is repeated" },
  sentences: [["79\u00a0% of its weight goes to the token before.", null, null], [null, null, null]],
};
const BASE = baseOf([{ layer: 1 }, { layer: 4 }]);
const FOUND = new numbers.HeadNumbers(ANSWER, BASE.sites);
const SPOTS = numbers.spotsOf(BASE.sites, [0, 1]);

test("ticks are round numbers within the range", () => {
  const texts = (/** @type {[number, number]} */ range, /** @type {number} */ most) =>
    ticksOf(range, most).map(({ text }) => text);
  assert.deepEqual(texts([0, 1], 6), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(texts([-0.3, 0.4], 5), ["−0.2", "0.0", "0.2", "0.4"]);
  assert.deepEqual(texts([0, 5], 6), ["0", "1", "2", "3", "4", "5"]);
  assert.deepEqual(texts([0.0013, 0.0041], 4), ["0.002", "0.003", "0.004"]);
  assert.deepEqual(texts([0, 2300], 3), ["0", "2000"]);
  for (const most of [2, 3, 5, 8])
    for (const range of /** @type {[number, number][]} */ ([[0, 0.7], [-3, 11], [1e-6, 3e-6]]))
      assert.ok(ticksOf(range, most).length <= most + 1);
});

test("a minus sign is a true one, and zero has none", () => {
  assert.deepEqual([-1.25, -0.0001, 0, 3].map((value) => signed(value, 2)), ["−1.25", "0.00", "0.00", "3.00"]);
});

test("a share in percent, with a digit where it is small", () => {
  const texts = ["0\u00a0%", "< 0.1\u00a0%", "3.1\u00a0%", "50\u00a0%", "100\u00a0%"];
  assert.deepEqual([0, 0.0004, 0.031, 0.5, 1].map(percent), texts);
});

test("heads of a kind of attention in order, each with its own number", () => {
  assert.deepEqual(SPOTS[4], { site: 1, head: 1 });
  assert.deepEqual(FOUND.values("induction", SPOTS), [0.1, null, 0.3, null, 0.1, 0.01]);
  assert.deepEqual(FOUND.values("layer", SPOTS), [1, 1, 1, 4, 4, 4]);
  assert.equal(FOUND.value("nothing", SPOTS[0]), null);
  assert.equal(FOUND.sentence({ site: 0, head: 0 }), ANSWER.sentences[0][0]);
  assert.equal(FOUND.sentence({ site: 7, head: 0 }), null);
  assert.equal(FOUND.measure("nothing").key, "layer");
  assert.equal(FOUND.firstDefined(["nothing", "induction"], SPOTS), "induction");
  assert.equal(FOUND.firstDefined(["induction"], [SPOTS[1]]), "entropy");
});

test("every number of a measure has as many digits", () => {
  assert.equal(FOUND.text("entropy", 0.5), "0.50");
  assert.equal(FOUND.text("induction", 0.3), "0.3000");
  assert.equal(FOUND.text("layer", 4), "4");
  assert.equal(FOUND.text("induction", null), "–");
  assert.equal(numbers.digitsOf([12_345.6]), 0);
});

test("ranks have the largest or the smallest first, and equal ones in their order", () => {
  const values = FOUND.values("induction", SPOTS);
  assert.deepEqual(numbers.ranked(values), [2, 0, 4, 5]);
  assert.deepEqual(numbers.ranked(values, true), [5, 0, 4, 2]);
  assert.deepEqual(numbers.rankOf("-induction"), { key: "induction", least: true });
  assert.deepEqual(numbers.rankOf("induction"), { key: "induction", least: false });
});

test("a share of a range stays within it", () => {
  assert.equal(numbers.shareOf(3, [1, 5]), 0.5);
  assert.equal(numbers.shareOf(9, [1, 5]), 1);
  assert.equal(numbers.shareOf(1, [1, 1]), 0);
});

test("each thumbnail has its place, and steps pass over heads that are not there", () => {
  const base = baseOf([{ heads: 3 }, { heads: 5 }, { heads: 3 }]);
  const places = layoutOf(base, [0, 1, 2], { wide: 400, high: 90 });
  assert.equal(places.spots.length, 3 + 5 + 3 + 3 * 2);
  const seen = new Set();
  for (const spot of places.spots) {
    const { x, y } = places.place(spot);
    assert.ok(x >= 0 && x + places.width <= 400 && y >= 0 && y + places.height <= 90);
    for (const to of [0.1, 0.9])
      assert.deepEqual(places.at(x + to * places.width, y + to * places.height), spot);
    seen.add(`${x} ${y}`);
  }
  assert.equal(seen.size, places.spots.length);
  assert.equal(places.layersAcross, false);
  assert.deepEqual(places.beside({ site: 0, head: 2 }, [0, 1]), { site: 0, head: "mean" });
  assert.deepEqual(places.beside({ site: 1, head: 4 }, [1, 0]), { site: 2, head: 2 });
  assert.equal(places.at(10, 10_000), null);
});

test("the longer side of layers and heads lies across", () => {
  const deep = layoutOf(baseOf(Array(30).fill({ heads: 9 })), [...Array(30).keys()], { wide: 320, high: 110 });
  assert.ok(deep.layersAcross && deep.size[0] <= 320 && deep.size[1] <= 110);
  assert.deepEqual(deep.beside({ site: 3, head: 2 }, [0, 1]), { site: 4, head: 2 });
  assert.deepEqual(deep.beside({ site: 3, head: 2 }, [1, 0]), { site: 3, head: 3 });
});

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

test("every method says what it shows and what it does not prove", () => {
  assert.equal(new Set(METHODS.map(({ name }) => name)).size, METHODS.length);
  for (const { shows, doubt } of METHODS) {
    assert.match(shows, /\.$/);
    assert.match(doubt, /\.$/);
  }
  assert.match(methodOf("attnlrp").doubt, /patented/);
  assert.equal(methodOf("none such").name, "rollout");
});

test("the largest distance from 0 is never 0", () => {
  assert.equal(largest([0.5, -2, 1]), 2);
  assert.ok(largest([]) > 0);
});

test("what is explained is named", () => {
  const token = { name: "mat", id: 14, position: 3, similarity: false };
  assert.equal(explainedIn(token), "“mat” at position 3, logit");
  assert.equal(explainedIn({ ...token, name: "pos", position: null }), "“pos”, logit");
  assert.equal(explainedIn({ ...token, name: "" }), "output 14 at position 3, logit");
  assert.equal(explainedIn({ ...token, name: "A dog", similarity: true }), "similarity to “A dog”");
});

test("all tokens together are their sum, and what no token gets", () => {
  assert.equal(together({ total: 1.23456, unassigned: null }), "All tokens together 1.235.");
  assert.equal(together({ total: -0.0001, unassigned: 0.25 }), "All tokens together -1.0e-4, 0.250 unassigned.");
});
