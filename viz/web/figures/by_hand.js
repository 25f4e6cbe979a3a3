// Self-attention by hand: a film and a viewer, then two words, with every sum written out.

import { bracketed, columnOf, fixed, matrix, replaced, rowOf, writtenSum } from "../story/marks.js";

/** @import {Figure, Mark} from "../types" */

/**
 * @typedef {object} Numbers
 * @property {number[]} film
 * @property {number[]} viewer
 * @property {number[]} products of film and viewer, feature by feature
 * @property {number} match their sum
 * @property {number[][]} x
 * @property {number} row the word that is followed
 * @property {number[][]} scores
 * @property {number[][]} exponentials
 * @property {number[]} shifts subtracted from a row of scores before
 * @property {number[]} sums of the exponentials
 * @property {number[][]} weights
 * @property {number[][][]} contributions of each word to each output
 * @property {number[][]} outputs
 */

const [WIDTH, HEIGHT] = [560, 440];
const TASTES = ["romance", "action", "comedy"];
const WORDS = ["word 0", "word 1"];
const FEATURES = ["feature 0", "feature 1", "feature 2"];
const [CELL, TALL, TOP] = [56, 34, 186];
const INSET = 3; // of a bar in its cell

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["rate", "match", "scores", "softmax", "mix"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],

  marks(/** @type {Numbers} */ numbers, moment) {
    if (!moment.reached("scores")) return ratings(numbers, moment);
    const { reached } = moment;
    return [
      ...scores(numbers, moment),
      ...(reached("softmax") ? weights(numbers, moment) : []),
      ...(reached("mix") ? mixture(numbers, moment) : sums(numbers, moment)),
    ];
  },

  describe(/** @type {Numbers} */ numbers, { reached }) {
    const { film, viewer, match, row, outputs } = numbers;
    const rated = (/** @type {number[]} */ values) => TASTES.map((name, i) => `${name} ${fixed(values[i])}`).join(", ");
    const grid = (/** @type {number[][]} */ values) => values.map((each) => each.map((value) => fixed(value, 4)).join(", ")).join("; ");
    if (reached("mix")) return `The weights of ${WORDS[row]} times the words give its output: ${grid([outputs[row]])}.`;
    if (reached("softmax")) return `Scores of two words, row by row: ${grid(numbers.scores)}. Weights: ${grid(numbers.weights)}.`;
    if (reached("scores")) return `The words X and their transpose give the scores: ${grid(numbers.scores)}.`;
    const given = `A film: ${rated(film)}. A viewer: ${rated(viewer)}.`;
    return reached("match") ? `${given} The products sum to ${fixed(match)}.` : given;
  },

  tables(/** @type {Numbers} */ numbers) {
    return [
      { title: "A film and a viewer", rows: ["film", "viewer", "product"], cols: TASTES, values: [numbers.film, numbers.viewer, numbers.products] },
      { title: "Words X", rows: WORDS, cols: FEATURES, values: numbers.x },
      { title: "Scores X Xᵀ", rows: WORDS, cols: WORDS, values: numbers.scores },
      { title: "Weights", rows: WORDS, cols: WORDS, values: numbers.weights },
      { title: "Output Y", rows: WORDS, cols: FEATURES, values: numbers.outputs },
    ];
  },
};

/** Digits after the point that fit into a cell. */
const digitsOf = (/** @type {number[][]} */ values) => (Math.max(...values.flat().map(Math.abs)) < 10 ? 4 : 2);

/**
 * What a film offers, what a viewer likes, and the sum of the products.
 *
 * @param {Numbers} numbers
 * @param {Moment} moment
 */
