// The residual stream: a band that runs through the blocks; attention and MLP read from it and write into it.

import { bracketed, fixed, percent, replaced } from "../story/marks.js";
import { describeModel, modelMarks, modelTables } from "./block_model.js";

/** @import {Figure, Ink, Mark} from "../types" */
/** @import {ModelNumbers} from "./block_model.js" */

/**
 * @typedef {object} Numbers
 * @property {string} network
 * @property {string[]} letters
 * @property {number} place
 * @property {string} letter
 * @property {number[]} norms of the stream, before and after each layer
 * @property {number[]} reads norms of what each layer reads
 * @property {number[]} adds norms of what each layer adds
 * @property {boolean[]} off
 * @property {string[]} written
 * @property {number[]} shares
 * @property {boolean[]} right
 * @property {number} correct
 * @property {number} count
 * @property {{norm: string, sizes: number[], first: number, last: number, gradient: number}} stack
 * @property {{words: string[], rows: number[][], means: number[], deviations: number[], plain: number[][], out: number[][], gain: number, shift: number, out_means: number[], out_deviations: number[]}} normed
 * @property {{order: string, steps: {name: string, rows: number[][]}[], weights: number[][]}} small
 */

const [WIDTH, HEIGHT] = [560, 430];
const X = [30, 132, 234, 336, 438, 540]; // ends of the segments of the band
const [MIDDLE, TALLEST] = [218, 150]; // of the band, and its largest width
const [BOX, TALL] = [96, 44]; // of a layer
const [ABOVE, BELOW] = [62, 330];
const LAYERS = ["attention", "MLP", "attention", "MLP"];
/** @type {Record<string, string>} */
const NAMES = { x: "input x", attention: "self-attention", "feed-forward": "feed-forward", norm: "layer norm", "+": "add" };
const FIRST = /** @type {const} */ (["attention", "mlp", "blocks", "blocks"]); // step that shows a layer

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

/** Steps that show either network. */
const BOTH = /** @type {const} */ (["stream", "attention", "mlp", "blocks", "ablate"]);

