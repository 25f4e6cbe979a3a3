// The pieces of a story that need no document.

import assert from "node:assert/strict";
import { test } from "node:test";

import { answeredSteps, isDone, progress, recordAnswer, recordSeen } from "../../viz/web/story/course.js";
import { described } from "../../viz/web/story/board.js";
import * as inputs from "../../viz/web/story/inputs.js";
import { formatted, valueAt, writtenAt } from "../../viz/web/story/prose.js";
import { labelParts } from "../../viz/web/scene/scene.js";
import { nearest } from "../../viz/web/scene/marks.js";
import { valuesOf } from "../../viz/web/story/figure.js";

test("numbers are written as Python's format writes them, with a typographic minus", () => {
  /** @type {[unknown, string, string][]} */
  const cases = [
    [0.12345, ".2f", "0.12"],
    [-0.5, ".1f", "−0.5"],
    [-0.0001, ".2f", "0.00"],
    [0.256, ".0%", "26\u00a0%"],
    [1.7783e-4, ".4e", "1.7783·10⁻⁴"],
    [12, "d", "12"],
    [65504, ",d", "65,504"],
    [-6.94e-7, ".1e", "−6.9·10⁻⁷"],
    [1.234e12, ".0e", "1·10¹²"],
    [0.5, "+.2f", "+0.50"],
    ["Ann", "s", "Ann"],
    [undefined, ".2f", "–"],
  ];
  for (const [value, format, expected] of cases) assert.equal(formatted(value, format), expected);
  assert.equal(valueAt({ a: [[1, 2], [3, 4]] }, "a.1.0"), 3);
  assert.equal(valueAt({}, "a.1"), undefined);
  const lists = { keys: ["Ann", "Bob"], weights: [0.25, null], rows: [[1, 2], [3, 4]] };
  assert.equal(writtenAt(lists, "keys&weights", ".2f"), "Ann 0.25, Bob –");
  assert.equal(writtenAt(lists, "rows", "d"), "1, 2; 3, 4");
});

test("inputs survive the link, and what is foreign in it does not", () => {
  const start = { temperature: 0.2, q: [1, 0], name: "Anna" };
  const now = { temperature: 0.5, q: [0.25, -1], name: "Ann" };
  assert.equal(inputs.written(start, start), "");
  assert.deepEqual(inputs.read(inputs.written(now, start), start), now);
  for (const text of ["q:1;2;3", "q:a;b", "temperature:", "temperature:x", "other:1", "__proto__:1", "~~::"])
    assert.deepEqual(inputs.read(text, start), start, text);
  assert.equal(inputs.queryOf({ q: [1, 2], name: "a&b" }), "q=1%3B2&name=a%26b");
});

test("labels may have parts below and above the line", () => {
  assert.deepEqual(labelParts("q_{1}·k^{T}"), [
    { text: "q", shift: "" },
    { text: "1", shift: "sub" },
    { text: "·k", shift: "" },
    { text: "T", shift: "super" },
  ]);
});

test("progress needs no storage, and outlives a damaged entry", () => {
  recordSeen("tokens", "ids");
  recordAnswer("tokens", "ids");
  assert.deepEqual([progress(), answeredSteps("tokens")], [{ seen: {}, last: "", door: "" }, []]);
  for (const steps of [["join"], []]) assert.ok(!isDone({ name: "heads", steps }, { heads: ["maps"] }));
  assert.ok(isDone({ name: "heads", steps: ["join", "maps"] }, { heads: ["maps", "join"] }));
  const getItem = () => "{";
  Object.defineProperty(globalThis, "localStorage", { value: { getItem }, configurable: true });
  assert.deepEqual(progress(), { seen: {}, last: "", door: "" });
  Reflect.deleteProperty(globalThis, "localStorage");
});

test("tables are read out row by row, and large ones by their size", () => {
  const words = { title: "Words", rows: ["1 The", "2 cat"], cols: [], values: [[0], [1]] };
  const two = { title: "Two", rows: ["a"], cols: ["q", "k"], values: [[0.25, null]] };
  assert.equal(described([words, two]), "Words: 1 The 0; 2 cat 1. Two: a q 0.250, k masked");
  assert.equal(described([{ ...words, title: "All", values: Array(51).fill([1, 2]) }]), "All: 51 × 2 numbers");
});

test("a slider has each of its values once, from end to end", () => {
  assert.deepEqual(valuesOf({ min: 0.5, max: 0.8, step: 0.1, log: false }), [0.5, 0.6, 0.7, 0.8]);
  const widths = valuesOf({ min: 1, max: 512, step: 1, log: true });
  assert.deepEqual([widths.slice(0, 4), widths.at(-1)], [[1, 2, 3, 4], 512]);
  assert.deepEqual(widths, [...new Set(widths)].sort((a, b) => a - b));
});

test("an arrow key leads to the next number in its direction, straight ahead before aside", () => {
  /** @type {import("../../viz/web/types").Mark[]} */
  const cells = Array.from({ length: 35 }, (_, i) => ({
    key: String(i),
    kind: "rect",
    x: 20 + 50 * (i % 7),
    y: 40 * Math.floor(i / 7),
    w: 50,
    h: 40,
  }));
  const from = (/** @type {number} */ at, /** @type {number} */ dx, /** @type {number} */ dy) =>
    nearest(cells[at], cells, dx, dy)?.key;
  assert.deepEqual(
    [from(8, 1, 0), from(8, -1, 0), from(8, 0, 1), from(8, 0, -1), from(6, 1, 0)],
    ["9", "7", "15", "1", undefined],
  );
});
