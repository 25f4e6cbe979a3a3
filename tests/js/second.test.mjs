// Layer and head of a second model in a link, and its tokens beside those of the first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { overlapping } from "../../viz/web/text/tokens.js";
import { placeOf, siteFor, textOf } from "../../viz/web/core/selection.js";
import { baseOf } from "./helpers.mjs";

/** @import {Span} from "../../viz/web/text/tokens.js" */
/** @import {Text} from "../../viz/web/types" */

/** @param {string[]} labels @param {number[][]} [origins] @returns {Text} */
const text = (labels, origins) => ({ labels, special: [], ...(origins ? { origins } : {}) });

test("a token is that of the same characters, and of several the one with most of them first", () => {
  const [first, second] = [text(["[CLS]", "un", "believ", "able"]), text(["unbel", "ievable"])];
  /** @type {Span[][]} */
  const [ours, theirs, later] = [
    [null, [0, 0, 2], [0, 2, 8], [0, 8, 12]],
    [[0, 0, 5], [0, 5, 12]],
    [[1, 0, 5], [1, 5, 12]],
  ];
  assert.deepEqual([0, 1, 2, 3].map((i) => overlapping(i, ours, first, theirs, second)), [[], [0], [0, 1], [1]]);
  assert.deepEqual([0, 1].map((i) => overlapping(i, theirs, second, ours, first)), [[2, 1], [3, 2]]);
  const words = text(["[CLS]", "unbelievable"], [[0], [1, 2, 3]]);
  assert.deepEqual(overlapping(1, theirs, second, ours, words), [1]);
  assert.deepEqual(overlapping(1, ours, words, theirs, second), [1, 0]);
  assert.deepEqual(overlapping(1, ours, first, later, second), []); // another sentence
});

test("a link says layer and head, and the rest of the address where it tells sites apart", () => {
  const plain = baseOf([{ layer: 0 }, { layer: 4 }]);
  assert.equal(textOf(plain, 1, 2), "4,2");
  assert.equal(textOf(plain, 0, "mean"), "0,mean");
  const kinds = baseOf([{ layer: 0, kind: "self" }, { layer: 0, kind: "cross" }]);
  assert.equal(textOf(kinds, 1, 2), "0,2,cross");
  for (const base of [plain, kinds])
    for (const site of [0, 1]) {
      const place = placeOf(textOf(base, site, 1));
      assert.ok(place);
      assert.equal(siteFor(base.sites, place), site);
      assert.equal(place.head, 1);
    }
  for (const said of ["", "3", "a,b", "3,x", "-1,2"]) assert.equal(placeOf(said), null);
});
