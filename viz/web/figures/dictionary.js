// Soft dictionary: values flow to the answer, each in proportion to its weight.

import { fixed } from "../story/marks.js";

/** @import {Figure, Mark} from "../types" */

/**
 * @typedef {object} Numbers
 * @property {string} query
 * @property {string[]} keys
 * @property {number[]} values
 * @property {number[]} distances
 * @property {number[]} similarities
 * @property {number[]} exponentials
 * @property {number} total of the exponentials
 * @property {number[]} weights
 * @property {number[]} contributions
 * @property {number} answer
 * @property {number} mean
 */

const [WIDTH, HEIGHT] = [560, 350];
const [TOP, ROW] = [96, 68];
const [KEY, SCORE, WEIGHT, VALUE] = [112, 206, 276, 324];
const ANSWER = { x: 448, w: 102, h: 48 };
const STREAM = 40; // width of all streams together, where they reach the answer

const STEPS = /** @type {const} */ (["exact", "similarity", "softmax", "flow", "ways", "words", "learn"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "query", label: "Query", longest: 12 },
    { kind: "slider", input: "temperature", label: "Temperature T", min: 0.05, max: 5, step: 0.01, log: true, from: "softmax" },
  ],

  marks(/** @type {Numbers} */ numbers, { reached, inputs, ink }) {
    const { keys, values, similarities, weights } = numbers;
    const { query, key, value, weight, output } = ink.term;
    const [scored, weighted, flowing] = [reached("similarity"), reached("softmax"), reached("flow")];
    /** @type {Mark[]} */
    const marks = [
      { key: "query", kind: "rect", x: 16, y: 14, w: 150, h: 40, r: 8, fill: ink.surface, stroke: query, width: 2, term: "query" },
      { key: "query/text", kind: "text", x: 91, y: 34, text: String(inputs.query) || "…", size: 17, bold: true, fill: query, term: "query" },
      { key: "query/name", kind: "text", x: 176, y: 34, text: "query q", size: 13, anchor: "start", fill: ink.muted, term: "query" },
      head("key", KEY, "keys k", key),
      head("value", VALUE + 35, "values v", value),
    ];
    if (scored) marks.push(head("similarity", SCORE, "similarity s", ink.muted));
    if (weighted) marks.push(head("weight", WEIGHT, "weight α", weight));
    const middle = TOP + ((keys.length - 1) * ROW) / 2 + 22; // of the values, and of the answer beside them
    let arrived = middle - STREAM / 2; // lower edge of the streams so far
    keys.forEach((name, i) => {
      const y = TOP + i * ROW + 22;
      const match = reached("exact") && !scored && name === numbers.query;
      marks.push(
        { key: `k${i}`, kind: "rect", x: KEY - 60, y: y - 18, w: 120, h: 36, r: 7, fill: match ? ink.weight(0.25) : ink.background, stroke: key, width: match ? 2.5 : 1.2, term: "key" },
        { key: `k${i}/text`, kind: "text", x: KEY, y, text: name, size: 15, fill: key, term: "key" },
      );
      if (scored)
        marks.push(
          { key: `s${i}/line`, kind: "curve", x: 28, y: 54, x2: KEY - 60, y2: y, bend: "v", stroke: query, width: 0.8 + 5 * similarities[i], opacity: 0.2 + 0.5 * similarities[i], term: "query" },
          { key: `s${i}`, kind: "text", x: SCORE, y, text: fixed(similarities[i], 3), size: 14, tip: `s(${numbers.query}, ${name}) = exp(−${numbers.distances[i]}) = ${fixed(similarities[i], 4)}: ${numbers.distances[i]} letters differ` },
        );
      if (weighted)
        marks.push(
          { key: `w${i}`, kind: "rect", x: WEIGHT - 34, y: y - 15, w: 68, h: 30, r: 5, fill: ink.weight(weights[i]), stroke: ink.line, term: "weight", tip: `α = exp(${fixed(similarities[i], 3)} / ${fixed(Number(inputs.temperature))}) / ${fixed(numbers.total, 3)} = ${fixed(weights[i], 4)}`, of: keys.map((_, j) => `s${j}`) },
          { key: `w${i}/text`, kind: "text", x: WEIGHT, y, text: fixed(weights[i], 3), size: 14, fill: ink.on(ink.weight(weights[i])), term: "weight" },
        );
      if (flowing) {
        const width = Math.max(0.5, STREAM * weights[i]);
        const stream = { kind: /** @type {const} */ ("curve"), x: VALUE + 70, y, x2: ANSWER.x - 1, y2: arrived + width / 2, bend: /** @type {const} */ ("h") };
        arrived += width;
        marks.push(
          { ...stream, key: `f${i}`, stroke: value, width, opacity: 0.45, term: "value", tip: `${fixed(weights[i], 4)} · ${fixed(values[i], 0)} = ${fixed(numbers.contributions[i], 2)}`, of: [`w${i}`, `v${i}`] },
          { ...stream, key: `f${i}/run`, stroke: ink.background, width: Math.min(3, width / 2), opacity: weights[i] > 0.02 ? 0.9 : 0, flow: true },
        );
      }
      marks.push(
        { key: `v${i}`, kind: "rect", x: VALUE, y: y - 18, w: 70, h: 36, r: 7, fill: ink.background, stroke: value, width: 1.2, term: "value" },
        { key: `v${i}/text`, kind: "text", x: VALUE + 35, y, text: fixed(values[i], 0), size: 15, fill: value, term: "value" },
      );
    });
    const exact = keys.indexOf(numbers.query);
    const answer = flowing ? fixed(numbers.answer, 2) : exact >= 0 && !scored ? fixed(values[exact], 0) : scored ? "?" : "no answer";
    marks.push(
      { key: "answer", kind: "rect", x: ANSWER.x, y: middle - ANSWER.h / 2, w: ANSWER.w, h: ANSWER.h, r: 9, fill: ink.surface, stroke: output, width: 2, term: "output", tip: flowing ? `${numbers.contributions.map((each) => fixed(each, 2)).join(" + ")} = ${fixed(numbers.answer, 2)}` : undefined, of: keys.flatMap((_, i) => [`w${i}`, `v${i}`]) },
      { key: "answer/text", kind: "text", x: ANSWER.x + ANSWER.w / 2, y: middle, text: answer, size: answer.includes(" ") ? 16 : 19, bold: true, fill: output, term: "output" },
      { key: "answer/name", kind: "text", x: ANSWER.x + ANSWER.w / 2, y: middle - ANSWER.h / 2 - 14, text: "answer", size: 13, bold: true, fill: output, term: "output" },
    );
    return marks;
  },

  describe(/** @type {Numbers} */ numbers, { reached }) {
    const { keys, similarities, weights, answer, query } = numbers;
    const pairs = (/** @type {number[]} */ values) => keys.map((key, i) => `${key} ${fixed(values[i], 3)}`).join(", ");
    if (reached("flow")) return `The answer to the query ${query} is ${fixed(answer)}: the values weighted by ${pairs(weights)}.`;
    if (reached("softmax")) return `Weights of the keys for the query ${query}: ${pairs(weights)}.`;
    if (reached("similarity")) return `Similarity of the query ${query} with each key: ${pairs(similarities)}.`;
    return `A dictionary with the keys ${keys.join(", ")}; the query ${query} ${keys.includes(query) ? "is" : "is not"} one of them.`;
  },

  tables(/** @type {Numbers} */ { keys, values, distances, similarities, exponentials, weights, contributions }) {
    const cols = ["value", "edit distance", "similarity s", "exp(s / T)", "weight α", "α · value"];
    return [
      {
        title: "The dictionary",
        rows: keys,
        cols,
        values: keys.map((_, i) => [values[i], distances[i], similarities[i], exponentials[i], weights[i], contributions[i]]),
      },
    ];
  },
};

/** @type {(key: string, x: number, text: string, fill: string) => Mark} */
function head(key, x, text, fill) {
  return { key: `${key}/head`, kind: "text", x, y: TOP - 14, text, size: 13, bold: true, fill };
}
