// Reading aids: which part of a map is drawn, and what is found.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as search from "../../viz/web/text/tokens.js";
import * as span from "../../viz/web/text/tokens.js";

/** @typedef {import("../../viz/web/types").Block} Block */

/** @param {number} count @param {number} [second] */
const textOf = (count, second) => ({ labels: Array(count).fill("x"), special: [], second });

test("a pair is cut at its second text", () => {
  const texts = { query: textOf(11, 6), key: textOf(11, 6) };
  /** @param {Block} block */
  const drawn = (block) => Object.values(span.rangesOf(texts, block));
  assert.deepEqual(drawn("all"), [[0, 11], [0, 11]]);
  assert.deepEqual(drawn("aa"), [[0, 6], [0, 6]]);
  assert.deepEqual(drawn("ab"), [[0, 6], [6, 11]]);
  assert.deepEqual(drawn("ba"), [[6, 11], [0, 6]]);
  assert.deepEqual(drawn("bb"), [[6, 11], [6, 11]]);
  const one = { query: textOf(5), key: textOf(7, 3) };
  assert.deepEqual(span.rangesOf(one, "ab"), { rows: [0, 5], cols: [3, 7] });
});

test("padding after a recording is left out", () => {
  const texts = { query: textOf(14), key: { ...textOf(1500), timed: true } };
  const sound = { heard: 4.02, seconds: 30 };
  assert.deepEqual(span.rangesOf(texts, "all", sound), { rows: [0, 14], cols: [0, 201] });
  assert.deepEqual(span.rangesOf(texts, "all"), { rows: [0, 14], cols: [0, 1500] });
  assert.equal(span.framesHeard(texts.key, { heard: 0, seconds: 30 }), 1);
  assert.equal(span.framesHeard(texts.query, sound), 14);
});

test("whether a token is drawn", () => {
  /** @type {span.Ranges} */
  const ranges = { rows: [2, 4], cols: [0, 1] };
  assert.deepEqual([1, 2, 3, 4].map((i) => span.isDrawn(ranges, "query", i)), [false, true, true, false]);
  assert.equal(span.isDrawn(ranges, "key", 1), false);
});

test("a text is found within tokens and over several of them", () => {
  const labels = ["[CLS]", "Un", "believ", "able", " the", "cat", "The", "‮שלום", "🙂 1/2", ""];
  /** @param {string} wanted */
  const found = (wanted) => search.matches(labels, wanted);
  assert.deepEqual(found("able"), [[3, 4]]);
  assert.deepEqual(found("unbelievABLE"), [[1, 4]]);
  assert.deepEqual(found("unbel"), [[1, 3]]);
  assert.deepEqual(found("the"), [[4, 5], [6, 7]]);
  assert.deepEqual(found("the cat"), [[4, 6]]);
  assert.deepEqual(found("hecat"), []); // does not begin with a token
  assert.deepEqual(found("שלום"), [[7, 8]]);
  assert.deepEqual(found("🙂"), [[8, 9]]);
  assert.deepEqual(found("  "), []);
  assert.deepEqual(found("zebra"), []);
  assert.deepEqual(search.matches(["Zoe\u0308"], "Zo\u00eb"), [[0, 1]]);
});

test("next and previous go round", () => {
  assert.deepEqual([0, 1, 2].map((now) => search.stepped(now, 1, 3)), [1, 2, 0]);
  assert.equal(search.stepped(0, -1, 3), 2);
  assert.equal(search.stepped(-1, 1, 3), 0);
  assert.equal(search.stepped(-1, -1, 3), 2);
  assert.equal(search.stepped(-1, 1, 0), -1);
});