function ratings({ film, viewer, products, match }, { ink, inputs, reached }) {
  const place = { x: 128, cell: 116, tall: 44, size: 17 };
  const down = reached("match") ? 0 : 80;
  const rows = /** @type {const} */ ([["film", film, "key", 60 + down], ["viewer", viewer, "query", 122 + down]]);
  /** @type {Mark[]} */
  const marks = rows.flatMap(([name, values, term, y]) => [
    ...matrix(name, [[...values]], {
      ...{ ...place, y, cols: name === "film" ? TASTES : [], term, fill: () => ink.background, stroke: ink.term[term] },
      edit: (_, i) => ({ label: `${name}, ${TASTES[i]}`, value: values[i], apply: (value) => ({ [name]: replaced(inputs[name], i, value) }) }),
    }, ink),
    { key: `${name}/name`, kind: "text", x: 116, y: y + 22, text: name, size: 16, bold: true, anchor: "end", fill: ink.term[term], term },
  ]);
  if (!reached("match")) return marks;
  const far = Math.max(1.5, products.reduce((sum, value) => sum + Math.abs(value), 0));
  const at = (/** @type {number} */ value) => 302 + (240 * value) / far;
  const most = Math.max(0.01, ...products.map(Math.abs));
  const written = `${products.map((value) => bracketed(fixed(value))).join(" + ")} = ${fixed(match)}`;
  marks.push(
    ...matrix("product", [products], {
      ...{ ...place, y: 200, fill: (value) => ink.signed((0.75 * value) / most) },
      tip: (value, _, i) => `${TASTES[i]}: ${bracketed(fixed(film[i]))} · ${bracketed(fixed(viewer[i]))} = ${fixed(value)}`,
      of: (_, i) => [`film/0.${i}`, `viewer/0.${i}`],
    }, ink),
    { key: "product/name", kind: "text", x: 116, y: 222, text: "product", size: 16, anchor: "end" },
    { key: "times", kind: "text", x: 302, y: 183, text: "× feature by feature", size: 13, fill: ink.muted },
    { key: "line", kind: "line", x: at(-far), y: 362, x2: at(far), stroke: ink.muted, width: 1 },
    { key: "zero", kind: "line", x: at(0), y: 270, y2: 368, stroke: ink.muted, width: 1, dash: "3 4" },
    { key: "zero/text", kind: "text", x: at(0), y: 380, text: "0", size: 13, fill: ink.muted },
  );
  let from = 0;
  products.forEach((value, i) => {
    const y = 284 + 26 * i;
    const to = from + value;
    marks.push(
      { key: `bar${i}`, kind: "rect", x: at(Math.min(from, to)), y: y - 8, w: Math.abs(at(to) - at(from)), h: 16, r: 2, fill: ink.signed((0.75 * value) / most), stroke: ink.line },
      { key: `bar${i}/name`, kind: "text", x: 14, y, text: `${i ? "then" : "first"} ${TASTES[i]}`, size: 13, anchor: "start", fill: ink.muted },
    );
    from = to;
  });
  marks.push(
    { key: "sum/line", kind: "line", x: at(from), y: 328, y2: 362, stroke: ink.text, width: 2 },
    { key: "sum", kind: "circle", x: at(from), y: 362, r: 7, fill: ink.text, tip: `Viewer · film = ${writtenSum(film, viewer)}`, of: rowOf("product", 0, products.length) },
    { key: "sum/text", kind: "text", x: 302, y: 414, text: `viewer · film = ${written}`, size: 17, bold: true },
  );
  return marks;
}

/**
 * The words as queries at the left, as keys above, and their dot products where they meet.
 *
 * @param {Numbers} numbers
 * @param {Moment} moment
 */
