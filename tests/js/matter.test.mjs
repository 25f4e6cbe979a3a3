// How a head is compared with the others of its layer, in words and on a line.

import assert from "node:assert/strict";
import { test } from "node:test";

import { effectsOf } from "../../viz/web/matter/heads.js";
import { rankOf, spread } from "../../viz/web/matter/strip.js";

test("a rank counts the others that are smaller, whatever their sign", () => {
  assert.equal(rankOf(-3, [1, -2, 0.5], "layer 4"), "larger than all 3 others of layer 4");
  assert.equal(rankOf(1, [1, -2, 0.5], "layer 4"), "larger than 1 of the 3 others of layer 4");
  assert.equal(rankOf(0, [1, -2, 0.5], "layer 4"), "larger than none of the 3 others of layer 4");
  assert.equal(rankOf(2, [1], "layer 0"), "larger than the other one of layer 0");
  assert.equal(rankOf(-0.5, [1], "layer 0"), "no larger than the other one of layer 0");
});

test("a line spans all numbers and 0", () => {
  const { low, high, at } = spread([-1, 3]);
  assert.deepEqual([low, high, at(-1), at(0), at(3)], [-1, 3, 0, 25, 100]);
  assert.deepEqual([spread([2, 4]).low, spread([-2, -4]).high, spread([0]).at(0)], [0, 0, 0]);
});

test("effects are listed by site and head, with a pass of their own where there is one", () => {
  /** @type {import("../../viz/web/types").MattersAnswer} */
  const answer = { number: "logit", name: "mat", position: 3, sites: [4, 7], attribution: [[1, 2], [3]], exact: [[null, 5], [null]] };
  assert.deepEqual(effectsOf(answer), [
    { site: 4, head: 0, rough: 1, exact: null },
    { site: 4, head: 1, rough: 2, exact: 5 },
    { site: 7, head: 0, rough: 3, exact: null },
  ]);
});
