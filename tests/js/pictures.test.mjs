// Maps of weights over pictures beside a text.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as sheets from "../../viz/views/pictures/sheets.js";
import { areaFrom } from "../../viz/views/pictures/questions.js";
import * as words from "../../viz/views/pictures/words.js";
import * as grids from "../../viz/web/core/grids.js";

/** @param {Partial<import("../../viz/web/types").TokenGrid>} grid */
const gridOf = (grid) => ({
  picture: 0,
  name: "",
  shape: /** @type {[number, number]} */ ([2, 2]),
  box: /** @type {[number, number, number, number]} */ ([0, 0, 1, 1]),
  places: [3, 4, 5, 6],
  frames: [],
  ...grid,
});

test("a picture as a whole, its tiles and its frames are drawn apart", () => {
  const tiles = [1, 2].map((number) => gridOf({ name: `tile ${number}`, places: [0, 1, 2, -1] }));
  const all = sheets.sheetsOf([...tiles, gridOf({}), gridOf({ picture: 1 }), gridOf({ frames: [2, 3] })]);
  assert.deepEqual(
    all.map((sheet) => [sheet.picture, sheet.name, sheets.tokensText(sheet)]),
    [[0, "tiles", "3 tokens (2 tiles)"], ...[[0, ""], [1, ""], [0, "frames 3 and 4"]].map((each) => [...each, "4 tokens (2 × 2)"])],
  );
});

test("a place of the picture is a token, and none outside the grid", () => {
  const grid = gridOf({ box: [0.25, 0, 0.75, 1] });
  assert.equal(grids.tokenAt([grid], [0.3, 0.1]), 3);
  assert.equal(grids.tokenAt([grid], [0.6, 0.9]), 6);
  assert.equal(grids.tokenAt([grid], [0.1, 0.5]), -1);
  assert.equal(grids.tokenAt([gridOf({ box: [-0.1, -0.1, 0.9, 0.9] })], [0.95, 0.1]), 4); // of a convolution
  assert.deepEqual(grids.extentOf([grid, gridOf({ box: [0.5, 0.2, 1.2, 0.8] })]), [0.25, 0, 1, 1]);
});

test("a patch of one tower is the token at its place in another", () => {
  const other = gridOf({ places: [1, 2, 3, 4] });
  assert.equal(grids.tokenThere([gridOf({})], [other], 5), 3);
  assert.equal(grids.tokenThere([gridOf({})], [gridOf({ picture: 1 }), other], 6), 4);
  assert.equal(grids.tokenThere([gridOf({})], [gridOf({ picture: 1 })], 5), -1);
  assert.equal(grids.tokenThere([gridOf({})], [other], 9), -1);
});

test("cells have the weights of their tokens, but hidden ones and sinks", () => {
  const grid = gridOf({ places: [0, 2, -1, 1] });
  assert.deepEqual([...sheets.valuesOn(grid, [0.5, 0.25, 0.125])], [0.5, 0.125, 0, 0.25]);
  assert.deepEqual([...sheets.valuesOn(grid, [0.5, 0.25, 0.125], new Set([0]))], [0, 0.125, 0, 0.25]);
});

test("cells at two corners make an area, in any order", () => {
  const grid = gridOf({ shape: [2, 4], places: [0, 1, 2, 3, 4, 5, 6, 7] });
  assert.deepEqual(grids.areaOf([grid], 1, 6), [0.25, 0, 0.75, 1]);
  assert.deepEqual(grids.areaOf([grid], 6, 1), [0.25, 0, 0.75, 1]);
  assert.deepEqual(grids.areaOf([grid], 7, 4), [0, 0.5, 1, 1]);
  assert.equal(grids.areaOf([grid], 1, 8), null);
});

test("words that looked at an area are named by weight", () => {
  const both = ["a", "dog"].map((text) => ({ text, rows: [], special: false }));
  assert.equal(
    words.readersText(both, [0.02, 0.25], 3),
    "Weight on the area (3 tokens) while each word was written, the largest first: “dog” 25\u00a0%, “a” 2.0\u00a0%.",
  );
});

test("frames that share tokens are drawn one by one, and say how much weight they have", () => {
  const film = sheets.sheetsOf([gridOf({ frames: [0, 1] }), gridOf({ frames: [2, 3], places: [7, 8, 9, 10] })]);
  assert.deepEqual(
    sheets.framesOf(film[1], 3).map(({ photo, name }) => [photo, name]),
    [[2, "frame 3"]],
  );
  assert.deepEqual(
    sheets.framesOf(film[0], 3).map(({ photo, name }) => [photo, name]),
    [[0, "frame 1"], [1, "frame 2"]],
  );
  const row = Float32Array.from({ length: 11 }, (_, place) => (place >= 7 ? 0.1 : place >= 3 ? 0.05 : 0));
  assert.equal(
    words.momentText(film, 0, row),
    "Frames 1 and 2 share their tokens: 20\u00a0% of the weight; the most, 40\u00a0%, on frames 3 and 4.",
  );
  assert.equal(words.momentText(film, 1, row), "Frames 3 and 4 share their tokens: 40\u00a0% of the weight, the most of all.");
  assert.equal(words.momentText(film, 1, null), "Frames 3 and 4 share their tokens.");
  const alone = sheets.sheetsOf([gridOf({ frames: [4] })]);
  assert.equal(words.momentText(alone, 0, null), "Frame 5 has tokens of its own.");
});