function scores({ x, row, scores: products }, { ink, inputs, reached }) {
  const { query, key } = ink.term;
  const digits = digitsOf(x);
  const cells = { cell: CELL, tall: TALL, size: 13 };
  const edit = (/** @type {number} */ i, /** @type {number} */ j) => ({
    label: `${WORDS[i]}, ${FEATURES[j]}`,
    value: x[i][j],
    apply: (/** @type {number} */ value) => ({ x: replaced(inputs.x, 3 * i + j, value) }),
  });
  const [queryX, keyX] = [70, 264];
  const transposed = x[0].map((_, j) => x.map((each) => each[j]));
  /** @type {Mark[]} */
  const marks = [
    { key: "lit/query", kind: "rect", x: queryX - 66, y: TOP + row * TALL - 3, w: 240, h: TALL + 6, r: 6, fill: query, opacity: 0.13, term: "query" },
    ...matrix("X", x, { ...cells, x: queryX, y: TOP, title: "X: queries", term: "query", digits, fill: () => ink.background, stroke: query, edit }, ink),
    ...matrix("T", transposed, { ...cells, x: keyX, y: 48, title: "Xᵀ: keys", term: "key", digits, fill: () => ink.background, stroke: key, edit: (j, i) => edit(i, j) }, ink),
    ...matrix("S", products, {
      ...{ ...cells, x: keyX, y: TOP, digits: digitsOf(products), fill: () => ink.background, lit: (i) => i === row },
      tip: (_, i, j) => `${WORDS[i]} · ${WORDS[j]} = ${writtenSum(x[i], x[j], 4)}`,
      of: (i, j) => [...rowOf("X", i, x[i].length), ...columnOf("T", j, x[j].length)],
    }, ink),
    ...bars("S", products, { x: keyX, ...scaleOf(products) }, ink.text, ink),
    { key: "S/name", kind: "text", x: keyX + CELL, y: TOP + 2 * TALL + 16, text: "scores X Xᵀ", size: 15, bold: true },
  ];
  WORDS.forEach((name, i) => {
    const y = TOP + i * TALL;
    marks.push(
      { key: `word${i}`, kind: "rect", x: 4, y: y + 3, w: 60, h: 28, r: 14, fill: ink.background, stroke: i === row ? ink.primary : ink.line, width: i === row ? 2.5 : 1, press: { label: `Follow ${name}`, pressed: i === row, patch: { row: i } } },
      { key: `word${i}/name`, kind: "text", x: 34, y: y + 17, text: name, size: 14, bold: i === row },
      { key: `key${i}/name`, kind: "text", x: keyX + (i + 0.5) * CELL, y: TOP - 14, text: name, size: 13, fill: key, term: "key" },
    );
  });
  if (!reached("softmax")) marks.push({ key: "hint", kind: "text", x: 400, y: TOP + TALL, text: "rows: who asks", size: 13, anchor: "start", fill: ink.muted }, { key: "hint2", kind: "text", x: 400, y: TOP + TALL + 22, text: "columns: who is asked", size: 13, anchor: "start", fill: ink.muted });
  return marks;
}

/** Where the bars of some numbers begin and end: 0 is in sight. @param {number[][]} values */
const scaleOf = (values) => ({ low: Math.min(0, ...values.flat()), high: Math.max(0, ...values.flat()) });

/**
 * A bar in each cell of a matrix, all on one scale, from 0.
 *
 * @type {(key: string, values: number[][], place: {x: number, low: number, high: number}, fill: string, ink: Moment["ink"]) => Mark[]}
 */
function bars(key, values, { x, low, high }, fill, ink) {
  const [room, tall] = [CELL - 2 * INSET, 4];
  const at = (/** @type {number} */ value) => (room * (value - low)) / (high - low || 1);
  /** @type {Mark[]} */
  const marks = values.flatMap((row, i) =>
    row.map((value, j) => ({
      ...{ key: `${key}/${i}.${j}/bar`, kind: "rect", x: x + j * CELL + INSET + Math.min(at(0), at(value)), y: TOP + (i + 1) * TALL - INSET - tall },
      ...{ w: Math.abs(at(value) - at(0)), h: tall, fill },
    })),
  );
  const ends = [low, high].map((end) => fixed(end, Number.isInteger(end) ? 0 : 2));
  return [...marks, { key: `${key}/scale`, kind: "text", x: x + CELL, y: TOP + 2 * TALL + 36, text: `bars: ${ends[0]} to ${ends[1]}`, size: 13, fill: ink.muted }];
}

/**
 * @param {Numbers} numbers
 * @param {Moment} moment
 * @returns {Mark[]}
 */
function weights({ row, scores: products, exponentials, shifts, sums: totals, weights: shares }, { ink }) {
  const [x, middle] = [434, TOP + TALL];
  return [
    { key: "softmax", kind: "arrow", x: 384, y: middle, x2: 428, y2: middle, stroke: ink.muted, width: 2 },
    { key: "softmax/name", kind: "text", x: 406, y: middle - 14, text: "softmax", size: 13, fill: ink.muted },
    ...matrix("A", shares, {
      ...{ x, y: TOP, cell: CELL, tall: TALL, size: 13, digits: 4, term: "weight", fill: () => ink.background, lit: (i) => i === row },
      tip: (share, i, j) => `exp(${exponent(products[i][j], shifts[i])}) / ${fixed(totals[i], 4)} = ${fixed(exponentials[i][j], 4)} / ${fixed(totals[i], 4)} = ${fixed(share, 4)}`,
      of: (i) => rowOf("S", i, products[i].length),
    }, ink),
    ...bars("A", shares, { x, low: 0, high: 1 }, ink.term.weight, ink),
    { key: "A/name", kind: "text", x: x + CELL, y: TOP + 2 * TALL + 16, text: "weights", size: 15, bold: true, fill: ink.term.weight, term: "weight" },
  ];
}