const STEPS = /** @type {const} */ (["stream", "attention", "layernorm", "batch", "mlp", "ffn", "blocks", "ablate", "lens", "attribution", "norm", "encoder", "smallest", "training"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "choice", input: "network", label: "Network", options: [["smollm2", "SmolLM2: 30 blocks"], ["reverse", "reverses words: 2 blocks"]], on: [...BOTH], above: true },
    { kind: "text", input: "text", label: "Text", longest: 80, on: [...BOTH], network: "smollm2" },
    { kind: "text", input: "text", label: "Text", longest: 80, on: ["lens", "attribution"] },
    { kind: "choice", input: "way", label: "Remove", options: [["part", "a sub-layer"], ["path", "the residual connection around it"]], on: ["ablate"], network: "smollm2" },
    { kind: "choice", input: "activation", label: "Activation", options: [["relu", "ReLU"], ["gelu", "GELU"], ["silu", "SiLU"], ["tanh", "tanh"], ["sigmoid", "sigmoid"], ["softplus", "softplus"], ["leaky_relu", "leaky ReLU"]], on: ["ffn"] },
    { kind: "text", input: "word", label: "Word", longest: 12, on: [...BOTH], network: "reverse" },
    { kind: "slider", input: "gain", label: "γ", min: -3, max: 3, step: 0.1, from: "layernorm", until: "mlp" },
    { kind: "slider", input: "shift", label: "β", min: -3, max: 3, step: 0.1, from: "layernorm", until: "mlp" },
    { kind: "choice", input: "norm", label: "Norm", options: [["pre", "before the layer"], ["post", "after the sum"]], from: "norm", until: "encoder" },
    { kind: "choice", input: "order", label: "Norm", options: [["pre", "before the layer"], ["post", "after the sum"]], from: "encoder" },
  ],

  asks: ({ step }) => (isOneOf(BOTH, step) ? {} : { network: step === "lens" ? "smollm2" : "reverse" }),

  marks(/** @type {Numbers & ModelNumbers} */ numbers, moment) {
    const { step } = moment;
    if (isOfModel(numbers, step)) return modelMarks(numbers, moment);
    if (step === "layernorm") return normed(numbers, moment);
    if (step === "encoder") return small(numbers, moment);
    return step === "norm" ? stack(numbers, moment) : stream(numbers, moment);
  },

  describe(/** @type {Numbers & ModelNumbers} */ numbers, { step }) {
    if (isOfModel(numbers, step)) return describeModel(numbers, step);
    const { letter, norms, adds, off, written, stack: untrained, correct, count, normed: one, small: whole } = numbers;
    const list = (/** @type {number[]} */ values) => values.map((each) => fixed(each)).join(", ");
    if (step === "layernorm") return `Layer norm of two words: ${one.words.map((word, i) => `${word}, ${list(one.rows[i])}, has mean ${fixed(one.means[i])} and deviation ${fixed(one.deviations[i])} and becomes ${list(one.out[i])}`).join("; ")}.`;
    if (step === "encoder") return `A block of width 4, ${whole.order}-norm. ${one.words.map((word, i) => `${word}: ${whole.steps.map(({ name, rows }) => `${NAMES[name]} ${list(rows[i])}`).join("; ")}`).join(". ")}.`;
    if (step === "norm") return `Sizes of the states of eight untrained blocks, ${untrained.norm}-norm: ${untrained.sizes.map((each) => fixed(each)).join(", ")}.`;
    const parts = adds.map((each, i) => `${LAYERS[i]} of block ${i >> 1} ${off[i] ? "is off" : `adds a vector of norm ${fixed(each, 1)}`}, then ${fixed(norms[i + 1], 1)}`).join("; ");
    return `The residual stream of the letter ${letter}: norm ${fixed(norms[0], 1)} at first; ${parts}. The network writes ${written.join("")}: ${correct} of ${count} letters right.`;
  },

  tables(/** @type {Numbers & ModelNumbers} */ numbers) {
    const { norms, reads, adds, letters, written, shares, stack: untrained, normed: one, small: whole } = numbers;
    if (numbers.network === "smollm2") return modelTables(numbers);
    return [
      { title: "Norms in the stream", rows: LAYERS.map((name, i) => `${name}, block ${i >> 1}`), cols: ["before", "read", "added", "after"], values: LAYERS.map((_, i) => [norms[i], reads[i], adds[i], norms[i + 1]]) },
      { title: "What it writes", rows: letters, cols: ["written", "probability"], values: letters.map((_, i) => [written[i], shares[i]]) },
      { title: `Untrained stack, ${untrained.norm}-norm`, rows: untrained.sizes.map((_, i) => `after ${i} blocks`), cols: ["root mean square"], values: untrained.sizes.map((each) => [each]) },
      { title: "Layer norm", rows: one.words, cols: ["mean", "deviation", "y0", "y1", "y2", "y3"], values: one.words.map((_, i) => [one.means[i], one.deviations[i], ...one.out[i]]) },
      { title: `A block, ${whole.order}-norm`, rows: whole.steps.flatMap(({ name }) => one.words.map((word) => `${word}: ${NAMES[name]}`)), cols: ["0", "1", "2", "3"], values: whole.steps.flatMap(({ rows }) => rows) },
    ];
  },
};

/** @type {(names: readonly string[], step: string) => boolean} */
const isOneOf = (names, step) => names.includes(step);

