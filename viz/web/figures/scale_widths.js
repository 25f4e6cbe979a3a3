// A step of the figure on scale and softmax: queries, keys and values of three widths.

import { bracketed, columnOf, fixed, matrix, replaced, rowOf, writtenSum } from "../story/marks.js";

/** @import {Ink, Mark, Moment} from "../types" */

/**
 * The scores, weights and output are missing where the query and the keys cannot be compared.
 *
 * @typedef {object} ThreeWidths
 * @property {"dot" | "bilinear" | "additive"} scoring
 * @property {number[]} q
 * @property {number[][]} keys
 * @property {number[][]} values
 * @property {number[][]} between M
 * @property {number[]} translated qᵀM
 * @property {number[][]} of_query W
 * @property {number[][]} of_key U
 * @property {number[]} query_part W q
 * @property {number[]} vector v
 * @property {number} key_width
 * @property {boolean} comparable
 * @property {number[]} [scores]
 * @property {number[]} [weights]
 * @property {number[][] | null} [hidden] W q + U k of each key
 * @property {number[]} [output]
 */

const [LEFT, TOP, CELL, TALL] = [96, 172, 36, 22]; // of the keys
const ROW = 140; // what the keys are multiplied with, one line above them
const [VALUES, VALUE] = [376, 43]; // of the values
const [BAR, BAR_WIDTH] = [270, 54];
const [SCORE_END, WEIGHT_END] = [258, 368];

/**
 * @param {ThreeWidths} numbers
 * @param {Moment} moment
 * @returns {Mark[]}
 */
export function threeWidths(numbers, moment) {
  const { ink } = moment;
  const { scoring, keys, values, comparable, key_width } = numbers;
  const { key, value } = ink.term;
  const cells = { tall: TALL, size: 13, digits: 1, fill: () => ink.background };
  const draw = scoring === "additive" ? additive : scoring === "bilinear" ? bilinear : dot;
  /** @type {Mark[]} */
  const names = [
    { key: "head", kind: "text", x: 280, y: 20, text: `query of width 2, keys of width ${key_width}, values of width 4`, size: 15, bold: true },
    { key: "values/title", kind: "text", x: VALUES + 2 * VALUE, y: TOP - 14, text: "values", size: 15, bold: true, fill: value, term: "value" },
  ];
  return [
    ...names,
    ...draw(numbers, moment),
    ...matrix("keys", keys, { ...cells, x: LEFT, y: TOP, cell: CELL, rows: keys.map((_, i) => `k_{${i}}`), term: "key", stroke: key }, ink),
    ...matrix("values", values, { ...cells, x: VALUES, y: TOP, cell: VALUE, term: "value", stroke: value }, ink),
    ...(comparable ? answer(numbers, ink) : refusal(numbers)),
  ];
}

/**
 * What a screen reader hears.
 *
 * @param {ThreeWidths} numbers
 */
export function describeWidths({ scoring, q, key_width, scores, weights, output }) {
  const given = `A query of width 2, ${tuple(q)}, ten keys of width ${key_width} and ten values of width 4, with a ${scoring === "dot" ? "dot product" : `${scoring} score`}.`;
  if (!scores || !weights || !output) return `${given} A dot product needs queries and keys of one width: there are no scores.`;
  return `${given} Scores: ${list(scores)}. Weights: ${list(weights)}. The output has the width of the values: ${tuple(output)}.`;
}

/** @param {ThreeWidths} numbers */
export function widthsTable({ keys, values, scores, weights, output }) {
  const none = keys.map(() => "–");
  const [names, of] = [["score", "weight"], values[0].map((_, i) => `value ${i}`)];
  const rows = keys.map((_, i) => [scores?.[i] ?? none[i], weights?.[i] ?? none[i], ...values[i]]);
  const last = output ? [["", "", ...output]] : [];
  return {
    title: "Three widths",
    rows: [...keys.map((_, i) => `key ${i}`), ...(output ? ["output"] : [])],
    cols: [...names, ...of],
    values: [...rows, ...last],
  };
}

