// Scale and softmax: dot products spread as the width grows, and the softmax saturates.

import { fixed } from "../story/marks.js";
import { formatted } from "../story/prose.js";
import { describeWidths, threeWidths, widthsTable } from "./scale_widths.js";

/** @import {Figure, Mark} from "../types" */
/** @import {ThreeWidths} from "./scale_widths.js" */

/**
 * @typedef {object} Numbers
 * @property {number} width d
 * @property {number} root √d
 * @property {number} variance of q·k over 4,000 pairs
 * @property {number} deviation
 * @property {number} scaled_variance
 * @property {number} scaled_deviation
 * @property {number[]} histogram of q·k in bins of width 1, the tallest 1
 * @property {number[]} scaled_histogram
 * @property {number[][]} walks of eight q·k as features are added
 * @property {number[]} scores of one query with its eight keys
 * @property {number[]} scaled_scores
 * @property {number[]} tempered_scores
 * @property {number[]} weights
 * @property {number[]} scaled_weights
 * @property {number[]} tempered_weights
 * @property {number[]} slopes
 * @property {number[]} scaled_slopes
 * @property {number[]} tempered_slopes
 * @property {number} mean_slope largest slope, mean over 500 queries
 * @property {number} mean_scaled_slope
 * @property {{name: string, deviation: number, scores: number[], weights: number[]}[]} others dot, bilinear and additive, unscaled
 * @property {ThreeWidths} widths
 * @property {number} size
 * @property {number} product
 * @property {number | null} half_product null for infinity
 * @property {number | null} late
 * @property {number | null} early
 * @property {number} exact
 * @property {number} largest_half
 */

const [WIDTH, HEIGHT] = [560, 440];
const WIDEST = 512;
const [LEFT, RIGHT] = [20, 540];
const [ROW, FIRST] = [27, 58];
const CURVE = { x: 58, y: 412, w: 290, h: 108 };
const [FLOOR, DECADES] = [0.1, 9]; // of the logarithmic axis

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["grow", "walk", "softmax", "slope", "scaled", "others", "widths", "temperature", "half", "spread"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "sentence", label: "Text", longest: 80, on: ["spread"] },
    { kind: "slider", input: "width", label: "Width d", min: 1, max: WIDEST, step: 1, log: true, until: "widths" },
    { kind: "choice", input: "scoring", label: "Score", options: [["dot", "dot product"], ["bilinear", "bilinear"], ["additive", "additive"]], from: "widths", until: "temperature" },
    { kind: "choice", input: "key_width", label: "Width of a key", options: [["1", "1"], ["2", "2"], ["3", "3"]], from: "widths", until: "temperature" },
    { kind: "slider", input: "width", label: "Width d", min: 1, max: WIDEST, step: 1, log: true, from: "temperature" },
    { kind: "slider", input: "temperature", label: "Temperature T", min: 0.1, max: 10, step: 0.01, log: true, from: "temperature", until: "half" },
    { kind: "slider", input: "size", label: "Numbers of q, k", min: 0.5, max: 200, step: 0.1, log: true, from: "half" },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    const { reached, step, ink } = moment;
    if (reached("half")) return halves(numbers, ink);
    if (step === "others") return others(numbers, ink);
    if (step === "widths") return threeWidths(numbers.widths, moment);
    if (reached("softmax")) return [...rows(numbers, moment), ...(reached("slope") ? slopes(numbers, moment) : [])];
    return reached("walk") ? walks(numbers, ink) : spread(numbers, ink);
  },

  describe(/** @type {Numbers} */ numbers, { reached, step }) {
    const { width, variance, weights, scaled_weights, tempered_weights, half_product, late, early } = numbers;
    const list = (/** @type {number[]} */ values) => values.map((value) => fixed(value)).join(", ");
    if (reached("half")) return `In float16 q·k is ${spoken(half_product)}, divided afterwards ${spoken(late)}, divided before ${spoken(early)}; exactly ${spoken(numbers.exact)}.`;
    if (step === "others") return `Standard deviation of unscaled scores at width ${width}: ${numbers.others.map(({ name, deviation }) => `${name} ${fixed(deviation)}`).join(", ")}.`;
    if (step === "widths") return describeWidths(numbers.widths);
    if (reached("temperature")) return `Weights of the scaled scores divided by the temperature: ${list(tempered_weights)}.`;
    if (reached("scaled")) return `Weights at width ${width} without the scale: ${list(weights)}; with it: ${list(scaled_weights)}.`;
    if (reached("softmax")) return `Weights of eight keys at width ${width}, without a scale: ${list(weights)}.`;
    return `Dot products of random vectors of width ${width}: their variance is ${fixed(variance)}.`;
  },

  tables(/** @type {Numbers} */ numbers) {
    const { scores, weights, slopes: steep, scaled_scores, scaled_weights, scaled_slopes, tempered_scores, tempered_weights, tempered_slopes } = numbers;
    const { others: kinds } = numbers;
    return [
      widthsTable(numbers.widths),
      { title: "Other scores, unscaled", rows: kinds.map(({ name }) => name), cols: ["standard deviation", ...scores.map((_, i) => `weight ${i}`)], values: kinds.map(({ deviation, weights: each }) => [deviation, ...each]) },
      {
        title: "500 queries with 8 keys each",
        rows: ["q·k", "q·k / √d"],
        cols: ["variance", "standard deviation"],
        values: [[numbers.variance, numbers.deviation], [numbers.scaled_variance, numbers.scaled_deviation]],
      },
      {
        title: "One query with 8 keys",
        rows: scores.map((_, i) => `key ${i}`),
        cols: ["q·k", "weight", "slope", "q·k / √d", "weight", "slope", "over T", "weight", "slope"],
        values: scores.map((_, i) => [scores[i], weights[i], steep[i], scaled_scores[i], scaled_weights[i], scaled_slopes[i], tempered_scores[i], tempered_weights[i], tempered_slopes[i]]),
      },
    ];
  },
};