/** Whether a step shows the language model. @type {(numbers: Numbers, step: string) => boolean} */
const isOfModel = ({ network }, step) => network === "smollm2" && isOneOf([...BOTH, "lens"], step);

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function stream(numbers, { reached, step, inputs, ink }) {
  const { letters, place, norms, reads, adds, off } = numbers;
  const writes = FIRST.map((name) => reached(name));
  const done = writes.filter(Boolean).length; // layers that have written
  const cutting = step === "ablate";
  const unit = TALLEST / Math.max(...norms); // width of the band for a norm of 1
  /** @type {Mark[]} */
  const marks = letters.flatMap((letter, i) => {
    const x = 92 + i * 38;
    const chosen = i === place;
    return /** @type {Mark[]} */ ([
      { key: `in${i}`, kind: "rect", x, y: 6, w: 34, h: 30, r: 6, fill: chosen ? ink.surface : ink.background, stroke: chosen ? ink.primary : ink.line, width: chosen ? 2.5 : 1, press: { label: `Follow letter ${i}, ${letter}`, pressed: chosen, patch: { place: i } } },
      { key: `in${i}/text`, kind: "text", x: x + 17, y: 21, text: letter.slice(0, 1), size: 17, bold: chosen, fill: ink.text },
    ]);
  });
  marks.push({ key: "in/name", kind: "text", x: 84, y: 21, text: "reads", size: 14, anchor: "end", fill: ink.muted });
  for (let i = 0; i <= 4; i++) {
    const norm = norms[Math.min(i, done)];
    const tall = unit * norm;
    marks.push({ key: `s${i}`, kind: "rect", x: X[i], y: MIDDLE - tall / 2, w: X[i + 1] - X[i], h: tall, fill: ink.line, tip: `The stream here has norm ${fixed(norm, 2)}` });
    if (i <= done) marks.push({ key: `s${i}/text`, kind: "text", x: (X[i] + X[i + 1]) / 2, y: MIDDLE, text: fixed(norm, 1), size: 16, bold: true, fill: ink.on(ink.line) });
  }
  LAYERS.forEach((name, i) => {
    const x = X[i + 1];
    const up = i % 2 === 0;
    const y = up ? ABOVE : BELOW;
    if (!writes[i]) {
      marks.push(
        { key: `b${i}`, kind: "rect", x: x - BOX / 2, y, w: BOX, h: TALL, r: 8, fill: ink.background, stroke: ink.line, width: 1.5, dash: "4 4", tip: "A later step: it will read from the stream, and write into it" },
        { key: `b${i}/text`, kind: "text", x, y: y + TALL / 2, text: name, size: 15, fill: ink.muted },
      );
      return;
    }
    const [edge, side] = up ? [y + TALL, -1] : [y, 1];
    const surface = (/** @type {number} */ at) => MIDDLE + (side * unit * norms[at]) / 2;
    const gone = off[i];
    const patch = { off: /** @type {number[]} */ (inputs.off).map((each, j) => (j === i ? 1 - each : each)) };
    marks.push(
      { key: `b${i}`, kind: "rect", x: x - BOX / 2, y, w: BOX, h: TALL, r: 8, fill: gone ? ink.background : ink.surface, stroke: gone ? ink.line : ink.text, width: 1.5, dash: gone ? "4 4" : undefined, ...(cutting ? { press: { label: `${name} of block ${i >> 1}: ${gone ? "off" : "on"}`, pressed: !gone, patch } } : {}) },
      { key: `b${i}/text`, kind: "text", x, y: y + TALL / 2, text: gone ? `${name} off` : name, size: 15, bold: true, fill: gone ? ink.muted : ink.text },
    );
    if (gone) return;
    marks.push(
      { key: `r${i}`, kind: "arrow", x: x - 36, y: surface(i), x2: x - 36, y2: edge - side * 3, stroke: ink.muted, width: 2, tip: `It reads the normalised stream: norm ${fixed(reads[i], 2)}` },
      { key: `w${i}`, kind: "rect", x: x + 24 - adds[i] * 0.7, y: Math.min(edge, surface(i + 1)), w: adds[i] * 1.4, h: Math.abs(edge - surface(i + 1)), fill: ink.primary, opacity: 0.45, tip: `It adds a vector of norm ${fixed(adds[i], 2)}` },
      { key: `w${i}/run`, kind: "curve", x: x + 24, y: edge, x2: x + 24, y2: surface(i + 1), bend: "v", stroke: ink.background, width: 2, flow: true },
      { key: `w${i}/text`, kind: "text", x: x + 42, y: edge - side * 22, text: `+ ${fixed(adds[i], 1)}`, size: 15, bold: true, anchor: "start", fill: ink.primary },
    );
    marks.push({ key: `r${i}/text`, kind: "text", x: x - 42, y: edge - side * 22, text: "norm", size: 13, anchor: "end", fill: ink.muted });
  });
  if (step === "stream")
    [0, 1].forEach((block) => {
      const middle = (X[2 * block + 1] + X[2 * block + 2]) / 2;
      const edge = MIDDLE - (unit * norms[0]) / 2; // of the band
      marks.push(
        { key: `block${block}`, kind: "path", d: `M${X[2 * block + 1] - BOX / 2} 140V132H${X[2 * block + 2] + BOX / 2 - 8}V140`, stroke: ink.line, width: 1.5 },
        { key: `block${block}/name`, kind: "text", x: middle, y: Math.min(154, edge - 12), text: `block ${block}`, size: 14, fill: ink.muted },
      );
    });
  if (step === "stream") marks.push({ key: "stream/name", kind: "text", x: X[0], y: MIDDLE + (unit * norms[0]) / 2 + 18, text: "embedding + position", size: 14, anchor: "start", fill: ink.muted });
  if (reached("blocks")) marks.push(...answer(numbers, ink));
  return marks;
}

