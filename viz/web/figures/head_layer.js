// The head layer: a vector, a logit for each word, probabilities, the loss and where it pushes.

import { fixed, writtenSum } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/**
 * Of SmolLM2 the likeliest tokens have a name, and all others are the last of the words: they have a
 * probability together, and no logit.
 *
 * @typedef {object} Numbers
 * @property {string} network
 * @property {string} text that SmolLM2 has read
 * @property {string[]} words
 * @property {number[]} h
 * @property {number} norm of h
 * @property {number[]} rows norms of W's rows
 * @property {number[]} cosines between them and h
 * @property {number} vocab
 * @property {number[][]} weights of the four words
 * @property {number[]} logits
 * @property {number[]} exponentials of the four words
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
const [TOP, TABLE, HIGH] = [132, 184, 290]; // of the words, and how high they are in all: with a plot below, and without
const [W_LEFT, CELL] = [92, 40];
/** Zero of the logits' bars and the length of the longest, without probabilities at their right and with them. */
const BARS = /** @type {const} */ ({ words: [[350, 130], [306, 54]], smollm2: [[232, 250], [232, 114]] });
const MOVED = 74; // length of SmolLM2's longest, with a second number beside each
const SEEN = 9; // length of an arrow that can be seen
const [P_LEFT, P_WIDE] = [408, 92];
const [PLOT_TOP, PLOT_HIGH, MOST] = [338, 76, 5]; // of −log p
const [LONGEST, CONTEXT] = [9, 24]; // characters of a word, and of the text that has been read

const STEPS = /** @type {const} */ (["vector", "logits", "probabilities", "loss", "gradient", "smooth", "topk", "temperature"]);

/** Steps that show either network. */
const BOTH = /** @type {const} */ (["vector", "logits", "probabilities", "loss", "gradient", "temperature"]);

