// Following a presenter: what brings us to her, when we have wandered off, and what she shows.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  START,
  barsOf,
  comeBack,
  linkOf,
  moved as movedBy,
  placeOf,
  presented,
  presenterMoved,
  wander,
  wanted,
} from "../../viz/components/headscope_views/assets/room/following.js";

const LESSONS = ["one", "two", "three"].map((name) => ({ name, title: name }));
/**
 * @param {import("../../viz/components/headscope_views/assets/room/following.js").Following} state
 * @param {Parameters<typeof movedBy>[1]} change
 */
const moved = (state, change, wished = true) => movedBy(state, change, wished);
/**
 * @param {string} page
 * @param {number} step
 * @param {number} steps
 */
const at = (page, step, steps = 6) => ({ page, step, steps, figure: "" });
/** Somebody on a page without a story, who has just been told. */
const joined = () => presenterMoved(moved(START, { page: "one" }, false), at("two", 3));

test("a follower goes to the presenter's page, then to her step", () => {
  let state = joined();
  assert.deepEqual(wanted(state), { page: "two" });
  state = moved(state, { page: "two" });
  assert.deepEqual(wanted(state), { step: 3 });
  state = moved(state, { report: at("two", 0) }); // the story begins at its first step
  assert.deepEqual(wanted(state), { step: 3 });
  assert.equal(state.wandering, false);
  state = moved(state, { report: at("two", 3) });
  assert.equal(wanted(state), null);
  state = presenterMoved(state, at("two", 4));
  assert.deepEqual(wanted(state), { step: 4 });
});

test("steps passed on the way are no wandering", () => {
  let state = moved(moved(joined(), { page: "two" }), { report: at("two", 1) });
  state = moved(state, { report: at("two", 2) });
  assert.equal(state.wandering, false);
  assert.deepEqual(wanted(state), { step: 3 });
});

test("who moves by himself after arriving wanders, and comes back on request", () => {
  for (const change of [{ report: at("two", 2) }, { page: "three" }]) {
    const there = moved(moved(joined(), { page: "two" }), { report: at("two", 3) });
    let state = moved(there, change);
    assert.equal(state.wandering, true);
    assert.equal(wanted(state), null);
    state = presenterMoved(state, at("two", 5));
    assert.equal(wanted(state), null); // she goes on alone
    state = comeBack(state);
    assert.deepEqual(wanted(state), "page" in change ? { page: "two" } : { step: 5 });
  }
});

test("a story that settles beside the step it was asked for is asked again, and no wanderer", () => {
  const there = moved(moved(joined(), { page: "two" }), { report: at("two", 3) });
  const state = moved(there, { report: at("two", 4) }, false);
  assert.equal(state.wandering, false);
  assert.deepEqual(wanted(state), { step: 3 });
});

test("who says so wanders, and has arrived at once when coming back to the same place", () => {
  const there = moved(moved(joined(), { page: "two" }), { report: at("two", 3) });
  const state = comeBack(wander(there));
  assert.equal(wanted(state), null);
  assert.equal(state.arrived, true);
});

test("a page without a story is reached by its page", () => {
  let state = presenterMoved(moved(START, { page: "one" }, false), at("two", 0, 0));
  assert.deepEqual(wanted(state), { page: "two" });
  state = moved(state, { page: "two" });
  assert.equal(wanted(state), null);
  state = moved(state, { report: at("two", 4) }); // a story comes later: hers is about to
  assert.equal(state.wandering, false);
});

test("a shorter story stops at its last step", () => {
  const state = moved(moved(joined(), { page: "two" }), { report: at("two", 1, 3) });
  assert.deepEqual(wanted(state), { step: 2 });
  assert.equal(wanted(moved(state, { report: at("two", 2, 3) })), null);
});

test("the report of a page that was left says nothing about this one", () => {
  const state = moved(moved(joined(), { report: at("one", 3) }), { page: "two" });
  assert.deepEqual(wanted(state), { step: 3 });
});

test("the same news change nothing", () => {
  const state = joined();
  assert.equal(presenterMoved(state, at("two", 3)), state);
});

test("a presenter shows the step of her page's story, and nothing outside the course", () => {
  assert.deepEqual(presented("two", at("two", 2), LESSONS), at("two", 2));
  assert.deepEqual(presented("two", at("one", 2), LESSONS), at("two", 0, 0));
  assert.equal(presented("image", at("two", 2), LESSONS), null);
});

test("a place is named as the lesson counts it, from one", () => {
  assert.equal(placeOf(at("two", 2, 6), LESSONS), "lesson 2, step 3 of 6");
  assert.equal(placeOf(at("three", 0, 0), LESSONS), "lesson 3");
});

test("the link has the code and no key", () => {
  assert.equal(
    linkOf("http:", "192.0.2.7:8501", "heads", "abcdefgh"),
    "http://192.0.2.7:8501/heads?room=abcdefgh",
  );
});

test("bars have counts and shares, also of nothing", () => {
  assert.deepEqual(barsOf(["a", "b", "c"], [1, 2, 0]), [
    { label: "a", count: 1, percent: 33 },
    { label: "b", count: 2, percent: 67 },
    { label: "c", count: 0, percent: 0 },
  ]);
  assert.deepEqual(
    barsOf(["a"], [0]).map(({ percent }) => percent),
    [0],
  );
});