/** @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function answer({ letters, place, written: words, shares, right, correct, count }, ink) {
  /** @type {Mark[]} */
  const marks = [
    { key: "out/name", kind: "text", x: 84, y: 407, text: "writes", size: 14, anchor: "end", fill: ink.muted },
    { key: "out/count", kind: "text", x: 28, y: 380, text: `${correct} of ${count} right`, size: 14, bold: true, anchor: "start", fill: ink.text },
  ];
  letters.forEach((_, i) => {
    const x = 92 + i * 38;
    marks.push(
      { key: `out${i}`, kind: "rect", x, y: 392, w: 34, h: 30, r: 6, fill: right[i] ? ink.surface : ink.background, stroke: i === place ? ink.primary : right[i] ? ink.muted : ink.line, width: i === place ? 2.5 : 1, dash: right[i] ? undefined : "3 3", tip: `“${words[i]}” with probability ${percent(shares[i])}: ${right[i] ? "right" : "wrong"}` },
      { key: `out${i}/text`, kind: "text", x: x + 17, y: 407, text: words[i].slice(0, 1), size: 17, bold: right[i], fill: right[i] ? ink.text : ink.muted },
    );
  });
  return marks;
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function stack({ stack: { norm, sizes, gradient } }, { ink }) {
  const wide = 500 / sizes.length;
  /** @type {Mark[]} */
  const marks = [
    { key: "stack/title", kind: "text", x: 30, y: 40, text: `Eight untrained blocks, ${norm}-norm`, size: 17, bold: true, anchor: "start", fill: ink.text },
    { key: "stack/what", kind: "text", x: 30, y: 64, text: "root mean square of the stream", size: 14, anchor: "start", fill: ink.muted },
    { key: "stack/axis", kind: "text", x: 280, y: 350, text: "after block", size: 14, fill: ink.muted },
    { key: "stack/gradient", kind: "text", x: 30, y: 392, text: `gradient of the last block: ${fixed(gradient, 3)}`, size: 16, bold: true, anchor: "start", fill: ink.text },
  ];
  sizes.forEach((size, i) => {
    const tall = 58 * size;
    const x = 30 + i * wide;
    marks.push(
      { key: `s${i}`, kind: "rect", x, y: 200 - tall / 2, w: wide, h: tall, fill: ink.line, tip: `After ${i} blocks: ${fixed(size, 3)}` },
      { key: `s${i}/text`, kind: "text", x: x + wide / 2, y: 200, text: fixed(size), size: 15, bold: true, fill: ink.on(ink.line) },
      { key: `stack${i}`, kind: "text", x: x + wide / 2, y: 326, text: i ? String(i) : "input", size: 14, fill: ink.muted },
    );
  });
  return marks;
}

/** A cell of two words' features whose number can be typed. @type {(moment: Moment, word: string, at: number, value: number) => Mark["edit"]} */
const typed = ({ inputs }, word, at, value) => ({ label: `${word}, feature ${at % 4}`, value, apply: (next) => ({ x: replaced(inputs.x, at, next) }) });

/**
 * Two words before and after a layer norm: bars, the mean as a line, one deviation to either side as a band.
 *
 * @type {(numbers: Numbers, moment: Moment) => Mark[]}
 */
