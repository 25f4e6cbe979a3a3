// Charts: the cell of a click, what a zoom depends on, and the template of a theme.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellOf, rangesOf } from "../../viz/web/chart/chart.js";
import { templateOf } from "../../viz/web/chart/template.js";

test("a click is its column and row", () => {
  assert.deepEqual(cellOf({ points: [{ x: 9, y: 3 }] }), { x: 9, y: 3 });
});

test("coordinates between cells are those of the nearest; words are none", () => {
  assert.deepEqual(cellOf({ points: [{ x: 8.4, y: 11.6 }] }), { x: 8, y: 12 });
  assert.deepEqual(cellOf({ points: [{ x: "a", y: NaN }] }), { x: null, y: null });
});

test("a click beside all cells is none", () => {
  assert.equal(cellOf({}), null);
  assert.equal(cellOf({ points: [] }), null);
});

test("a zoom depends on the ranges of the axes alone", () => {
  const layout = { title: "a", xaxis: { range: [0, 4] }, yaxis2: { range: null }, height: 4 };
  assert.equal(rangesOf(layout), rangesOf({ ...layout, title: "b", height: 9 }));
  assert.notEqual(rangesOf(layout), rangesOf({ ...layout, xaxis: { range: [0, 5] } }));
  assert.notEqual(rangesOf(layout), rangesOf({ ...layout, xaxis2: {} }));
});

test("a template has the colours and the font of the theme", () => {
  /** @type {Record<string, string>} */
  const theme = {
    "background-color": "#ffffff",
    "text-color": "#102030",
    "border-color": "#cccccc",
    font: "Sans",
    "heading-font": "Serif",
    "chart-categorical-colors": "#000001,#000002",
    "chart-sequential-colors": "#000000, #808080,#ffffff",
    "chart-diverging-colors": "#0000ff,#ffffff",
  };
  const { layout, data } = templateOf((name) => theme[name]);
  assert.equal(layout.paper_bgcolor, "#ffffff");
  assert.equal(layout.xaxis.tickfont.color, "rgba(16, 32, 48, 0.75)");
  assert.equal(layout.title.font.family, "Serif");
  assert.deepEqual(layout.colorway, ["#000001", "#000002"]);
  const steps = [[0, "#000000"], [0.5, "#808080"], [1, "#ffffff"]];
  assert.deepEqual(layout.colorscale.sequential, steps);
  assert.deepEqual(data.heatmap[0].colorscale, steps);
  assert.deepEqual(layout.colorscale.diverging, [[0, "#0000ff"], [1, "#ffffff"]]);
});
