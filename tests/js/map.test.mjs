// The map of the course: where its parts stand, where they lead, and what the keys do.

import assert from "node:assert/strict";
import { test } from "node:test";

import { HEIGHT, lessonOf, moved, PARTS, WIDTH } from "../../viz/web/story/map_parts.js";

const boxes = PARTS.flatMap(({ id, label, boxes: own }) =>
  own.map((box) => ({ id, frame: !label, box })),
);

test("every part has a name of its own and stands on the map", () => {
  assert.equal(new Set(PARTS.map(({ id }) => id)).size, PARTS.length);
  for (const { id, box: [x, y, width, height] } of boxes)
    assert.ok(x >= 0 && y >= 0 && x + width <= WIDTH && y + height <= HEIGHT, id);
});

test("a part leads to the first lesson that explains it", () => {
  const lessons = [{ n: 1, parts: ["a"] }, { n: 2, parts: ["b", "a"] }];
  assert.deepEqual(["a", "b", "c"].map((part) => lessonOf(lessons, part)?.n), [1, 2, undefined]);
});

test("arrow keys go round, other keys nowhere", () => {
  assert.deepEqual([moved("ArrowDown", 4, 5), moved("ArrowUp", 0, 5), moved("End", 2, 5)], [0, 4, 4]);
  assert.deepEqual([moved("Home", 3, 5), moved("Enter", 3, 5)], [0, null]);
});