/** @type {(value: number | null) => string} */
const spoken = (value) => (value === null ? "infinite" : long(value));

/** @type {(value: number) => string} */
const long = (value) => formatted(value, Math.abs(value) < 100 ? ",.2f" : ",.0f");

/** The distribution of q·k. */
function spread({ width, root, variance, deviation, histogram }, ink) {
  const [floor, tall, span] = [300, 240, histogram.length / 2];
  const at = (/** @type {number} */ value) => (LEFT + RIGHT) / 2 + (value * (RIGHT - LEFT)) / 2 / span;
  const reach = Math.min(span, deviation);
  const outline = histogram.map((share, i) => `L${at(i - span).toFixed(1)} ${(floor - tall * share).toFixed(1)}L${at(i + 1 - span).toFixed(1)} ${(floor - tall * share).toFixed(1)}`);
  return [
    { key: "head", kind: "text", x: 280, y: 24, text: `4,000 dot products q·k of random vectors, d = ${width}`, size: 15, bold: true },
    { key: "histogram", kind: "path", d: `M${LEFT} ${floor}${outline.join("")}L${RIGHT} ${floor}Z`, fill: ink.muted, opacity: 0.45 },
    { key: "floor", kind: "line", x: LEFT, y: floor, x2: RIGHT, stroke: ink.muted, width: 1 },
    ...[-60, -40, -20, 0, 20, 40, 60].map((value) => /** @type {Mark} */ ({ key: `tick${value}`, kind: "text", x: at(value), y: floor + 15, text: fixed(value, 0), size: 13, fill: ink.muted })),
    { key: "deviation/left", kind: "arrow", x: 280, y: 342, x2: at(-reach), y2: 342, stroke: ink.text, width: 3 },
    { key: "deviation/right", kind: "arrow", x: 280, y: 342, x2: at(reach), y2: 342, stroke: ink.text, width: 3 },
    { key: "deviation", kind: "text", x: 280, y: 374, text: `standard deviation ${fixed(deviation)}: about √d = ${fixed(root)}`, size: 16, bold: true },
    { key: "variance", kind: "text", x: 280, y: 402, text: `variance ${fixed(variance)}: about d = ${width}`, size: 16 },
  ];
}

