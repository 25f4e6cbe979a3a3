// A step of the figure on scale and softmax: queries, keys and values of three widths.

import { bracketed, columnOf, fixed, nth, rowOf, typed, writtenSum } from "../../web/scene/numbers.js";
import { column, lines, row, text } from "../../web/scene/layout.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";

const upright = (values) => values.map((value) => [value]);

/** @type {(numbers: any, moment: import("../../web/types").Moment) => import("../../web/scene/layout.js").Part} */
export function threeWidths(numbers, { inputs }) {
  const { scoring, q, keys, values, key_width: width, comparable } = numbers;
  const dotted = scoring === "dot";
  const edit = (i, j) => typed(inputs, "q", i + j, `Query, number ${i + j}`, q[i + j]);
  const query = { title: "q", term: "query", digits: 1, about: "Query", edit };
  const asked = matrix("q", dotted ? [q] : upright(q), query);
  const named = { rows: keys.map((_, i) => `k_{${i}}`), title: "keys", term: "key", digits: 1 };
  const refusal = ["q · k is not defined:", `q has ${q.length} numbers,`, `a key has ${width}.`];
  const answers = comparable ? scoresOf(numbers) : lines("refusal", refusal, "bold");
  const mixed = matrix("values", values, { title: "values", term: "value", digits: 1 });
  const result =
    comparable && row({ gap: 0.6 }, text("output/name", "output", "output bold"), output(numbers));
  return column(
    text("head", `query of width 2, keys of width ${width}, values of width 4`, "bold"),
    row(asked, ...between(numbers)),
    row(matrix("keys", keys, named), answers, mixed),
    result,
  );
}

/** What stands between the query and the keys. */
function between({ scoring, q, between: m, translated, of_query: w, of_key: u, query_part: part, vector }) {
  if (scoring === "dot") return [];
  const plain = (key, values) => matrix(key, values, { title: key, digits: 1 });
  if (scoring === "bilinear") {
    const tip = (_, __, j) => `q^T M [${j}] = ${writtenSum(q, nth(m, j))}`;
    const of = (_, j) => [...columnOf("q", 0, 2), ...columnOf("M", j, m.length)];
    const look = { title: "q^{T} M", term: "query", tip, of };
    const formula = text("formula", "score_{j} = q^{T} M k_{j}");
    return [plain("M", m), matrix("translated", [translated], look), formula];
  }
  const tip = (_, i) => `W q [${i}] = ${writtenSum(w[i], q)}`;
  const of = (i) => [...rowOf("W", i, 2), ...columnOf("q", 0, 2)];
  const asked = matrix("query_part", upright(part), { title: "W q", term: "query", tip, of });
  const formula = text("formula", "score_{j} = v^{T} tanh(W q + U k_{j})");
  return [plain("W", w), asked, plain("U", u), plain("v", upright(vector)), formula];
}

/** Scores and weights. */
function scoresOf(numbers) {
  const { keys, scores, weights } = numbers;
  const tip = (i) => writtenScore(numbers, i);
  const score = { head: "score", values: scores, tip, of: (i) => sourcesOf(numbers, i) };
  const weight = { head: "weight", values: weights, digits: 3, bar: 3.6, most: 1, term: "weight" };
  return list("score", Array(keys.length).fill(""), [score, weight], { about: "Three widths", tall: 1.75 });
}

/** The weighted sum of the values. */
function output({ keys, values, output: sum }) {
  const tip = (value, _, j) => `the weights times column ${j} of the values, added up: ${fixed(value, 4)}`;
  const of = (_, j) => [...keys.map((__, i) => `score${i}/1`), ...columnOf("values", j, values.length)];
  return matrix("output", [sum], { term: "output", about: "Output", tip, of });
}

function writtenScore({ scoring, q, translated, keys, vector, hidden, scores }, i) {
  if (scoring === "bilinear") return `q^T M k_${i} = ${writtenSum(translated, keys[i])}`;
  if (scoring === "dot") return `q · k_${i} = ${writtenSum(q, keys[i])}`;
  const units = vector.map((each, unit) => `${bracketed(fixed(each, 1))}·tanh(${fixed(hidden[i][unit])})`);
  return `${units.join(" + ")} = ${fixed(scores[i])}`;
}

function sourcesOf({ scoring, q, key_width: width, vector }, i) {
  const key = rowOf("keys", i, width);
  if (scoring === "bilinear") return [...rowOf("translated", 0, width), ...key];
  if (scoring === "dot") return [...rowOf("q", 0, q.length), ...key];
  return [...columnOf("v", 0, vector.length), ...columnOf("query_part", 0, vector.length), ...key];
}