/** @type {(values: number[]) => string} */
const list = (values) => values.map((each) => fixed(each)).join(", ");

/** @type {(values: number[]) => string} */
const tuple = (values) => `(${list(values)})`;

/**
 * The query's cells, of which each can be changed.
 *
 * @param {ThreeWidths} numbers
 * @param {Moment} moment
 * @param {{x: number, y: number, down?: boolean}} place
 */
function query({ q }, { ink, inputs }, { x, y, down = false }) {
  const cells = { x, y, cell: CELL, tall: TALL, size: 13, digits: 1, fill: () => ink.background };
  const at = (/** @type {number} */ i, /** @type {number} */ j) => (down ? i : j);
  return matrix("q", down ? q.map((each) => [each]) : [q], {
    ...{ ...cells, title: "q", term: "query", stroke: ink.term.query },
    edit: (i, j) => ({ label: `Query, number ${at(i, j)}`, value: q[at(i, j)], apply: (value) => ({ q: replaced(inputs.q, at(i, j), value) }) }),
  }, ink);
}

/**
 * The query itself above the keys.
 *
 * @param {ThreeWidths} numbers
 * @param {Moment} moment
 * @returns {Mark[]}
 */
function dot(numbers, moment) {
  return query(numbers, moment, { x: LEFT, y: ROW - 22 });
}

/**
 * M, with the query beside it and their product below it, above the keys.
 *
 * @param {ThreeWidths} numbers
 * @param {Moment} moment
 * @returns {Mark[]}
 */
function bilinear(numbers, moment) {
  const { q, between, translated } = numbers;
  const { ink } = moment;
  const { query: colour } = ink.term;
  const cells = { cell: CELL, tall: TALL, size: 13, fill: () => ink.background };
  /** @type {Mark[]} */
  const names = [
    { key: "translated/name", kind: "text", x: LEFT - 8, y: ROW + TALL / 2, text: "q^{T} M", size: 14, bold: true, anchor: "end", fill: colour, term: "query" },
    { key: "formula", kind: "text", x: 548, y: 70, text: "score_{j} = q^{T} M k_{j}", size: 15, anchor: "end" },
  ];
  return [
    ...names,
    ...query(numbers, moment, { x: LEFT - 56, y: 66, down: true }),
    ...matrix("M", between, { ...cells, x: LEFT, y: 66, title: "M", digits: 1, stroke: ink.muted }, ink),
    ...matrix("translated", [translated], {
      ...{ ...cells, x: LEFT, y: ROW - 4, digits: 2, term: "query", stroke: colour },
      tip: (_, __, j) => `q^T M [${j}] = ${writtenSum(q, between.map((row) => row[j]))}`,
      of: (_, j) => [...columnOf("q", 0, q.length), ...columnOf("M", j, between.length)],
    }, ink),
  ];
}

/**
 * W q, and U above the keys: each pair has three hidden units.
 *
 * @param {ThreeWidths} numbers
 * @param {Moment} moment
 * @returns {Mark[]}
 */
function additive(numbers, moment) {
  const { q, of_query, of_key, query_part, vector } = numbers;
  const { ink } = moment;
  const { query: colour } = ink.term;
  const cells = { cell: CELL, tall: TALL, size: 13, digits: 1, y: 82, fill: () => ink.background, stroke: ink.muted };
  return [
    ...matrix("U", of_key, { ...cells, x: LEFT, title: "U" }, ink),
    ...matrix("W", of_query, { ...cells, x: 236, title: "W" }, ink),
    ...query(numbers, moment, { x: 320, y: 93, down: true }),
    ...matrix("query_part", query_part.map((each) => [each]), {
      ...{ ...cells, x: 380, title: "W q", digits: 2, term: "query", stroke: colour },
      tip: (_, i) => `W q [${i}] = ${writtenSum(of_query[i], q)}`,
      of: (i) => [...rowOf("W", i, q.length), ...columnOf("q", 0, q.length)],
    }, ink),
    ...matrix("v", vector.map((each) => [each]), { ...cells, x: 440, title: "v" }, ink),
    { key: "formula", kind: "text", x: 548, y: 45, text: "score_{j} = v^{T} tanh(W q + U k_{j})", size: 14, anchor: "end" },
  ];
}

