// A step of the figure on scale and softmax: queries, keys and values of three widths.

import {
  bracketed,
  columnOf,
  fixed,
  list as listed,
  nth,
  rowOf,
  typed,
  writtenSum,
} from "../scene/numbers.js";
import { column, lines, row, text } from "../scene/layout.js";
import { list } from "../scene/list.js";
import { matrix } from "../scene/matrix.js";

/** @import {Moment} from "../types" */
/** @import {Part} from "../scene/layout.js" */

/** @type {(numbers: any, moment: Moment) => Part} */
export function threeWidths(numbers, { inputs }) {
  const { scoring, q, keys, values, key_width: width, comparable } = numbers;
  const named = { rows: keys.map((_, i) => `k_{${i}}`), title: "keys", term: "key", digits: 1 };
  const edit = (i) => typed(inputs, "q", i, `Query, number ${i}`, q[i]);
  const query = { title: "q", term: "query", digits: 1, about: "Query" };
  const asked =
    scoring === "dot"
      ? matrix("q", [q], { ...query, edit: (_, i) => edit(i) })
      : matrix(
          "q",
          q.map((each) => [each]),
          { ...query, edit },
        );
  const refusal = ["q · k is not defined:", `q has ${q.length} numbers,`, `a key has ${width}.`];
  return column(
    text("head", `query of width 2, keys of width ${width}, values of width 4`, "bold"),
    row(asked, ...between(numbers)),
    row(
      matrix("keys", keys, named),
      comparable ? answer(numbers) : lines("refusal", refusal, "bold"),
      matrix("values", values, { title: "values", term: "value", digits: 1 }),
    ),
    comparable && row({ gap: 0.6 }, text("output/name", "output", "output bold"), output(numbers)),
  );
}

/** What stands between the query and the keys. */
function between({ scoring, q, between: m, translated, of_query: w, of_key: u, query_part: part, vector }) {
  if (scoring === "dot") return [];
  if (scoring === "bilinear") {
    const tip = (_, __, j) => `q^T M [${j}] = ${writtenSum(q, nth(m, j))}`;
    const of = (_, j) => [...columnOf("q", 0, 2), ...columnOf("M", j, m.length)];
    return [
      matrix("M", m, { title: "M", digits: 1 }),
      matrix("translated", [translated], { title: "q^{T} M", term: "query", tip, of }),
      text("formula", "score_{j} = q^{T} M k_{j}"),
    ];
  }
  const tip = (_, i) => `W q [${i}] = ${writtenSum(w[i], q)}`;
  const of = (i) => [...rowOf("W", i, 2), ...columnOf("q", 0, 2)];
  return [
    matrix("W", w, { title: "W", digits: 1 }),
    matrix(
      "query_part",
      part.map((each) => [each]),
      { title: "W q", term: "query", tip, of },
    ),
    matrix("U", u, { title: "U", digits: 1 }),
    matrix(
      "v",
      vector.map((each) => [each]),
      { title: "v", digits: 1 },
    ),
    text("formula", "score_{j} = v^{T} tanh(W q + U k_{j})"),
  ];
}

/** Scores and weights. */
function answer(numbers) {
  const { keys, scores, weights } = numbers;
  const score = {
    head: "score",
    values: scores,
    tip: (i) => writtenScore(numbers, i),
    of: (i) => sourcesOf(numbers, i),
  };
  const weight = { head: "weight", values: weights, digits: 3, bar: 3.6, most: 1, term: "weight" };
  return list(
    "score",
    keys.map(() => ""),
    [score, weight],
    { about: "Three widths", tall: 1.75 },
  );
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

/** What a screen reader hears. @param {any} numbers */
export function describeWidths({ scoring, q, key_width: width, scores, weights, output: sum }) {
  const score = scoring === "dot" ? "dot product" : `${scoring} score`;
  const given = `A query of width 2, (${listed(q)}), ten keys of width ${width} and ten values of width 4, with a ${score}.`;
  if (!scores) return `${given} A dot product needs queries and keys of one width: there are no scores.`;
  return `${given} Scores: ${listed(scores)}. Weights: ${listed(weights)}. The output has the width of the values: (${listed(sum)}).`;
}
