// Draws every step of figures for the numbers in a file, and says what is wrong with their marks, or
// else what is written in them and in their tables.
//
//     node draw_figures.mjs CASES.json

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { fitted, SIZE } from "../../viz/web/scene/layout.js";
import { plain } from "../../viz/web/scene/marks.js";
import { boardPart, described } from "../../viz/web/story/board.js";
import { attributesOf } from "../../viz/web/scene/scene.js";

/** @import {Ink, Mark} from "../../viz/web/types" */

const HEX = /^#[0-9a-f]{6}$/;
const LEAST = 9.5; // of text, in a picture 560 wide
const MARGIN = 2; // units a mark's corner may lie outside
const terms = { query: "#990000", key: "#006600", value: "#660066", weight: "#0000cc", output: "#666600" };
/** @type {Ink} */
const ink = {
  ...{ text: "#111111", muted: "#555555", line: "#dddddd", surface: "#f5f5f5", background: "#ffffff", primary: "#4444cc" },
  term: terms,
  heads: Array(16).fill("#123456"),
  weight: (share) => (assert.ok(Number.isFinite(share)), "#0000ff"),
  signed: (share) => (assert.ok(Number.isFinite(share)), "#ff0000"),
  on: () => "#000000",
};

let drawn = 0;
/** @type {string[]} */
const written = [];
for (const { figure: name, step, steps, boards, inputs, numbers, words } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const figure = await import(`../../viz/course/${name}/figure.js`);
  const where = `${name}, step ${step}, ${JSON.stringify(inputs)}`;
  const reached = (/** @type {string} */ each) => {
    assert.ok(steps.includes(each), `${where}: no step ${each}`);
    return steps.indexOf(each) <= steps.indexOf(step);
  };
  const board = boards[step];
  const moment = { step, board: Boolean(board), reached, inputs };
  const part = board ? boardPart(board) : figure.picture(numbers, moment);
  const marks = fitted(part, ink);
  const keys = marks.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length, `${where}: ${keys.filter((key, i) => keys.indexOf(key) < i)}`);
  for (const { key, tip, of = [] } of marks) if (tip) for (const source of of) assert.ok(keys.includes(source), `${where}: ${key} comes from ${source}`);
  for (const mark of marks) check(mark, `${where}: ${mark.key}`, ...SIZE);
  for (const { key, kind, size = 0 } of marks) assert.ok(kind !== "text" || size >= LEAST, `${where}: ${key} is ${size} high`);
  const { tables = [] } = part;
  const said = described(tables);
  assert.ok(said.length + words > 20, `${where}: the description`);
  assert.doesNotMatch(said, /undefined|NaN/, where);
  for (const { rows, values } of tables) assert.ok(!rows.length || rows.length === values.length, where);
  written.push(...marks.flatMap(({ kind, text = "" }) => (kind === "text" ? [plain(text)] : [])));
  written.push(...tables.flatMap(({ title, rows, cols, values }) => [title, ...rows, ...cols, ...values.flat().filter((value) => typeof value === "string")]));
  drawn += 1;
}
process.stdout.write(JSON.stringify({ drawn, written }));

/** @type {(mark: Mark, where: string, width: number, height: number) => void} */
function check(mark, where, width, height) {
  for (const [name, value] of Object.entries(attributesOf(mark)))
    if (name !== "href") assert.doesNotMatch(String(value), /undefined|NaN|Infinity/, where);
  for (const colour of [mark.fill, mark.stroke]) if (colour && colour !== "none") assert.match(colour, HEX, where);
  const { x = 0, y = 0, w = 0, h = 0, x2 = x, y2 = y, opacity = 1 } = mark;
  if (opacity > 0 && mark.kind !== "path")
    for (const [across, down] of [[x, y], [x + w, y + h], [x2, y2]]) {
      assert.ok(across >= -MARGIN && across <= width + MARGIN, `${where}: x ${across}`);
      assert.ok(down >= -MARGIN && down <= height + MARGIN, `${where}: y ${down}`);
    }
  if (mark.kind === "text") assert.doesNotMatch(mark.text ?? "", /undefined|NaN/, where);
  if (mark.tip) assert.doesNotMatch(mark.tip, /undefined|NaN/, where);
}
