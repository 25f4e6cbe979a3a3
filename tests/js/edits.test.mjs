// Edits as values: what names their site, and which of them is made.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, editAt, headOff, isMade } from "../../viz/web/core/edits.js";

/** @typedef {import("../../viz/web/core/edits.js").Place} Place */

/**
 * @param {number} layer
 * @param {Partial<Place>} [more]
 * @returns {Place}
 */
const site = (layer, more) => ({ layer, kind: "self", tower: null, module: `blocks.${layer}`, part: 0, ...more });

test("an edit is made that is on, in whatever order its arguments are", () => {
  const values = { head: 2, edit: "Ablate", layer: 0 };
  const edit = { edit: "Ablate", layer: 0, head: 2 };
  const props = (/** @type {boolean} */ on) => /** @type {any} */ ({ edits: [{ values, said: "", on }] });
  assert.equal(isMade(props(true), edit), true);
  assert.equal(isMade(props(true), { ...edit, how: "mean" }), false);
  assert.equal(isMade(props(false), edit), false);
  assert.equal(isMade(props(true), null), false);
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
  const state = /** @type {any} */ ({ base: { sites } });
  assert.deepEqual(headOff(state, 0, 2), { edit: "Ablate", layer: 0, head: 2, kind: "causal" });
  assert.deepEqual(editAt(state, "Cut", 1, { head: null }), { edit: "Cut", layer: 0, head: null, kind: "cross" });
  assert.equal(headOff(state, 0, "mean"), null);
  assert.equal(headOff(state, 2, 2), null);
});