function normed({ normed: { words, rows, means, deviations, plain, out, gain, shift, out_means: centres, out_deviations: spreads } }, moment) {
  const { ink } = moment;
  const [cell, tall, half] = [58, 28, 52];
  /** @type {Mark[]} */
  const marks = [];
  /** @type {(key: string, word: number, values: number[], top: number, mean: number, deviation: number, tip: (i: number) => string, editable: boolean) => void} */
  const panel = (key, word, values, top, mean, deviation, tip, editable) => {
    const left = 20 + word * 278;
    const zero = top + half;
    const unit = half / Math.max(2, ...values.map(Math.abs), Math.abs(mean) + deviation);
    const wide = 4 * cell;
    marks.push(
      { key: `${key}/band`, kind: "rect", x: left, y: zero - unit * (mean + deviation), w: wide, h: 2 * unit * deviation, fill: ink.line, opacity: 0.55 },
      { key: `${key}/zero`, kind: "line", x: left, y: zero, x2: left + wide, y2: zero, stroke: ink.muted },
    );
    values.forEach((value, i) => {
      const x = left + i * cell;
      const fill = ink.signed(Math.max(-1, Math.min(1, value / 2)));
      const y = top + 2 * half + 8;
      marks.push(
        { key: `${key}/bar${i}`, kind: "rect", x: x + 16, y: zero - unit * Math.max(0, value), w: cell - 32, h: Math.max(1, unit * Math.abs(value)), fill: ink.muted },
        { key: `${key}/${i}`, kind: "rect", x, y, w: cell, h: tall, fill, stroke: ink.line, tip: tip(i), of: editable ? undefined : values.map((_, j) => `a${word}/${j}`), edit: editable ? typed(moment, words[word], 4 * word + i, value) : undefined },
        { key: `${key}/${i}/number`, kind: "text", x: x + cell / 2, y: y + tall / 2, text: fixed(value), size: 15, fill: ink.on(fill) },
      );
    });
    marks.push(
      { key: `${key}/mean`, kind: "line", x: left, y: zero - unit * mean, x2: left + wide, y2: zero - unit * mean, stroke: ink.primary, width: 2.5 },
      { key: `${key}/said`, kind: "text", x: left, y: top + 2 * half + tall + 26, text: `mean ${fixed(mean)} · deviation ${fixed(deviation)}`, size: 14, anchor: "start", fill: ink.primary, bold: true },
    );
  };
  words.forEach((word, w) => {
    marks.push({ key: `ln/word${w}`, kind: "text", x: 20 + w * 278, y: 12, text: word, size: 17, bold: true, anchor: "start", fill: ink.text });
    panel(`a${w}`, w, rows[w], 26, means[w], deviations[w], (i) => `a${i} = ${fixed(rows[w][i])}: press to change it`, true);
    panel(`y${w}`, w, out[w], 236, centres[w], spreads[w], (i) => `${bracketed(fixed(gain))} · (${fixed(rows[w][i])} − ${bracketed(fixed(means[w]))}) / ${fixed(deviations[w])} + ${bracketed(fixed(shift))} = ${bracketed(fixed(gain))} · ${bracketed(fixed(plain[w][i], 3))} + ${bracketed(fixed(shift))} = ${fixed(out[w][i], 3)}`, false);
    marks.push({ key: `ln/arrow${w}`, kind: "arrow", x: 20 + w * 278 + 2 * cell, y: 198, x2: 20 + w * 278 + 2 * cell, y2: 228, stroke: ink.muted, width: 2 });
    marks.push({ key: `ln/name${w}`, kind: "text", x: 20 + w * 278 + 2 * cell + 14, y: 214, text: "layer norm", size: 14, anchor: "start", fill: ink.muted });
  });
  return marks;
}

/**
 * Two words through one block: the vector of each after every step.
 *
 * @type {(numbers: Numbers, moment: Moment) => Mark[]}
 */
