// The time axis of a recording, and recordings as WAV files.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isWav, mixed, wavOf } from "../../viz/web/controls/files.js";
import * as axis from "../../viz/views/sound/paint.js";

const LENGTH = { heard: 4, seconds: 30 };
const WORDS = [
  { text: "The", start: 0, end: 0.4, rows: [2] },
  { text: "didn't", start: 0.4, end: 1.1, rows: [3, 4] },
  { text: "go", start: 1.2, end: 1.5, rows: [5] },
];

test("padding is a strip, and seconds fill the rest", () => {
  const folded = axis.timeAxis(LENGTH, 1000);
  assert.deepEqual([folded.wide, folded.scale], [1000, (1000 - axis.FOLD) / 4]);
  assert.equal(axis.timeAxis({ heard: 30, seconds: 30 }, 1000).wide, 30 * 84); // more than there is room
  assert.deepEqual([2 * folded.scale, 990, -1].map((x) => axis.secondAt(folded, x)), [2, null, null]);
});

test("words that would cover each other stand below each other", () => {
  assert.deepEqual(axis.lanesOf(WORDS, [50, 50, 20], 100), [0, 1, 0]);
  assert.deepEqual(axis.lanesOf(WORDS, [30, 60, 20], 100), [0, 0, 0]);
});

test("weight lies within seconds, and a second within a word", () => {
  assert.equal(axis.weightWithin(Float32Array.of(0.5, 0.25, 0.125, 0.125), 4, 2, 4), 0.25);
  assert.deepEqual([0.4, 1.15].map((second) => axis.wordAt(WORDS, second)), [1, -1]);
});

test("samples become a WAV file", () => {
  const bytes = wavOf(Float32Array.of(0, 1, -1, 2), 16_000);
  const view = new DataView(bytes);
  assert.ok(isWav(new Uint8Array(bytes)));
  assert.equal(view.getUint32(24, true), 16_000);
  assert.equal(view.getUint32(40, true), 8);
  assert.deepEqual([0, 1, 2, 3].map((i) => view.getInt16(44 + 2 * i, true)), [0, 32767, -32767, 32767]);
  assert.ok(!isWav(new TextEncoder().encode("fLaC, and so on")));
  assert.deepEqual([...mixed([Float32Array.of(1, 0), Float32Array.of(0, 0.5)])], [0.5, 0.25]);
});