/** The height of a bar beside a word. */
const barOf = (tall) => Math.min(24, 0.6 * tall);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "choice", input: "network", label: "Network", options: [["smollm2", "SmolLM2: 49,152 tokens"], ["words", "four words, to drag"]], on: [...BOTH], above: true },
    { kind: "text", input: "text", label: "Text", longest: 80, on: [...BOTH], network: "smollm2" },
    { kind: "choice", input: "smoothing", label: "Smoothing", options: [["0", "none"], ["0.1", "0.1"], ["0.3", "0.3"]], on: ["smooth"] },
    { kind: "slider", input: "rate", label: "Step size η", min: 0, max: 4, step: 0.1, from: "gradient", until: "temperature" },
    { kind: "slider", input: "temperature", label: "Temperature T", min: 0.2, max: 5, step: 0.01, log: true, from: "temperature" },
  ],

  marks(/** @type {Numbers} */ numbers, { step, reached, inputs, ink }) {
    const { words, weights, gradient, moved } = numbers;
    const model = numbers.network === "smollm2";
    const h = /** @type {number[]} */ (inputs.h);
    const sampling = step === "temperature";
    const logits = sampling ? numbers.divided : numbers.logits;
    const probabilities = sampling ? numbers.sampled : numbers.probabilities;
    const moving = step === "gradient";
    const aimed = reached("loss") && !sampling;
    const tall = (aimed ? TABLE : HIGH) / words.length;
    const bar = barOf(tall);
    const [zeroAt, longest] = BARS[model ? "smollm2" : "words"][reached("probabilities") ? 1 : 0];
    const reach = model && moving ? MOVED : longest;
    const far = Math.max(2.5, ...logits.map(Math.abs), ...(moving ? moved.logits.map(Math.abs) : []));
    const along = (/** @type {number} */ logit) => zeroAt + (reach * logit) / far;
    const alone = !reached("logits");
    if (model && alone) return wholeVector(numbers, ink);
    const [zero, unit] = alone ? [ALONE, ALONE_UNIT] : [H_ZERO, H_UNIT];
    const marks = model ? smallVector(numbers, ink) : [...context(zero, ink), ...vector(h, zero, unit, ink)];
    if (reached("logits")) marks.push(head("logits", zeroAt + (model ? reach / 2 : 0), sampling ? "logits / T" : "logits", ink));
    if (reached("probabilities")) marks.push(head("p", P_LEFT + P_WIDE / 2, sampling ? "p at T" : "p", ink));
    if (reached("logits")) marks.push(head("w", W_LEFT + 1.5 * CELL, moving ? "p − y" : model ? "‖row of W‖ · cosine" : "W", ink));
    words.forEach((word, i) => {
      const y = TOP + (i + 0.5) * tall;
      const named = i < logits.length;
      const right = aimed && i === numbers.target;
      if (!reached("logits")) return;
      marks.push(
        {
          ...{ key: `word${i}`, kind: "rect", x: 2, y: y - Math.min(16, 0.42 * tall), w: 80, h: Math.min(32, 0.84 * tall), r: 7, width: right ? 2.5 : 1 },
          ...{ fill: right ? ink.surface : ink.background, stroke: right ? ink.primary : ink.line },
          ...(reached("loss") && !sampling && named ? { press: { label: `Target: ${word}`, pressed: right, patch: { target: i } } } : {}),
        },
        { key: `word${i}/text`, kind: "text", x: 42, y, text: cut(word, LONGEST + 1), size: 14, bold: right, fill: named ? ink.text : ink.muted },
      );
      if (!moving) marks.push(...(model ? product(numbers, i, y, ink) : row(weights[i], i, y, tall, ink)));
      const written = model && moving && named ? `${fixed(logits[i])} → ${fixed(moved.logits[i])}` : "";
      if (named) marks.push(...logitBar(i, y, tall, logits[i], along, written, { fill: ink.signed(Math.max(-1, Math.min(1, logits[i] / (model ? 1.6 * far : 4)))), tip: sampling ? `${fixed(numbers.logits[i])} / ${fixed(Number(inputs.temperature))} = ${fixed(logits[i])}` : model ? `“${word}”: ${fixed(numbers.norm)} · ${fixed(numbers.rows[i])} · ${fixed(numbers.cosines[i], 4)} = ${fixed(logits[i])}` : `“${word}”: ${writtenSum(weights[i], h)}`, of: sampling || moving || model ? [] : h.flatMap((_, j) => [`w${i}.${j}`, `h${j}`]) }, ink));
      if (reached("probabilities")) {
        const tip = sampling || model ? `p(${word}) = ${fixed(probabilities[i], 4)}${sampling ? ` at T = ${fixed(Number(inputs.temperature))}` : ""}` : `exp(${fixed(logits[i])} − largest) / sum = ${fixed(numbers.exponentials[i], 3)} / ${fixed(numbers.total, 3)} = ${fixed(probabilities[i], 4)}`;
        marks.push(
          { key: `p${i}`, kind: "rect", x: P_LEFT, y: y - bar / 2, w: P_WIDE * probabilities[i], h: bar, fill: right ? ink.primary : named ? ink.muted : ink.line, tip, of: logits.map((_, j) => `l${j}`) },
          { key: `p${i}/text`, kind: "text", x: P_LEFT + P_WIDE * (moving ? Math.max(probabilities[i], moved.probabilities[i]) : probabilities[i]) + 7, y, text: fixed(probabilities[i], 3), size: 14, anchor: "start", fill: ink.text },
        );
      }
      if (moving) {
        const y1 = right ? 1 : 0;
        marks.push({ key: `g${i}/text`, kind: "text", x: W_LEFT + 1.5 * CELL, y, size: 14, text: `${fixed(numbers.probabilities[i])} − ${y1} = ${fixed(gradient[i])}`, fill: ink.text, bold: right });
        const to = named ? along(moved.logits[i]) : 0;
        if (named && Math.abs(to - along(logits[i])) > (model ? SEEN : 1))
          marks.push({ key: `g${i}`, kind: "arrow", x: along(logits[i]), y: y + bar / 2 + 4, x2: to, y2: y + bar / 2 + 4, stroke: ink.primary, width: 3 });
        marks.push({ key: `p${i}/moved`, kind: "rect", x: P_LEFT, y: y - bar / 2 - 3, w: P_WIDE * moved.probabilities[i], h: bar + 6, stroke: ink.primary, dash: "4 3", width: 1.5, tip: `After the step: p = ${fixed(moved.probabilities[i], 4)}` });
      }
    });
    if (aimed) marks.push(...lossPlot(numbers, moving, tall, ink));
    return marks;
  },

  describe(/** @type {Numbers} */ numbers, { step, reached }) {
    const { words, h, norm, logits, probabilities, gradient, target, loss, moved, sampled } = numbers;
    const pairs = (/** @type {number[]} */ weights) => weights.map((each, i) => `${words[i]} ${fixed(each, 3)}`).join(", ");
    if (step === "temperature") return `Probabilities at the chosen temperature: ${pairs(sampled)}.`;
    if (step === "gradient") return `The gradient for each logit: ${pairs(gradient)}. A step against it changes the loss from ${fixed(loss, 3)} to ${fixed(moved.loss, 3)}.`;
    if (step === "loss") return `The target ${words[target]} has probability ${fixed(probabilities[target], 3)}; the loss is ${fixed(loss, 3)}.`;
    if (reached("probabilities")) return `Probabilities: ${pairs(probabilities)}.`;
    if (reached("logits")) return `Logits: ${pairs(logits)}.`;
    if (h.length > 3) return `The last vector h has ${h.length} numbers and norm ${fixed(norm)}.`;
    return `The last vector h has the numbers ${h.map((each) => fixed(each)).join(", ")}.`;
  },

  tables(/** @type {Numbers} */ { network, words, weights, rows, cosines, logits, probabilities, gradient, moved, sampled }) {
    const model = network === "smollm2";
    const first = model ? ["‖row‖", "cosine"] : ["W 0", "W 1", "W 2"];
    const of = (/** @type {number} */ i) => (model ? [rows[i] ?? null, cosines[i] ?? null] : weights[i]);
    return [
      {
        title: model ? "The likeliest tokens" : "The four words",
        rows: words,
        cols: [...first, "logit", "p", "p − y", "p after the step", "p at T"],
        values: words.map((_, i) => [...of(i), logits[i] ?? null, probabilities[i], gradient[i], moved.probabilities[i], sampled[i]]),
      },
    ];
  },
};

