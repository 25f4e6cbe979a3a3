// What sentences claim of numbers, against the numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { jointSentence, sumOf, weightsSentence } from "../../viz/views/matrix/claims.js";
import { together } from "../../viz/web/methods/methods.js";

/** @typedef {import("../../viz/web/types").Sinks} Sinks */

/** Random numbers of a seed. @param {number} seed */
const dice = (seed) => () => (seed = (seed * 16807) % 2147483647) / 2147483647;

const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);

test("a sentence says that rows sum to 1 only where they do", () => {
  const next = dice(5);
  for (let i = 0; i < 50; i++) {
    const raw = [0, 0].map(() => Array.from({ length: 7 }, next));
    const lost = i % 2 ? next() : 0; // what a sink of the softmax takes
    const heads = raw.map((row) => row.map((value) => ((1 - lost) * value) / sum(row)));
    for (const sinks of /** @type {Sinks[]} */ (["shown", "hidden", "renormalised"])) {
      const shown = heads.map((row) => {
        const left = row.map((value, key) => (sinks !== "shown" && key === 0 ? 0 : value));
        return sinks === "renormalised" ? left.map((value) => value / sum(left)) : left;
      });
      const claim = sumOf(lost === 0, sinks);
      const mean = shown[0].map((value, key) => (value + shown[1][key]) / 2);
      const max = shown[0].map((value, key) => Math.max(value, shown[1][key]));
      for (const [head, row] of /** @type {const} */ ([[0, shown[0]], ["mean", mean], ["max", max]])) {
        const whole = /weights sum to 1\.$/.test(weightsSentence(head, claim));
        if (whole) assert.ok(Math.abs(sum(row) - 1) < 1e-9);
        else assert.ok(head === "max" || sinks === "hidden" || lost > 0);
      }
      assert.equal(/sums to 2/.test(jointSentence(claim)), claim === "one");
    }
  }
});

test("all tokens together are those that are shown and those that are hidden", () => {
  const next = dice(7);
  for (let i = 0; i < 20; i++) {
    const values = Array.from({ length: 5 }, () => next() - 0.5);
    const hidden = i % 2 ? values[0] : 0;
    const said = together({ total: sum(values), hidden, unassigned: i % 3 ? 0.25 : null });
    const numbers = said.match(/-?\d\.\d+(e-\d+)?/g)?.map(Number) ?? [];
    assert.ok(Math.abs(numbers[0] - sum(values)) <= 0.0005);
    assert.equal(/hidden tokens/.test(said), hidden !== 0);
    if (hidden) assert.ok(Math.abs(numbers[1] - hidden) <= 0.0005);
    assert.equal(/0\.250 unassigned/.test(said), Boolean(i % 3));
  }
});
