// The head layer: a vector, a logit for each word, probabilities, the loss and where it pushes.

import { fixed, writtenSum } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/**
 * @typedef {object} Numbers
 * @property {string[]} words
 * @property {number[]} h
 * @property {number[][]} weights
 * @property {number[]} logits
 * @property {number[]} exponentials
 * @property {number} total of the exponentials
 * @property {number[]} probabilities
 * @property {number} target
 * @property {number} probability of the target
 * @property {number} loss
 * @property {number[]} gradient
 * @property {{logits: number[], probabilities: number[], probability: number, loss: number}} moved
 * @property {number[]} divided by the temperature
 * @property {number[]} sampled probabilities at the temperature
 */

const [WIDTH, HEIGHT] = [560, 430];
const LIMIT = 3; // largest number of h
const [H_ZERO, H_UNIT] = [62, 16]; // where the bars of h start, and how long a 1 is
const [ALONE, ALONE_UNIT] = [215, 60]; // the same while nothing stands below them
const [TOP, ROW, BAR] = [132, 46, 24];
const [W_LEFT, CELL] = [92, 40];
const [ZERO, REACH] = [306, 54]; // of the logits' bars
const [P_LEFT, P_WIDE] = [408, 92];
const [PLOT_TOP, PLOT_HIGH, MOST] = [338, 76, 5]; // of −log p

const STEPS = /** @type {const} */ (["vector", "logits", "probabilities", "loss", "tied", "gradient", "smooth", "topk", "temperature", "language"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "text", label: "Text", longest: 80, on: ["tied", "language"] },
    { kind: "choice", input: "smoothing", label: "Smoothing", options: [["0", "none"], ["0.1", "0.1"], ["0.3", "0.3"]], on: ["smooth"] },
    { kind: "slider", input: "rate", label: "Step size η", min: 0, max: 4, step: 0.1, from: "gradient", until: "temperature" },
    { kind: "slider", input: "temperature", label: "Temperature T", min: 0.2, max: 5, step: 0.01, log: true, from: "temperature" },
  ],

  marks(/** @type {Numbers} */ numbers, { step, reached, inputs, ink }) {
    const { words, weights, gradient, moved } = numbers;
    const h = /** @type {number[]} */ (inputs.h);
    const sampling = step === "temperature";
    const logits = sampling ? numbers.divided : numbers.logits;
    const probabilities = sampling ? numbers.sampled : numbers.probabilities;
    const moving = step === "gradient";
    const aimed = reached("loss") && !sampling;
    const far = Math.max(2.5, ...logits.map(Math.abs), ...(moving ? moved.logits.map(Math.abs) : []));
    const along = (/** @type {number} */ logit) => ZERO + (REACH * logit) / far;
    const [zero, unit] = reached("logits") ? [H_ZERO, H_UNIT] : [ALONE, ALONE_UNIT];
    const marks = [...context(zero, ink), ...vector(h, zero, unit, ink)];
    if (reached("logits")) marks.push(head("logits", ZERO, sampling ? "logits / T" : "logits", ink));
    if (reached("probabilities")) marks.push(head("p", P_LEFT + P_WIDE / 2, sampling ? "p at T" : "p", ink));
    if (reached("logits")) marks.push(head("w", W_LEFT + 1.5 * CELL, moving ? "p − y" : "W", ink));
    words.forEach((word, i) => {
      const y = TOP + i * ROW + ROW / 2;
      const right = aimed && i === numbers.target;
      if (!reached("logits")) return;
      marks.push(
        {
          ...{ key: `word${i}`, kind: "rect", x: 6, y: y - 16, w: 74, h: 32, r: 7, width: right ? 2.5 : 1 },
          ...{ fill: right ? ink.surface : ink.background, stroke: right ? ink.primary : ink.line },
          ...(reached("loss") && !sampling ? { press: { label: `Target: ${word}`, pressed: right, patch: { target: i } } } : {}),
        },
        { key: `word${i}/text`, kind: "text", x: 43, y, text: word, size: 15, bold: right, fill: ink.text },
      );
      if (!moving) marks.push(...row(weights[i], i, y, ink));
      marks.push(...logitBar(i, y, logits[i], along, { tip: sampling ? `${fixed(numbers.logits[i])} / ${fixed(Number(inputs.temperature))} = ${fixed(logits[i])}` : `“${word}”: ${writtenSum(weights[i], h)}`, of: sampling || moving ? [] : h.flatMap((_, j) => [`w${i}.${j}`, `h${j}`]) }, ink));
      if (reached("probabilities")) {
        const tip = sampling ? `p(${word}) = ${fixed(probabilities[i], 4)} at T = ${fixed(Number(inputs.temperature))}` : `exp(${fixed(logits[i])} − largest) / sum = ${fixed(numbers.exponentials[i], 3)} / ${fixed(numbers.total, 3)} = ${fixed(probabilities[i], 4)}`;
        marks.push(
          { key: `p${i}`, kind: "rect", x: P_LEFT, y: y - BAR / 2, w: P_WIDE * probabilities[i], h: BAR, fill: right ? ink.primary : ink.muted, tip, of: words.map((_, j) => `l${j}`) },
          { key: `p${i}/text`, kind: "text", x: P_LEFT + P_WIDE * (moving ? Math.max(probabilities[i], moved.probabilities[i]) : probabilities[i]) + 7, y, text: fixed(probabilities[i], 3), size: 14, anchor: "start", fill: ink.text },
        );
      }
      if (moving) {
        const y1 = right ? 1 : 0;
        marks.push({ key: `g${i}/text`, kind: "text", x: W_LEFT + 1.5 * CELL, y, size: 14, text: `${fixed(numbers.probabilities[i])} − ${y1} = ${fixed(gradient[i])}`, fill: ink.text, bold: right });
        const to = along(moved.logits[i]);
        if (Math.abs(to - along(logits[i])) > 1)
          marks.push({ key: `g${i}`, kind: "arrow", x: along(logits[i]), y: y + BAR / 2 + 5, x2: to, y2: y + BAR / 2 + 5, stroke: ink.primary, width: 3 });
        marks.push({ key: `p${i}/moved`, kind: "rect", x: P_LEFT, y: y - BAR / 2 - 3, w: P_WIDE * moved.probabilities[i], h: BAR + 6, stroke: ink.primary, dash: "4 3", width: 1.5, tip: `After the step: p = ${fixed(moved.probabilities[i], 4)}` });
      }
    });
    if (aimed) marks.push(...lossPlot(numbers, moving, ink));
    return marks;
  },

  describe(/** @type {Numbers} */ numbers, { step, reached }) {
    const { words, h, logits, probabilities, gradient, target, loss, moved, sampled } = numbers;
    const pairs = (/** @type {number[]} */ weights) => words.map((word, i) => `${word} ${fixed(weights[i], 3)}`).join(", ");
    if (step === "temperature") return `Probabilities at the chosen temperature: ${pairs(sampled)}.`;
    if (step === "gradient") return `The gradient for each logit: ${pairs(gradient)}. A step against it changes the loss from ${fixed(loss, 3)} to ${fixed(moved.loss, 3)}.`;
    if (step === "loss") return `The target ${words[target]} has probability ${fixed(probabilities[target], 3)}; the loss is ${fixed(loss, 3)}.`;
    if (reached("probabilities")) return `Probabilities: ${pairs(probabilities)}.`;
    if (reached("logits")) return `Logits: ${pairs(logits)}.`;
    return `The last vector h has the numbers ${h.map((each) => fixed(each)).join(", ")}.`;
  },

  tables(/** @type {Numbers} */ { words, weights, logits, probabilities, gradient, moved, sampled }) {
    const cols = ["W 0", "W 1", "W 2", "logit", "p", "p − y", "p after the step", "p at T"];
    return [
      {
        title: "The four words",
        rows: words,
        cols,
        values: words.map((_, i) => [...weights[i], logits[i], probabilities[i], gradient[i], moved.probabilities[i], sampled[i]]),
      },
    ];
  },
};