/** A word that fits. */
const cut = (word, longest) => (word.length > longest ? `${word.slice(0, longest - 1)}…` : word);

/**
 * Many numbers as thin bars, those above 0 and those below.
 *
 * @type {(h: number[], place: {left: number, wide: number, zero: number, high: number}, ink: Ink) => Mark[]}
 */
function bars(h, { left, wide, zero, high }, ink) {
  const unit = high / Math.max(...h.map(Math.abs), 1e-9);
  const pathOf = (/** @type {number} */ sign) => h.map((value, i) => (value * sign > 0 ? `M${(left + ((i + 0.5) * wide) / h.length).toFixed(2)} ${zero}V${(zero - unit * value).toFixed(1)}` : "")).join("");
  const width = (0.8 * wide) / h.length;
  return [
    { key: "h/above", kind: "path", d: pathOf(1), stroke: ink.signed(0.8), width },
    { key: "h/below", kind: "path", d: pathOf(-1), stroke: ink.signed(-0.8), width },
    { key: "h/zero", kind: "line", x: left, y: zero, x2: left + wide, y2: zero, stroke: ink.muted },
  ];
}

/** The last vector of SmolLM2, over the whole picture. @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function wholeVector({ h, norm, text }, ink) {
  const [left, wide, zero, high] = [6, 548, 236, 150];
  const most = Math.max(...h.map(Math.abs));
  const ends = [h.indexOf(Math.max(...h)), h.indexOf(Math.min(...h))];
  return [
    { key: "read", kind: "text", x: left, y: 16, text: `“${tail(text, 48)} …”`, size: 16, anchor: "start", fill: ink.text },
    { key: "read/name", kind: "text", x: left, y: 42, text: "after 30 blocks and the last norm:", size: 14, anchor: "start", fill: ink.muted },
    { key: "h/name", kind: "text", x: left + wide, y: 42, text: `h: ${h.length} numbers, norm ${fixed(norm, 1)}`, size: 16, bold: true, anchor: "end", fill: ink.text },
    ...bars(h, { left, wide, zero, high }, ink),
    ...ends.map((at, i) => {
      const x = left + ((at + 0.5) * wide) / h.length;
      const side = x > WIDTH / 2 ? "end" : "start";
      return /** @type {Mark} */ ({ key: `h/end${i}`, kind: "text", x: x + (side === "end" ? -6 : 6), y: zero - (high * h[at]) / most + (i ? 4 : -4), text: `feature ${at}: ${fixed(h[at])}`, size: 14, anchor: side, fill: ink.text });
    }),
    { key: "h/first", kind: "text", x: left, y: HEIGHT - 20, text: "feature 0", size: 13, anchor: "start", fill: ink.muted },
    { key: "h/last", kind: "text", x: left + wide, y: HEIGHT - 20, text: `feature ${h.length - 1}`, size: 13, anchor: "end", fill: ink.muted },
  ];
}