test("an area is in the link with its picture", () => {
  assert.deepEqual(areaFrom("2.100.0.500.300"), { picture: 2, sides: [0.1, 0, 0.5, 0.3], isWhole: false });
  assert.equal(areaFrom(""), null);
  assert.ok(areaFrom("1.0.0.1000.1000")?.isWhole && !areaFrom("1.0.0.1000.900")?.isWhole);
});

test("a flat map is called nearly uniform", () => {
  assert.equal(words.scaleText([Float32Array.of(0.1, 0.1, 0.11)], 0.11), "colours up to 0.11, nearly uniform");
  assert.equal(words.scaleText([Float32Array.of(0, 0, 0.5)], 0.5), "colours up to 0.50");
  assert.equal(words.scaleText([Float32Array.of(0, 0, 0.25)], 0.5), "largest 0.25, colours up to 0.50");
  assert.equal(words.scaleText([Float32Array.of(0, 0, 112)], 112), "colours up to 112");
  assert.equal(words.scaleText([Float32Array.of(0, 0)], 0.5), "no weight on this picture");
});

test("a word needs an area only if it loses more there than elsewhere", () => {
  const said = (/** @type {object} */ change, isWhole = false) =>
    words.needText("dog", { before: 0.6, after: 0.01, elsewhere: [0.5, 0.7], places: [], ...change }, isWhole);
  assert.match(said({}), /^“dog”: 60\u00a0% .*, 1.0\u00a0% with the area .* 50\u00a0%, 70\u00a0%. Needed/);
  assert.match(said({ after: 0.5, elsewhere: [0.4] }), /Not shown to be needed/);
  assert.match(said({ elsewhere: [] }, true), /all of it .* makes the word less likely; no other area/);
  assert.match(said({ elsewhere: [], after: 0.7 }), /Hiding it does not/);
});

test("tiles that nearly meet share a side", () => {
  const sides = grids.joined([0, 0.33297, 0.33362, 0.66638, 0.66703, 1]);
  assert.equal(sides.get(0.33362), 0.33297);
  assert.deepEqual([...new Set(sides.values())], [0, 0.33297, 0.66638, 1]);
});

const boxed = [0.3, 0.9, 0.6].map((score, i) => ({
  name: "abc"[i],
  score,
  box: /** @type {[number, number, number, number]} */ ([0, 0, 0.5 + 0.1 * i, 0.5]),
}));

test("sure objects are listed, the surest first, and the chosen one with them", () => {
  assert.deepEqual(sheets.listed(boxed, -1), [1, 2]);
  assert.deepEqual(sheets.listed(boxed, 0), [1, 2, 0]);
  const unsure = boxed.map((each) => ({ ...each, score: each.score / 2 }));
  assert.deepEqual(sheets.listed(unsure, -1), [1, 2, 0]); // none is sure: the surest few
});

test("a place belongs to the smallest box around it", () => {
  assert.equal(sheets.boxAt(boxed, [0, 1, 2], [0.4, 0.4]), 0);
  assert.equal(sheets.boxAt(boxed, [1, 2], [0.4, 0.4]), 1);
  assert.equal(sheets.boxAt(boxed, [0, 1, 2], [0.65, 0.4]), 2);
  assert.equal(sheets.boxAt(boxed, [0, 1, 2], [0.9, 0.4]), -1);
});

test("points outside the picture are counted", () => {
  const places = /** @type {[number, number][]} */ ([[0.5, 0.5], [-0.1, 0.5], [0.2, 1.2]]);
  assert.equal(words.pointsText({ places }), "3 sampling points, 2 outside the picture");
  assert.equal(words.pointsText({ places: [[0, 1]] }), "1 sampling points");
});

test("a token has a cell, and arrow keys go to those beside it", () => {
  const grid = gridOf({ box: [0.5, 0, 1, 1] });
  assert.deepEqual(grids.cellOf([grid], 4), [0.75, 0, 1, 0.5]);
  assert.equal(grids.cellOf([grid], 9), null);
  assert.equal(grids.cellOf([gridOf({ places: [-1, -1, 2, 3] })], -1), null);
  assert.equal(grids.cellBeside([grid], 4, [1, 0]), 6);
  assert.equal(grids.cellBeside([grid], 4, [0, 1]), -1);
  assert.equal(grids.cellBeside([grid], 4, null), -1);
});