/** @type {(score: number, shift: number) => string} */
const exponent = (score, shift) => `${fixed(score, 4)}${shift ? ` − ${bracketed(fixed(shift, 4))}` : ""}`;

/**
 * The followed row, written out.
 *
 * @param {Numbers} numbers
 * @param {Moment} moment
 */
function sums({ x, row, scores: products, exponentials, shifts, sums: totals, weights: shares }, { ink, reached }) {
  /** @type {Mark[]} */
  const marks = [];
  const line = (/** @type {string} */ key, /** @type {number} */ y, /** @type {string} */ text, fill = ink.text) => marks.push({ key, kind: "text", x: 14, y, text, size: 14, anchor: "start", fill });
  WORDS.forEach((name, j) => {
    line(`sum${j}`, 322 + 24 * j, `${WORDS[row]} · ${name} = ${writtenSum(x[row], x[j], 4)}`);
    if (reached("softmax")) line(`share${j}`, 384 + 24 * j, `exp(${exponent(products[row][j], shifts[row])}) / (${exponentials[row].map((each) => fixed(each, 4)).join(" + ")}) = ${fixed(exponentials[row][j], 4)} / ${fixed(totals[row], 4)} = ${fixed(shares[row][j], 4)}`, ink.term.weight);
  });
  return marks;
}

/**
 * The output, and for each feature where it lies between the words.
 *
 * @param {Numbers} numbers
 * @param {Moment} moment
 */
function mixture({ x, row, weights: shares, outputs }, { ink }) {
  const { value, output } = ink.term;
  const [left, right] = [330, 536];
  const [low, high] = [Math.min(0, ...x.flat()), Math.max(...x.flat())];
  const at = (/** @type {number} */ number) => left + ((right - left) * (number - low)) / Math.max(1e-6, high - low);
  /** @type {Mark[]} */
  const marks = [
    ...matrix("Y", outputs, {
      ...{ x: 70, y: 336, cell: CELL, tall: TALL, size: 13, title: "Y = weights · X", term: "output", digits: digitsOf(outputs), fill: () => ink.background, stroke: output, lit: (i) => i === row },
      tip: (_, i, j) => `${WORDS[i]}, ${FEATURES[j]}: ${writtenSum(shares[i], x.map((each) => each[j]), 4)}`,
      of: (i, j) => [...rowOf("A", i, shares[i].length), ...columnOf("X", j, x.length)],
    }, ink),
    { key: "Y/row0", kind: "text", x: 62, y: 353, text: WORDS[0], size: 13, anchor: "end", fill: ink.muted },
    { key: "Y/row1", kind: "text", x: 62, y: 387, text: WORDS[1], size: 13, anchor: "end", fill: ink.muted },
    { key: "lines/head", kind: "text", x: right, y: 318, text: `between the words: the output of ${WORDS[row]}`, size: 13, anchor: "end", fill: ink.muted },
    ...[low, high].map((end, i) => /** @type {Mark} */ ({ key: `lines/end${i}`, kind: "text", x: at(end), y: 432, text: fixed(end, end ? 2 : 0), size: 13, fill: ink.muted })),
  ];
  FEATURES.forEach((name, j) => {
    const y = 342 + 34 * j;
    const [a, b] = [at(x[0][j]), at(x[1][j])];
    const tip = `${name}: ${writtenSum(shares[row], x.map((each) => each[j]), 4)}`;
    marks.push(
      { key: `line${j}/name`, kind: "text", x: left - 14, y, text: name, size: 13, anchor: "end", fill: ink.muted },
      { key: `line${j}`, kind: "line", x: left, y, x2: right, stroke: ink.line, width: 1 },
      { key: `line${j}/span`, kind: "line", x: a, y, x2: b, stroke: value, width: 6, opacity: 0.25, term: "value", tip },
    );
    [a, b].forEach((dot, i) =>
      marks.push(
        { key: `dot${j}.${i}`, kind: "circle", x: dot, y, r: 9, fill: ink.background, stroke: value, width: 2, term: "value", tip: `${WORDS[i]}, ${name}: ${fixed(x[i][j], 4)}` },
        { key: `dot${j}.${i}/name`, kind: "text", x: dot, y, text: String(i), size: 13, fill: value, term: "value" },
      ),
    );
    marks.push({ key: `out${j}`, kind: "circle", x: at(outputs[row][j]), y, r: 6, fill: output, stroke: ink.background, width: 1, term: "output", tip });
  });
  return marks;
}