/**
 * Scores, weights, and the weighted sum of the values.
 *
 * @param {ThreeWidths} numbers
 * @param {Ink} ink
 * @returns {Mark[]}
 */
function answer(numbers, ink) {
  const { keys, values, scores = [], weights = [], output = [] } = numbers;
  const { weight, output: colour } = ink.term;
  /** @type {Mark[]} */
  const marks = [
    { key: "head/scores", kind: "text", x: SCORE_END, y: TOP - 14, text: "score", size: 14, bold: true, anchor: "end", fill: ink.muted },
    { key: "head/weights", kind: "text", x: WEIGHT_END, y: TOP - 14, text: "weight", size: 14, bold: true, anchor: "end", fill: weight, term: "weight" },
  ];
  keys.forEach((_, i) => {
    const y = TOP + (i + 0.5) * TALL;
    marks.push(
      { key: `score${i}`, kind: "text", x: SCORE_END, y, text: fixed(scores[i]), size: 14, anchor: "end", tip: writtenScore(numbers, i), of: sourcesOf(numbers, i) },
      { key: `weight${i}/track`, kind: "rect", x: BAR, y: y - 7, w: BAR_WIDTH, h: 14, r: 3, fill: ink.surface, stroke: ink.line },
      { key: `weight${i}`, kind: "rect", x: BAR, y: y - 7, w: BAR_WIDTH * weights[i], h: 14, r: 3, fill: weight, term: "weight" },
      { key: `weight${i}/number`, kind: "text", x: WEIGHT_END, y, text: fixed(weights[i], 3), size: 14, anchor: "end", fill: weight, term: "weight" },
    );
  });
  return [
    ...marks,
    { key: "output/name", kind: "text", x: VALUES - 8, y: 417, text: "output", size: 15, bold: true, anchor: "end", fill: colour, term: "output" },
    ...matrix("output", [output], {
      ...{ x: VALUES, y: 405, cell: VALUE, tall: 24, size: 14, fill: () => ink.background, term: "output", stroke: colour },
      tip: (value, _, j) => `the weights times column ${j} of the values, added up: ${fixed(value, 4)}`,
      of: (_, j) => [...keys.map((__, i) => `weight${i}`), ...columnOf("values", j, values.length)],
    }, ink),
  ];
}

/**
 * @param {ThreeWidths} numbers
 * @returns {Mark[]}
 */
function refusal({ q, key_width }) {
  const lines = ["q · k is not defined:", `q has ${q.length} numbers,`, key_width > 1 ? `a key has ${key_width}.` : "a key has 1."];
  return lines.map((text, i) => ({ key: `refusal${i}`, kind: "text", x: 290, y: 250 + 24 * i, text, size: 14, bold: !i }));
}

/**
 * @param {ThreeWidths} numbers
 * @param {number} i of the key
 */
function writtenScore({ scoring, q, translated, keys, vector, hidden, scores = [] }, i) {
  if (scoring === "bilinear") return `q^T M k_${i} = ${writtenSum(translated, keys[i])}`;
  if (scoring === "dot") return `q · k_${i} = ${writtenSum(q, keys[i])}`;
  const units = vector.map((each, unit) => `${bracketed(fixed(each, 1))}·tanh(${fixed(hidden?.[i][unit] ?? 0)})`);
  return `${units.join(" + ")} = ${fixed(scores[i])}`;
}

/**
 * The cells that a score comes from.
 *
 * @param {ThreeWidths} numbers
 * @param {number} i of the key
 */
function sourcesOf({ scoring, q, key_width, vector }, i) {
  const key = rowOf("keys", i, key_width);
  if (scoring === "bilinear") return [...rowOf("translated", 0, key_width), ...key];
  if (scoring === "dot") return [...rowOf("q", 0, q.length), ...key];
  return [...columnOf("v", 0, vector.length), ...columnOf("query_part", 0, vector.length), ...key];
}
