// A pair of tokens without a canvas: which one is shown, where its elements stand, how numbers read.

import assert from "node:assert/strict";
import { test } from "node:test";

import { elementAt, figures, foldedTerms, pairOf, stripLayout } from "../../viz/web/text/pairs.js";

const WEIGHTS = [
  [1, 0, 0, 0],
  [0.6, 0.4, 0, 0],
  [0.5, 0.1, 0.4, 0],
  [0.7, 0.05, 0.05, 0.2],
];
/** @param {number} query */
const row = (query) => WEIGHTS[query];
/** @param {number} key */
const column = (key) => WEIGHTS.map((weights) => weights[key]);
const SINKS = new Set([0]);

/**
 * @param {number | null} token
 * @param {number | null} partner
 * @param {"out" | "in"} [direction]
 */
const pair = (token, partner, direction = "out") =>
  pairOf({ token, partner, direction }, 4, row, column, SINKS);

test("what is not chosen is the last query and the strongest key beside the sinks", () => {
  assert.deepEqual(pair(null, null), { query: 3, key: 3 });
  assert.deepEqual(pair(2, null), { query: 2, key: 2 });
  assert.deepEqual(pair(0, null), { query: 0, key: 0 }); // it sees the sink alone
  assert.deepEqual(pair(1, 0), { query: 1, key: 0 });
  assert.deepEqual(pair(0, null, "in"), { query: 0, key: 0 });
  assert.deepEqual(pair(2, null, "in"), { query: 2, key: 2 });
  assert.deepEqual(pair(2, 3, "in"), { query: 3, key: 2 });
  assert.deepEqual(pairOf({ token: 2, partner: null, direction: "out" }, 4, () => null, () => null, SINKS), {
    query: 2,
    key: 0,
  });
});

test("elements fill lines of equal length, each found where it stands", () => {
  for (const [count, wide] of [[32, 560], [64, 560], [256, 560], [256, 320], [7, 320], [1, 320]]) {
    const layout = stripLayout(count, wide, 7, 16);
    assert.ok(layout.cell >= 7 && layout.cell <= 16, `${count}: ${layout.cell}`);
    assert.ok(layout.across * layout.cell <= wide + 1e-9);
    assert.ok(layout.across * layout.lines >= count && layout.across * (layout.lines - 1) < count);
    for (let i = 0; i < count; i++) {
      const x = ((i % layout.across) + 0.5) * layout.cell;
      const y = (Math.floor(i / layout.across) + 0.5) * layout.cell;
      assert.equal(elementAt(layout, count, x, y), i);
    }
    assert.equal(elementAt(layout, count, -1, 1), null);
    assert.equal(elementAt(layout, count, 1, layout.lines * layout.cell + 1), null);
  }
});

test("numbers have four figures and a real minus", () => {
  assert.deepEqual(
    [null, 0, -1.23456, 12345.6, 0.00001234, 0.25].map(figures),
    ["−∞", "0", "−1.235", "1.23e+4", "1.23e−5", "0.2500"],
  );
});

test("the terms that matter most come first, the others are folded", () => {
  const terms = [0.1, -3, 2, -0.2, 0.3].map((value, i) => ({ name: String(i), value }));
  const { first, rest } = foldedTerms(terms, 2);
  assert.deepEqual([first.map(({ value }) => value), rest.map(({ value }) => value)], [
    [-3, 2],
    [0.3, -0.2, 0.1],
  ]);
  assert.equal(foldedTerms(terms, 4).rest.length, 0); // one alone is not folded
});
