// Edits as text: the calls that the page reads, and the sites that they name.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, callOf, headOff } from "../../viz/web/core/edit_text.js";

/** @typedef {import("../../viz/web/core/edit_text.js").Place} Place */

/**
 * @param {number} layer
 * @param {Partial<Place>} [more]
 * @returns {Place}
 */
const site = (layer, more) => ({ layer, kind: "self", tower: null, module: `blocks.${layer}`, part: 0, ...more });

test("a call is written as Python writes it", () => {
  assert.equal(callOf("Ablate", [3, 5], { how: "mean" }), "Ablate(3, 5, how='mean')");
  assert.equal(callOf("Cut", [2, null, [4], [0, 1]]), "Cut(2, None, 4, (0, 1))");
});

test("an address has what tells the sites of a layer apart, and no more", () => {
  const plain = [site(0), site(1)];
  assert.deepEqual(addressOf(plain, plain[1]), {});
  const decoder = [site(0, { kind: "causal" }), site(0, { kind: "cross" }), site(1, { kind: "causal" })];
  assert.deepEqual(addressOf(decoder, decoder[1]), { kind: "cross" });
  assert.deepEqual(addressOf(decoder, decoder[2]), {});
  const towers = [site(0, { tower: "vision" }), site(0, { tower: "text" })];
  assert.deepEqual(addressOf(towers, towers[0]), { tower: "vision" });
  const parts = [site(0), site(0, { part: 1 })];
  assert.deepEqual(addressOf(parts, parts[1]), { part: 1 });
  const joint = [site(0), site(0, { kind: "joint" })];
  assert.deepEqual(addressOf(joint, joint[0]), {});
});

test("one head of an attention layer can be switched off", () => {
  const sites = [site(0, { kind: "causal" }), site(0, { kind: "cross" }), site(0, { kind: "joint" })];
  assert.equal(headOff(sites, sites[0], 2), "Ablate(0, 2, kind='causal')");
  assert.equal(headOff(sites, sites[0], "mean"), null);
  assert.equal(headOff(sites, sites[2], 2), null);
});