/** Eight dot products as features are added, one product at a time. */
function walks({ width, root, scores, walks: paths }, ink) {
  const [x0, middle, half] = [50, 214, 170];
  const range = Math.max(40, 10 * Math.ceil(Math.max(...paths.flat().map(Math.abs)) / 10));
  const across = (/** @type {number} */ features) => x0 + ((RIGHT - x0) * features) / WIDEST;
  const up = (/** @type {number} */ value) => middle - (half * value) / range;
  const every = WIDEST / (paths[0].length - 1);
  const line = (/** @type {number[]} */ points) => `M${points.map((value, i) => `${across(Math.max(1, i * every)).toFixed(1)} ${up(value).toFixed(1)}`).join("L")}`;
  const roots = Array.from({ length: 129 }, (_, i) => Math.sqrt(i * 4));
  const tick = range / 2;
  return [
    { key: "head", kind: "text", x: 280, y: 24, text: "one query, eight keys: q·k as features are added", size: 15, bold: true },
    ...[-tick, 0, tick].flatMap((value) => /** @type {Mark[]} */ ([
      { key: `level${value}`, kind: "line", x: x0, y: up(value), x2: RIGHT, stroke: ink.line, width: 1 },
      { key: `level${value}/text`, kind: "text", x: x0 - 8, y: up(value), text: fixed(value, 0), size: 13, anchor: "end", fill: ink.muted },
    ])),
    ...[1, -1].map((sign) => /** @type {Mark} */ ({ key: `root${sign}`, kind: "path", d: line(roots.map((value) => sign * value)), stroke: ink.text, width: 2, dash: "6 5" })),
    ...paths.map((points, i) => /** @type {Mark} */ ({ key: `walk${i}`, kind: "path", d: line(points), stroke: ink.muted, width: 1.4, opacity: 0.75 })),
    { key: "cursor", kind: "line", x: across(width), y: middle - half, y2: middle + half, stroke: ink.primary, width: 2 },
    ...scores.map((value, i) => /** @type {Mark} */ ({ key: `now${i}`, kind: "circle", x: across(width), y: up(value), r: 5, fill: ink.text, stroke: ink.background, width: 1, tip: `Key ${i}: the sum of the first ${width} products is ${fixed(value)}` })),
    { key: "root/name", kind: "text", x: 280, y: 424, text: `dashed: ±√d, here ±${fixed(root)}`, size: 14 },
    { key: "one", kind: "text", x: x0, y: 400, text: "1", size: 13, fill: ink.muted },
    { key: "widest", kind: "text", x: RIGHT, y: 400, text: `${WIDEST} features`, size: 13, anchor: "end", fill: ink.muted },
  ];
}

/** Scores and weights of one query, and beside them those that are scaled. */
function rows(numbers, { ink, reached, inputs }) {
  const { scores, weights, scaled_scores, scaled_weights, tempered_scores, tempered_weights } = numbers;
  const [two, tempered] = [reached("scaled"), reached("temperature")];
  const first = tempered ? { scores: scaled_scores, weights: scaled_weights } : { scores, weights };
  const second = tempered ? { scores: tempered_scores, weights: tempered_weights } : { scores: scaled_scores, weights: scaled_weights };
  const most = Math.max(10, ...scores.map(Math.abs));
  const { weight } = ink.term;
  const heads = tempered ? ["q·k / √d", `over T = ${fixed(Number(inputs.temperature))}`] : ["q·k", "q·k / √d"];
  /** @type {(key: string, x: number, text: string, fill?: string) => Mark} */
  const head = (key, x, text, fill = ink.muted) => ({ key, kind: "text", x, y: 32, text, size: 14, bold: true, anchor: "end", fill });
  /** @type {(key: string, x: number, y: number, w: number, end: number, share: number) => Mark[]} */
  const bar = (key, x, y, w, end, share) => [
    { key: `${key}/track`, kind: "rect", x, y: y - 8, w, h: 16, r: 3, fill: ink.surface, stroke: ink.line },
    { key, kind: "rect", x, y: y - 8, w: w * share, h: 16, r: 3, fill: weight, term: "weight" },
    { key: `${key}/number`, kind: "text", x: end, y, text: fixed(share, 3), size: 14, anchor: "end", fill: weight, term: "weight" },
  ];
  const marks = [head("head/scores", two ? 104 : 316, heads[0]), head("head/weights", two ? 276 : 548, "weight", weight)];
  if (two) marks.push(head("head/scaled", 392, heads[1]), head("head/scaled/weights", 548, "weight", weight));
  scores.forEach((_, i) => {
    const y = FIRST + ROW * i;
    marks.push({ key: `name${i}`, kind: "text", x: 14, y, text: `k_{${i}}`, size: 15, anchor: "start", fill: ink.term.key, term: "key" });
    marks.push({ key: `score${i}`, kind: "text", x: two ? 104 : 316, y, text: fixed(first.scores[i]), size: 14, anchor: "end" });
    marks.push(...bar(`weight${i}`, two ? 116 : 336, y, two ? 108 : 158, two ? 276 : 548, first.weights[i]));
    if (two) {
      marks.push({ key: `scaled${i}`, kind: "text", x: 372, y, text: fixed(second.scores[i]), size: 14, anchor: "end" });
      marks.push(...bar(`scaled/weight${i}`, 388, y, 108, 548, second.weights[i]));
      return;
    }
    const [to, zero] = [(110 * scores[i]) / most, 160];
    marks.push({ key: `length${i}`, kind: "rect", x: Math.min(zero, zero + to), y: y - 8, w: Math.abs(to), h: 16, fill: ink.muted, opacity: 0.6 });
  });
  if (!two) marks.push({ key: "zero", kind: "line", x: 160, y: FIRST - 14, y2: FIRST + 7.5 * ROW, stroke: ink.muted, width: 1 });
  return marks;
}

