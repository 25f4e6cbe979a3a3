// Lines that name several tokens: how many each, where their words stand, which are cut off.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as lines from "../../viz/web/painting/label_lines.js";
import * as viewport from "../../viz/web/painting/viewport.js";

const WORD = 29; // pixels of every label below

/** @param {number} wide @param {number} tokens */
const sizesOf = (wide, tokens) => ({
  ...{ wide, rows: tokens, cols: tokens, unit: 1, noted: false },
  widths: { query: 60, key: 60, line: (/** @type {string} */ _, /** @type {number} */ count) => count * WORD + (count - 1) * 6 },
});

test("a line names as few tokens as keep it from the next", () => {
  assert.deepEqual([11, 10.5, 5.3, 2.7, 2.6].map((scale) => lines.perLine(scale, 1)), [1, 1, 2, 4, 5]);
  assert.equal(lines.perLine(2.7, 1.5), 6);
  assert.ok(lines.perLine(1.7, 1) > lines.MOST);
});

test("lines begin at multiples of their length and end with the axis", () => {
  assert.deepEqual(lines.linesOf([7, 14], 5, 13), [[5, 10], [10, 13]]);
  assert.deepEqual(lines.linesOf([0, 4], 2, 200), [[0, 2], [2, 4]]);
});

test("words follow each other, and the longest are cut off where the space ends", () => {
  const widthOf = (/** @type {number} */ index) => [10, 50, 20][index - 3];
  const whole = lines.wordsOf([3, 6], widthOf, 92, 1);
  assert.deepEqual(whole.words.map(({ index, start, wide }) => [index, start, wide]), [[3, 0, 10], [4, 16, 50], [5, 72, 20]]);
  assert.equal(whole.length, 92);
  const cut = lines.wordsOf([3, 6], widthOf, 62, 1);
  assert.deepEqual(cut.words.map(({ wide }) => Math.round(wide)), [10, 20, 20]);
  assert.ok(Math.abs(cut.length - 62) < 1e-3);
});

test("widths are cut to one length, the shorter ones stay", () => {
  assert.deepEqual(lines.cutFairly([5, 30, 10, 40], 55), [5, 20, 10, 20]);
  assert.deepEqual(lines.cutFairly([5, 6], 100), [5, 6]);
  assert.deepEqual(lines.cutFairly([8, 8], 8), [4, 4]);
});

test("the space for lines is that of the longest, as long as words stay readable", () => {
  assert.equal(lines.longestLine([10, 20, 30, 200], 2, 1), 30 + 6 + 62);
  assert.equal(lines.roomFor(98, 150, 2, 1), 98);
  assert.equal(lines.roomFor(200, 150, 4, 1), 150);
  assert.equal(lines.roomFor(200, 90, 4, 1), null);
});

test("up to 200 tokens have a label each in a window of usual size, in lines that keep apart", () => {
  for (const tokens of [30, 58, 100, 150, 200])
    for (const [wide, high] of [[800, 900], [1198, 900], [800, 760]]) {
      const layout = viewport.layoutIn(sizesOf(wide, tokens), high, false);
      const view = viewport.whole(layout);
      const count = viewport.tokensPerLine(layout, view);
      const name = `${tokens} tokens, ${wide} × ${high}`;
      assert.ok(viewport.isLabelled(layout, view) || count !== null, name);
      if (count === null) continue;
      assert.ok(layout.cell * count >= 10.5 - 1e-6, name);
      assert.ok(layout.left >= count * WORD + (count - 1) * 6 + 8, name);
      assert.ok(layout.left + layout.width <= wide, name);
      assert.ok(layout.tall <= high + 1, `${name}: ${layout.tall}`);
    }
});

test("without space for lines every few tokens have a label, and a zoom gives each its own", () => {
  const narrow = viewport.layoutIn(sizesOf(300, 200), 500, false);
  assert.equal(narrow.lines, null);
  assert.equal(viewport.tokensPerLine(narrow, viewport.whole(narrow)), null);
  const lined = viewport.layoutIn(sizesOf(800, 200), 900, false);
  assert.equal(viewport.tokensPerLine(lined, { row: 0, col: 0, scale: 9, rowScale: 9, colScale: 9 }), null);
  assert.equal(viewport.tokensPerLine(lined, { row: 0, col: 0, scale: 5.3, rowScale: 5.3, colScale: 5.3 }), 2);
});