/** @type {(key: string, x: number, text: string, ink: Ink) => Mark} */
function head(key, x, text, ink) {
  return { key: `${key}/head`, kind: "text", x, y: TOP - 10, text, size: 14, bold: true, fill: ink.muted };
}

/**
 * What has been read, and where h comes from.
 *
 * @type {(zero: number, ink: Ink) => Mark[]}
 */
function context(zero, ink) {
  return [
    { key: "read", kind: "text", x: 400, y: zero - 12, text: "“The dog began to …”", size: 16, fill: ink.text },
    { key: "read/name", kind: "text", x: 400, y: zero + 12, text: "after the last block", size: 14, fill: ink.muted },
    { key: "read/arrow", kind: "arrow", x: 318, y: zero, x2: W_LEFT + 3 * CELL + 14, y2: zero, stroke: ink.muted, width: 2 },
  ];
}

/**
 * The bars of h, to be dragged.
 *
 * @type {(h: number[], zero: number, unit: number, ink: Ink) => Mark[]}
 */
function vector(h, zero, unit, ink) {
  /** @type {Mark[]} */
  const marks = [
    { key: "h/name", kind: "text", x: 43, y: zero, text: "h", size: 18, bold: true, fill: ink.text },
    { key: "h/zero", kind: "line", x: W_LEFT, y: zero, x2: W_LEFT + 3 * CELL, y2: zero, stroke: ink.line },
  ];
  h.forEach((value, i) => {
    const x = W_LEFT + (i + 0.5) * CELL;
    const end = zero - unit * value;
    const set = (/** @type {number} */ wanted) => ({ h: h.map((each, j) => (j === i ? bounded(wanted) : each)) });
    marks.push(
      { key: `h${i}`, kind: "rect", x: x - 13, y: Math.min(end, zero), w: 26, h: Math.abs(end - zero), fill: ink.signed(value / LIMIT), stroke: ink.muted },
      {
        ...{ key: `h${i}/handle`, kind: "circle", x, y: end, r: 8, fill: ink.background, stroke: ink.primary, width: 2.5 },
        handle: {
          label: `h, feature ${i}`,
          value: fixed(value),
          now: value,
          move: (_, y) => set((zero - y) / unit),
          nudge: (dx, dy) => set(value + 0.1 * (dx || -dy)),
        },
      },
      { key: `h${i}/text`, kind: "text", x, y: value < 0 ? zero - 12 : zero + 13, text: fixed(value, 1), size: 13, fill: ink.text },
    );
  });
  return marks;
}