const FORMULAS = ["q·k", "q^{T} M k", "v^{T} tanh(W q + U k)"];

/**
 * Three ways to score the same queries and keys: how far the scores spread, and the weights of one
 * query.
 */
function others({ width, others: kinds }, ink) {
  const [zero, reach, left, wide, tall] = [146, 120, 310, 29, 76];
  const { weight } = ink.term;
  /** @type {Mark[]} */
  const marks = [
    { key: "head", kind: "text", x: 14, y: 20, text: `unscaled scores, d = ${width}`, size: 15, bold: true, anchor: "start" },
    { key: "head/weights", kind: "text", x: 548, y: 20, text: "weights of the eight keys", size: 14, bold: true, anchor: "end", fill: weight, term: "weight" },
  ];
  kinds.forEach(({ name, deviation, scores, weights }, i) => {
    const y = 52 + 132 * i;
    const to = Math.min(reach, 5 * deviation);
    marks.push(
      { key: `${name}/name`, kind: "text", x: 14, y, text: name === "dot" ? "dot product" : name, size: 15, bold: true, anchor: "start" },
      { key: `${name}/formula`, kind: "text", x: 268, y, text: FORMULAS[i], size: 14, anchor: "end", fill: ink.muted },
      { key: `${name}/zero`, kind: "line", x: zero, y: y + 20, y2: y + 52, stroke: ink.line, width: 1 },
      { key: `${name}/down`, kind: "arrow", x: zero, y: y + 36, x2: zero - to, y2: y + 36, stroke: ink.text, width: 3 },
      { key: `${name}/up`, kind: "arrow", x: zero, y: y + 36, x2: zero + to, y2: y + 36, stroke: ink.text, width: 3 },
      { key: `${name}/deviation`, kind: "text", x: zero, y: y + 72, text: `standard deviation ${fixed(deviation)}`, size: 14 },
      { key: `${name}/floor`, kind: "line", x: left, y: y + 88, x2: left + 8 * wide + 4, stroke: ink.muted, width: 1 },
    );
    weights.forEach((share, j) => {
      const x = left + 4 + j * wide;
      marks.push({ key: `${name}/weight${j}`, kind: "rect", x, y: y + 88 - tall * share, w: wide - 6, h: tall * share, fill: weight, term: "weight", tip: `k_${j}: score ${fixed(scores[j])}, weight ${fixed(share, 3)}` });
      if (i === kinds.length - 1) marks.push({ key: `${name}/key${j}`, kind: "text", x: x + (wide - 6) / 2, y: y + 104, text: `k_{${j}}`, size: 14, fill: ink.term.key, term: "key" });
    });
  });
  return marks;
}

