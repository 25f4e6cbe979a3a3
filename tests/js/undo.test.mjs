// Which keys undo and redo.

import assert from "node:assert/strict";
import { test } from "node:test";

import { undoOf } from "../../viz/web/core/keys.js";

const NONE = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };

test("Ctrl or Command with Z undoes; with Shift too, or with Y, redoes", () => {
  assert.equal(undoOf({ ...NONE, key: "z", ctrlKey: true }), "undo");
  assert.equal(undoOf({ ...NONE, key: "z", metaKey: true }), "undo");
  assert.equal(undoOf({ ...NONE, key: "Z", ctrlKey: true, shiftKey: true }), "redo");
  assert.equal(undoOf({ ...NONE, key: "y", ctrlKey: true }), "redo");
  for (const other of [{}, { ctrlKey: true, altKey: true }, { ctrlKey: true, metaKey: true }])
    assert.equal(undoOf({ ...NONE, key: "z", ...other }), null);
  assert.equal(undoOf({ ...NONE, key: "x", ctrlKey: true }), null);
});