/** @param {number} value */
const bounded = (value) => Math.round(10 * Math.min(LIMIT, Math.max(-LIMIT, value))) / 10;

/** @type {(weights: number[], i: number, y: number, ink: Ink) => Mark[]} */
function row(weights, i, y, ink) {
  return weights.flatMap((value, j) => {
    const x = W_LEFT + j * CELL;
    const fill = ink.signed(value / 2);
    return [
      { key: `w${i}.${j}`, kind: "rect", x, y: y - ROW / 2, w: CELL, h: ROW, fill, stroke: ink.line },
      { key: `w${i}.${j}/text`, kind: "text", x: x + CELL / 2, y, text: fixed(value, 1), size: 14, fill: ink.on(fill) },
    ];
  });
}

/** @type {(i: number, y: number, logit: number, along: (logit: number) => number, more: Partial<Mark>, ink: Ink) => Mark[]} */
function logitBar(i, y, logit, along, more, ink) {
  const end = along(logit);
  return [
    { key: `l${i}`, kind: "rect", x: Math.min(ZERO, end), y: y - BAR / 2, w: Math.max(1, Math.abs(end - ZERO)), h: BAR, fill: ink.signed(Math.max(-1, Math.min(1, logit / 4))), stroke: ink.muted, ...more },
    { key: `l${i}/zero`, kind: "line", x: ZERO, y: y - ROW / 2, x2: ZERO, y2: y + ROW / 2, stroke: ink.muted },
    { key: `l${i}/text`, kind: "text", x: end + (logit < 0 ? -6 : 6), y, text: fixed(logit), size: 14, anchor: logit < 0 ? "end" : "start", fill: ink.text },
  ];
}

/**
 * −log p under the bars of p, on the same scale from 0 to 1.
 *
 * @type {(numbers: Numbers, moving: boolean, ink: Ink) => Mark[]}
 */
function lossPlot({ probability, loss, moved, words, target }, moving, ink) {
  const across = (/** @type {number} */ p) => P_LEFT + P_WIDE * p;
  const down = (/** @type {number} */ nats) => PLOT_TOP + PLOT_HIGH * (1 - Math.min(MOST, nats) / MOST);
  const points = Array.from({ length: 60 }, (_, i) => Math.exp((-MOST * (59 - i)) / 59));
  const d = points.map((p, i) => `${i ? "L" : "M"}${across(p).toFixed(1)} ${down(-Math.log(p)).toFixed(1)}`).join("");
  /** @type {Mark[]} */
  const marks = [
    { key: "plot/axis", kind: "line", x: across(0), y: down(0), x2: across(1), y2: down(0), stroke: ink.muted },
    { key: "plot/side", kind: "line", x: across(0), y: down(0), x2: across(0), y2: down(MOST), stroke: ink.muted },
    { key: "plot/curve", kind: "path", d, stroke: ink.muted, width: 2 },
    { key: "plot/down", kind: "line", x: across(probability), y: TOP + (target + 0.5) * ROW + BAR / 2, x2: across(probability), y2: down(loss), stroke: ink.primary, dash: "3 4", opacity: 0.5 },
    { key: "plot/dot", kind: "circle", x: across(probability), y: down(loss), r: 6, fill: ink.primary },
    { key: "plot/name", kind: "text", x: across(1) + 8, y: down(0), text: "p", size: 14, anchor: "start", fill: ink.muted },
    { key: "plot/label", kind: "text", x: across(1) + 4, y: PLOT_TOP + 30, text: "−log p", size: 14, anchor: "start", fill: ink.muted },
    { key: "loss", kind: "text", x: P_LEFT - 18, y: PLOT_TOP + 26, text: `loss = −log ${fixed(probability, 3)} = ${fixed(loss, 3)}`, size: 17, bold: true, anchor: "end", fill: ink.text, tip: `−log p(${words[target]})` },
  ];
  if (moving)
    marks.push(
      { key: "loss/moved", kind: "text", x: P_LEFT - 18, y: PLOT_TOP + 54, text: `after the step ${fixed(moved.loss, 3)}`, size: 16, anchor: "end", fill: ink.primary },
      { key: "plot/moved", kind: "circle", x: across(moved.probability), y: down(moved.loss), r: 6, fill: ink.background, stroke: ink.primary, width: 2 },
    );
  return marks;
}