/** The slope of a weight against the weight, and where the eight keys are on it. */
function slopes(numbers, { ink, reached }) {
  const { weights, scaled_weights, tempered_weights, slopes: steep, scaled_slopes, tempered_slopes, mean_slope, mean_scaled_slope } = numbers;
  const { x, y, w, h } = CURVE;
  const [two, tempered] = [reached("scaled"), reached("temperature")];
  const spot = (/** @type {number} */ weight, /** @type {number} */ slope) => [x + w * weight, y - (h * slope) / 0.25];
  const curve = Array.from({ length: 41 }, (_, i) => spot(i / 40, (i / 40) * (1 - i / 40)).join(" "));
  /** @type {Mark[]} */
  const marks = [
    { key: "slope/curve", kind: "path", d: `M${curve.join("L")}`, stroke: ink.muted, width: 2 },
    { key: "slope/floor", kind: "line", x, y, x2: x + w, stroke: ink.muted, width: 1 },
    { key: "slope/head", kind: "text", x: 14, y: 286, text: "slope α (1 − α)", size: 14, bold: true, anchor: "start" },
    { key: "slope/top", kind: "text", x: x - 10, y: y - h, text: "0.25", size: 13, anchor: "end", fill: ink.muted },
    { key: "slope/zero", kind: "text", x, y: y + 15, text: "0", size: 13, fill: ink.muted },
    { key: "slope/one", kind: "text", x: x + w, y: y + 15, text: "1", size: 13, fill: ink.muted },
    { key: "slope/weight", kind: "text", x: x + w / 2, y: y + 16, text: "weight α", size: 13, fill: ink.muted },
  ];
  const sets = [
    { key: "slope", shares: tempered ? scaled_weights : weights, slopes: tempered ? scaled_slopes : steep, hollow: two },
    ...(two ? [{ key: "slope/scaled", shares: tempered ? tempered_weights : scaled_weights, slopes: tempered ? tempered_slopes : scaled_slopes, hollow: false }] : []),
  ];
  for (const { key, shares, slopes: curves, hollow } of sets)
    shares.forEach((share, i) => {
      const [dotX, dotY] = spot(share, curves[i]);
      const fill = hollow ? ink.background : ink.term.weight;
      marks.push({ key: `${key}${i}`, kind: "circle", x: dotX, y: dotY, r: hollow ? 6 : 5, fill, stroke: ink.term.weight, width: 1.6, opacity: 0.9, term: "weight", tip: `Key ${i}: ${fixed(share, 4)} · (1 − ${fixed(share, 4)}) = ${fixed(curves[i], 4)}` });
    });
  const [before, after] = tempered ? ["○ T = 1", "● with T"] : ["○ without √d", "● with √d"];
  const lines = two
    ? [["largest slope", ""], [before, fixed(Math.max(...sets[0].slopes), 3)], [after, fixed(Math.max(...sets[1].slopes), 3)]]
    : [["largest slope", fixed(Math.max(...steep), 3)]];
  if (!tempered) {
    lines.push(["mean of 500 queries", two ? "" : fixed(mean_slope, 3)]);
    if (two) lines.push([before, fixed(mean_slope, 3)], [after, fixed(mean_scaled_slope, 3)]);
  }
  lines.forEach(([name, value], i) => {
    const at = 296 + 24 * i;
    marks.push({ key: `fact${i}`, kind: "text", x: 378, y: at, text: name, size: 13.5, anchor: "start", fill: value ? ink.text : ink.muted });
    marks.push({ key: `fact${i}/value`, kind: "text", x: 548, y: at, text: value, size: 14, bold: true, anchor: "end" });
  });
  return marks;
}

/** One score in float16, on a logarithmic line with the largest number of the format. */
function halves({ width, size, half_product, late, early, exact, largest_half }, ink) {
  const at = (/** @type {number} */ value) => 24 + (516 * (Math.log10(Math.max(FLOOR, value)) - Math.log10(FLOOR))) / DECADES;
  const wall = at(largest_half);
  const values = /** @type {const} */ ([
    ["product", "q·k", half_product],
    ["late", "(q·k) / √d, divided afterwards", late],
    ["early", "(q / ∜d)·(k / ∜d), divided before", early],
    ["exact", "the score itself, computed exactly", exact],
  ]);
  /** @type {Mark[]} */
  const marks = [
    { key: "head", kind: "text", x: 280, y: 22, text: `q and k: ${width} numbers each, all ${fixed(size, 1)}`, size: 15, bold: true },
    { key: "beyond", kind: "rect", x: wall, y: 62, w: 548 - wall, h: 326, fill: ink.surface },
    { key: "wall", kind: "line", x: wall, y: 62, y2: 388, stroke: ink.text, width: 3 },
    { key: "wall/name", kind: "text", x: wall + 4, y: 48, text: "largest float16: 65,504", size: 14, bold: true },
    { key: "floor", kind: "line", x: 24, y: 388, x2: 548, stroke: ink.muted, width: 1 },
    ...[0, 2, 4, 6, 8].map((power) => /** @type {Mark} */ ({ key: `power${power}`, kind: "text", x: at(10 ** power), y: 406, text: power ? `10^{${power}}` : "1", size: 13, fill: ink.muted })),
  ];
  values.forEach(([key, name, value], i) => {
    const y = 112 + 78 * i;
    const x = value === null ? 524 : at(value);
    marks.push(
      { key: `${key}/name`, kind: "text", x: 24, y: y - 24, text: i < 3 ? `${name}, float16` : name, size: 14, anchor: "start" },
      { key: `${key}/line`, kind: value === null ? "arrow" : "line", x: 24, y, x2: x, y2: y, stroke: ink.muted, width: 2 },
      { key, kind: "circle", x, y, r: value === null ? 0 : 7, fill: ink.text },
      value === null
        ? { key: `${key}/value`, kind: "text", x: 524, y: y - 20, text: "∞", size: 24, bold: true }
        : { key: `${key}/value`, kind: "text", x: Math.min(x, 510), y: y + 20, text: long(value), size: 15, bold: true },
    );
  });
  return marks;
}
