// Effects of heads.

import assert from "node:assert/strict";
import { test } from "node:test";

import { effectsOf } from "../../viz/web/matter/heads.js";

test("effects are listed by site and head, with a pass of their own where there is one", () => {
  /** @type {import("../../viz/web/types").Swept} */
  const answer = { number: "logit", name: "mat", position: 3, sites: [4, 7], attribution: [[1, 2], [3]], exact: [[null, 5], [null]], labels: [], second: [] };
  assert.deepEqual(effectsOf(answer), [
    { site: 4, head: 0, rough: 1, exact: null },
    { site: 4, head: 1, rough: 2, exact: 5 },
    { site: 7, head: 0, rough: 3, exact: null },
  ]);
});
