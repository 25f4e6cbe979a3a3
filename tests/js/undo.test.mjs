// Which keys undo and redo.

import assert from "node:assert/strict";
import { test } from "node:test";

import { actionOf } from "../../viz/web/core/undo.js";

const NONE = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };

test("Ctrl or Command with Z undoes; with Shift too, or with Y, redoes", () => {
  assert.equal(actionOf({ ...NONE, key: "z", ctrlKey: true }), "undo");
  assert.equal(actionOf({ ...NONE, key: "z", metaKey: true }), "undo");
  assert.equal(actionOf({ ...NONE, key: "Z", ctrlKey: true, shiftKey: true }), "redo");
  assert.equal(actionOf({ ...NONE, key: "y", ctrlKey: true }), "redo");
  for (const other of [{}, { ctrlKey: true, altKey: true }, { ctrlKey: true, metaKey: true }])
    assert.equal(actionOf({ ...NONE, key: "z", ...other }), null);
  assert.equal(actionOf({ ...NONE, key: "x", ctrlKey: true }), null);
});