/** The same above the logits. @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function smallVector({ h, norm, text }, ink) {
  return [
    { key: "h/name", kind: "text", x: 43, y: H_ZERO - 9, text: "h", size: 18, bold: true, fill: ink.text },
    { key: "h/norm", kind: "text", x: 43, y: H_ZERO + 12, text: `norm ${fixed(norm, 1)}`, size: 14, fill: ink.muted },
    ...bars(h, { left: W_LEFT, wide: 250, zero: H_ZERO, high: 44 }, ink),
    { key: "read/arrow", kind: "arrow", x: 374, y: H_ZERO, x2: 348, y2: H_ZERO, stroke: ink.muted, width: 2 },
    { key: "read", kind: "text", x: 380, y: H_ZERO - 10, text: `“${tail(text, CONTEXT)} …”`, size: 14, anchor: "start", fill: ink.text },
    { key: "read/name", kind: "text", x: 380, y: H_ZERO + 12, text: "after 30 blocks", size: 14, anchor: "start", fill: ink.muted },
  ];
}

/** The end of a text. */
const tail = (text, longest) => (text.length > longest ? `… ${text.slice(-longest + 2).trimStart()}` : text);

/** What a logit is the product of, besides the norm of h. @type {(numbers: Numbers, i: number, y: number, ink: Ink) => Mark[]} */
function product({ rows, cosines, vocab, words }, i, y, ink) {
  const x = W_LEFT + 1.6 * CELL;
  if (i >= rows.length) return [{ key: `w${i}`, kind: "text", x, y, text: `${(vocab - words.length + 1).toLocaleString("en")} tokens`, size: 14, fill: ink.muted }];
  return [{ key: `w${i}`, kind: "text", x, y, text: `${fixed(rows[i])} · ${fixed(cosines[i], 3)}`, size: 14, fill: ink.text, tip: `The row of “${words[i]}” has norm ${fixed(rows[i], 3)}; the cosine of its angle with h is ${fixed(cosines[i], 4)}` }];
}

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

const bounded = (value) => Math.round(10 * Math.min(LIMIT, Math.max(-LIMIT, value))) / 10;

/** @type {(weights: number[], i: number, y: number, tall: number, ink: Ink) => Mark[]} */
function row(weights, i, y, tall, ink) {
  return weights.flatMap((value, j) => {
    const x = W_LEFT + j * CELL;
    const fill = ink.signed(value / 2);
    return [
      { key: `w${i}.${j}`, kind: "rect", x, y: y - tall / 2, w: CELL, h: tall, fill, stroke: ink.line },
      { key: `w${i}.${j}/text`, kind: "text", x: x + CELL / 2, y, text: fixed(value, 1), size: 14, fill: ink.on(fill) },
    ];
  });
}

/** @type {(i: number, y: number, tall: number, logit: number, along: (logit: number) => number, written: string, more: Partial<Mark>, ink: Ink) => Mark[]} */
function logitBar(i, y, tall, logit, along, written, more, ink) {
  const end = along(logit);
  const [zero, bar] = [along(0), barOf(tall)];
  return [
    { key: `l${i}`, kind: "rect", x: Math.min(zero, end), y: y - bar / 2, w: Math.max(1, Math.abs(end - zero)), h: bar, stroke: ink.muted, ...more },
    { key: `l${i}/zero`, kind: "line", x: zero, y: y - tall / 2, x2: zero, y2: y + tall / 2, stroke: ink.muted },
    { key: `l${i}/text`, kind: "text", x: end + (logit < 0 ? -6 : 6), y, text: written || fixed(logit), size: 14, anchor: logit < 0 ? "end" : "start", fill: ink.text },
  ];
}

/**
 * −log p under the bars of p, on the same scale from 0 to 1.
 *
 * @type {(numbers: Numbers, moving: boolean, tall: number, ink: Ink) => Mark[]}
 */
function lossPlot({ probability, loss, moved, words, target }, moving, tall, ink) {
  const across = (/** @type {number} */ p) => P_LEFT + P_WIDE * p;
  const down = (/** @type {number} */ nats) => PLOT_TOP + PLOT_HIGH * (1 - Math.min(MOST, nats) / MOST);
  const points = Array.from({ length: 60 }, (_, i) => Math.exp((-MOST * (59 - i)) / 59));
  const d = points.map((p, i) => `${i ? "L" : "M"}${across(p).toFixed(1)} ${down(-Math.log(p)).toFixed(1)}`).join("");
  /** @type {Mark[]} */
  const marks = [
    { key: "plot/axis", kind: "line", x: across(0), y: down(0), x2: across(1), y2: down(0), stroke: ink.muted },
    { key: "plot/side", kind: "line", x: across(0), y: down(0), x2: across(0), y2: down(MOST), stroke: ink.muted },
    { key: "plot/curve", kind: "path", d, stroke: ink.muted, width: 2 },
    { key: "plot/down", kind: "line", x: across(probability), y: TOP + (target + 0.5) * tall + barOf(tall) / 2, x2: across(probability), y2: down(loss), stroke: ink.primary, dash: "3 4", opacity: 0.5 },
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
