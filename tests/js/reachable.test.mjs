// What a change can reach, in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reachWords } from "../../viz/components/headscope_views/assets/core/reachable.js";

/** @import {Reached} from "../../viz/components/headscope_views/assets/types" */

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
