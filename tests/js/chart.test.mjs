// Charts: what a zoom depends on, and the template of a theme.

import assert from "node:assert/strict";
import { test } from "node:test";

import { rangesOf } from "../../viz/web/chart/chart.js";
import { templateOf } from "../../viz/web/chart/template.js";

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
