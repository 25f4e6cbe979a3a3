// Tokens of a text: which part of a map is drawn, what is searched for, and those of a second model.

import assert from "node:assert/strict";
import { test } from "node:test";

import { placeOf, siteFor, textOf } from "../../viz/web/core/selection.js";
import { baseOf } from "./helpers.mjs";
import * as tokens from "../../viz/web/text/tokens.js";

/** @import {Text} from "../../viz/web/types" */

/** @typedef {import("../../viz/web/types").Block} Block */

/** @param {number} count @param {number} [second] */
const longText = (count, second) => ({ labels: Array(count).fill("x"), special: [], second });

test("a pair is cut at its second text", () => {
  const texts = { query: longText(11, 6), key: longText(11, 6) };
  /** @param {Block} block */
  const drawn = (block) => Object.values(tokens.rangesOf(texts, block));
  assert.deepEqual(drawn("all"), [[0, 11], [0, 11]]);
  assert.deepEqual(drawn("aa"), [[0, 6], [0, 6]]);
  assert.deepEqual(drawn("ab"), [[0, 6], [6, 11]]);
  assert.deepEqual(drawn("ba"), [[6, 11], [0, 6]]);
  assert.deepEqual(drawn("bb"), [[6, 11], [6, 11]]);
  const one = { query: longText(5), key: longText(7, 3) };
  assert.deepEqual(tokens.rangesOf(one, "ab"), { rows: [0, 5], cols: [3, 7] });
});

test("padding after a recording is left out", () => {
  const texts = { query: longText(14), key: { ...longText(1500), timed: true } };
  const sound = { heard: 4.02, seconds: 30 };
  assert.deepEqual(tokens.rangesOf(texts, "all", sound), { rows: [0, 14], cols: [0, 201] });
  assert.deepEqual(tokens.rangesOf(texts, "all"), { rows: [0, 14], cols: [0, 1500] });
  assert.equal(tokens.framesHeard(texts.key, { heard: 0, seconds: 30 }), 1);
  assert.equal(tokens.framesHeard(texts.query, sound), 14);
});

test("whether a token is drawn", () => {
  /** @type {tokens.Ranges} */
  const ranges = { rows: [2, 4], cols: [0, 1] };
  assert.deepEqual([1, 2, 3, 4].map((i) => tokens.isDrawn(ranges, "query", i)), [false, true, true, false]);
  assert.equal(tokens.isDrawn(ranges, "key", 1), false);
});

test("a text is found within tokens and over several of them", () => {
  const labels = ["[CLS]", "Un", "believ", "able", " the", "cat", "The", "‮שלום", "🙂 1/2", ""];
  /** @param {string} wanted */
  const found = (wanted) => tokens.matches(labels, wanted);
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
  assert.deepEqual(tokens.matches(["Zoe\u0308"], "Zo\u00eb"), [[0, 1]]);
});

test("next and previous go round", () => {
  assert.deepEqual([0, 1, 2].map((now) => tokens.stepped(now, 1, 3)), [1, 2, 0]);
  assert.equal(tokens.stepped(0, -1, 3), 2);
  assert.equal(tokens.stepped(-1, 1, 3), 0);
  assert.equal(tokens.stepped(-1, -1, 3), 2);
  assert.equal(tokens.stepped(-1, 1, 0), -1);
});

/** @param {string[]} labels @param {number[][]} [origins] @returns {Text} */
const text = (labels, origins) => ({ labels, special: [], ...(origins ? { origins } : {}) });

test("a token is that of the same characters, and of several the one with most of them first", () => {
  const [first, second] = [text(["[CLS]", "un", "believ", "able"]), text(["unbel", "ievable"])];
  /** @type {tokens.Span[][]} */
  const [ours, theirs, later] = [
    [null, [0, 0, 2], [0, 2, 8], [0, 8, 12]],
    [[0, 0, 5], [0, 5, 12]],
    [[1, 0, 5], [1, 5, 12]],
  ];
  assert.deepEqual([0, 1, 2, 3].map((i) => tokens.overlapping(i, ours, first, theirs, second)), [[], [0], [0, 1], [1]]);
  assert.deepEqual([0, 1].map((i) => tokens.overlapping(i, theirs, second, ours, first)), [[2, 1], [3, 2]]);
  const words = text(["[CLS]", "unbelievable"], [[0], [1, 2, 3]]);
  assert.deepEqual(tokens.overlapping(1, theirs, second, ours, words), [1]);
  assert.deepEqual(tokens.overlapping(1, ours, words, theirs, second), [1, 0]);
  assert.deepEqual(tokens.overlapping(1, ours, first, later, second), []); // another sentence
});

test("a link says layer and head, and the rest of the address where it tells sites apart", () => {
  const plain = baseOf([{ layer: 0 }, { layer: 4 }]);
  assert.equal(textOf(plain, 1, 2), "4,2");
  assert.equal(textOf(plain, 0, "mean"), "0,mean");
  const kinds = baseOf([{ layer: 0, kind: "self" }, { layer: 0, kind: "cross" }]);
  assert.equal(textOf(kinds, 1, 2), "0,2,cross");
  for (const base of [plain, kinds])
    for (const site of [0, 1]) {
      const place = placeOf(textOf(base, site, 1));
      assert.ok(place);
      assert.equal(siteFor(base.sites, place), site);
      assert.equal(place.head, 1);
    }
  for (const said of ["", "3", "a,b", "3,x", "-1,2"]) assert.equal(placeOf(said), null);
});
