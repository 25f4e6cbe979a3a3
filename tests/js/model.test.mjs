// All layers together: the table of methods, colours of signed numbers, requests in parts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { colourOf, largest, methodOf } from "../../viz/web/methods/methods.js";
import { METHODS } from "../../viz/web/core/declared.js";

import { explainedIn } from "../../viz/web/methods/choices.js";

const grey = new Uint8Array(768).map((_, i) => Math.floor(i / 3));
const THEME = { ramp: grey, bothWays: grey.map((value) => 255 - value) };

test("every method says what it shows and what it does not prove", () => {
  assert.equal(new Set(METHODS.map(({ name }) => name)).size, METHODS.length);
  for (const { shows, doubt } of METHODS) {
    assert.match(shows, /\.$/);
    assert.match(doubt, /\.$/);
  }
  assert.match(methodOf("attnlrp").doubt, /patented/);
  assert.equal(methodOf("none such").name, "rollout");
});

test("colours are proportional to the square root, and signed ones go both ways from the middle", () => {
  assert.deepEqual(colourOf(THEME, 0.25, 1, false), [128, 128, 128]);
  assert.deepEqual(colourOf(THEME, 9, 1, false), [255, 255, 255]);
  assert.deepEqual(colourOf(THEME, -1, 1, true), [255, 255, 255]);
  assert.deepEqual(colourOf(THEME, 1, 1, true), [0, 0, 0]);
  assert.deepEqual(colourOf(THEME, 0, 1, true), [127, 127, 127]);
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
