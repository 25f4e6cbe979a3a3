// A click on a Plotly chart as the numbers of its cell.

import assert from "node:assert/strict";
import { test } from "node:test";

import { picking } from "../../viz/components/headscope_views/assets/streamlit/pick.js";

test("a click is its chart, row and column", () => {
  assert.deepEqual(picking("table", { points: [{ x: 9, y: 3 }] }), { chart: "table", x: 9, y: 3 });
});

test("coordinates between cells are those of the nearest; words are none", () => {
  assert.deepEqual(picking("alone", { points: [{ x: 8.4, y: 11.6 }] }), { chart: "alone", x: 8, y: 12 });
  assert.deepEqual(picking("table", { points: [{ x: "a", y: NaN }] }), { chart: "table", x: null, y: null });
});

test("a click beside all cells is none", () => {
  assert.equal(picking("table", {}), null);
  assert.equal(picking("table", { points: [] }), null);
});
