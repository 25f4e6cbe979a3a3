// What sentences claim of numbers, against the numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { together } from "../../viz/web/methods/choices.js";

/** Random numbers of a seed. @param {number} seed */
const dice = (seed) => () => (seed = (seed * 16807) % 2147483647) / 2147483647;

const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);

test("all tokens together are their sum, and what no token gets", () => {
  const next = dice(7);
  for (let i = 0; i < 20; i++) {
    const values = Array.from({ length: 5 }, () => next() - 0.5);
    const said = together({ total: sum(values), unassigned: i % 3 ? 0.25 : null });
    const numbers = said.match(/-?\d\.\d+(e-\d+)?/g)?.map(Number) ?? [];
    assert.ok(Math.abs(numbers[0] - sum(values)) <= 0.0005);
    assert.equal(/0\.250 unassigned/.test(said), Boolean(i % 3));
  }
});
