// What a change can reach, in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reachWords } from "../../viz/web/core/reachable.js";

/** @import {Reached} from "../../viz/web/types" */

/** @param {number} layer */
const site = (layer) => ({ layer, kind: "causal", heads: 2, queries: 7, keys: 7 });
const base = { sites: [site(0), site(1), site(2)] };

/** @param {number} from @param {number} to @param {number[] | null} [heads] @returns {NonNullable<Reached["sites"][number]>} */
const rows = (from, to, heads = null) => ({ heads, rows: [[from, to]] });

test("the first and the last site are named, and the tokens of the last", () => {
  const all = rows(0, 7);
  assert.equal(reachWords(base, { sites: [null, all, all] }), "Can reach layer 1 to layer 2: there every token.");
  const some = rows(3, 7, [1]);
  assert.equal(reachWords(base, { sites: [null, null, some] }), "Can reach layer 2: there tokens 3 to 6.");
  const one = rows(3, 4, [1]);
  assert.equal(reachWords(base, { sites: [null, null, one] }), "Can reach layer 2: there token 3.");
  assert.equal(reachWords(base, { sites: [null, null, null] }), "Reaches no attention.");
});

test("of a picture what is reached before all of it is", () => {
  const labels = ["class", ...Array.from({ length: 6 }, (_, i) => `patch ${Math.floor(i / 3)},${i % 3}`)];
  const pictured = { ...base, query_labels: labels };
  const [all, head, one] = [rows(0, 7), rows(0, 7, [1]), rows(5, 6, [1])];
  /** @param {Reached["sites"]} sites */
  const said = (sites) => reachWords(pictured, { sites });
  assert.equal(said([null, one, all]), "Can reach patch 1,1 of head 1 in layer 1, then every patch in layer 2.");
  assert.equal(said([one, all, all]), "Can reach patch 1,1 of head 1 in layer 0, then every patch from layer 1 on.");
  assert.equal(said([head, all, all]), "Can reach every patch of head 1 in layer 0, then every patch from layer 1 on.");
  assert.equal(said([null, null, one]), "Can reach patch 1,1 of head 1 in layer 2.");
  assert.equal(said([all, all, all]), "Can reach every patch from layer 0 on.");
  const windows = { heads: null, rows: /** @type {[number, number][]} */ ([[1, 3], [4, 6]]) };
  assert.equal(said([null, windows, all]), "Can reach 4 of 7 tokens in layer 1, then every patch in layer 2.");
  assert.equal(said([null, null, null]), "Reaches no attention.");
});
