// All layers together: the table of methods, what is explained.

import assert from "node:assert/strict";
import { test } from "node:test";

import { explainedIn, largest, methodOf } from "../../viz/web/methods/choices.js";
import { METHODS } from "../../viz/web/core/declared.js";


test("every method says what it shows and what it does not prove", () => {
  assert.equal(new Set(METHODS.map(({ name }) => name)).size, METHODS.length);
  for (const { shows, doubt } of METHODS) {
    assert.match(shows, /\.$/);
    assert.match(doubt, /\.$/);
  }
  assert.match(methodOf("attnlrp").doubt, /patented/);
  assert.equal(methodOf("none such").name, "rollout");
});

test("the largest distance from 0 is never 0", () => {
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