function small({ normed: { words }, small: { order, steps, weights } }, moment) {
  const { ink } = moment;
  const [cell, tall, pitch] = [41, 28, 59];
  const left = (/** @type {number} */ w) => 148 + w * 212;
  const top = (/** @type {number} */ i) => 32 + i * pitch;
  const back = order === "post" ? 2 : 3; // steps from a sum to what is added to it again
  const read = order === "post" ? 0 : 1; // the step that attention reads
  const cellsOf = (/** @type {number} */ w, /** @type {number} */ i) => [0, 1, 2, 3].map((f) => `sm${w}.${i}.${f}`);
  /** @type {(name: string, w: number, i: number, f: number) => string[]} */
  const sources = (name, w, i, f) => {
    if (name === "+") return [`sm${w}.${i - 1}.${f}`, `sm${w}.${i - back}.${f}`];
    if (name === "attention") return words.flatMap((_, j) => cellsOf(j, i - 1));
    return i ? cellsOf(w, i - 1) : [];
  };
  /** @type {Mark[]} */
  const marks = [];
  steps.forEach(({ name }, i) => {
    marks.push({ key: `step${i}`, kind: "text", x: 8, y: top(i) + tall / 2, text: name === "+" ? "add" : NAMES[name], size: 15, bold: name === "attention" || name === "feed-forward", anchor: "start", fill: ink.text });
  });
  words.forEach((word, w) => {
    marks.push({ key: `sm/word${w}`, kind: "text", x: left(w) + 2 * cell, y: 12, text: word, size: 16, bold: true, fill: ink.text });
    steps.forEach(({ name, rows }, i) => {
      if (name === "attention")
        words.forEach((from, j) => {
          const weight = weights[w][j];
          marks.push({ key: `sm/a${w}.${j}`, kind: "curve", x: left(j) + 2 * cell, y: top(read) + tall + 2, x2: left(w) + 2 * cell, y2: top(i) - 2, bend: "v", stroke: ink.term.weight, width: 1 + 9 * weight, opacity: 0.7, term: "weight", tip: `“${word}” gives “${from}” a weight of ${fixed(weight, 3)}` });
        });
      else if (i) marks.push({ key: `sm/to${w}.${i}`, kind: "arrow", x: left(w) + 2 * cell, y: top(i - 1) + tall + 3, x2: left(w) + 2 * cell, y2: top(i) - 3, stroke: ink.muted, width: 1.8 });
      if (name === "+") {
        const [x, from, to] = [left(w) + 4 * cell, top(i - back) + tall / 2, top(i) + tall / 2];
        marks.push({ key: `sm/back${w}.${i}`, kind: "path", d: `M${x + 2} ${from}H${x + 14}V${to}H${x + 3}M${x + 8} ${to - 4}L${x + 3} ${to}L${x + 8} ${to + 4}`, stroke: ink.primary, width: 2, tip: "The residual connection: what went into the layer is added to what came out" });
      }
      rows[w].forEach((value, f) => {
        const fill = ink.signed(Math.max(-1, Math.min(1, value / 2)));
        const before = steps[Math.max(0, i - 1)].rows[w];
        marks.push(
          { key: `sm${w}.${i}.${f}`, kind: "rect", x: left(w) + f * cell, y: top(i), w: cell, h: tall, fill, stroke: ink.line, tip: said(name, value, before, f, name === "+" ? steps[i - back].rows[w][f] : 0), of: sources(name, w, i, f), edit: i ? undefined : typed(moment, word, 4 * w + f, value) },
          { key: `sm${w}.${i}.${f}/number`, kind: "text", x: left(w) + (f + 0.5) * cell, y: top(i) + tall / 2, text: fixed(value), size: 14, fill: ink.on(fill) },
        );
      });
    });
  });
  return marks;
}

/** How a number of the block comes about. @type {(name: string, value: number, before: number[], at: number, added: number) => string} */
function said(name, value, before, at, added) {
  if (name === "+") return `${fixed(added, 3)} + ${bracketed(fixed(before[at], 3))} = ${fixed(value, 3)}`;
  if (name === "norm") return `${fixed(before[at], 3)}, minus the mean of these four, over their deviation: ${fixed(value, 3)}`;
  if (name === "attention") return `Values of both words, weighted, and projected: ${fixed(value, 3)}`;
  if (name === "feed-forward") return `4 → 8 → 4 features, with a ReLU between: ${fixed(value, 3)}`;
  return `Input: ${fixed(value, 3)}. Press to change it`;
}
