// The way from the first token to the last: through every state, through layers of windows, or at once.

import { fixed, power } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/** @typedef {"recurrence" | "convolution" | "attention"} Kind */

/**
 * @typedef {object} Numbers
 * @property {number} tokens
 * @property {number} kernel
 * @property {number} width
 * @property {Record<Kind, number[]>} hops positions passed from the first token to the last
 * @property {Record<Kind, number>} count of hops
 * @property {boolean[][]} seen what the last output depends on, by layer of the convolution
 * @property {Record<Kind, {work: number, steps: number}>} costs
 * @property {Record<"recurrence" | "attention", {sizes: number[], ratio: number}>} influence
 * @property {number[]} kept of the first token in each state of the recurrence
 */

const [WIDTH, HEIGHT] = [560, 430];
const [LEFT, RIGHT] = [20, 540];
const BOTTOM = 394; // of the row of tokens
const [TOP, UPPER] = [96, 210]; // of the picture above the tokens; of states and outputs
const KINDS = /** @type {const} */ (["recurrence", "convolution", "attention"]);
const FORMULAS = { recurrence: "n · d^{2}", convolution: "k · n · d^{2}", attention: "n^{2} · d" };
const WORDS = "Keys near the old cabinet that stood in the dark back hall".split(" "); // more have no room
const LEAST = 0.01; // smaller ratios are written as powers of ten

const STEPS = /** @type {const} */ (["recurrence", "convolution", "attention", "cost", "influence", "agree"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "sentence", label: "Text", longest: 80, on: ["agree"] },
    { kind: "slider", input: "tokens", label: "Tokens n", min: 2, max: 20, step: 1 },
    { kind: "choice", input: "kernel", label: "Window k", options: [["3", "3"], ["5", "5"], ["7", "7"]], from: "convolution", until: "influence" },
    { kind: "slider", input: "width", label: "Width d", min: 4, max: 64, step: 1, from: "cost", until: "influence" },
    { kind: "slider", input: "gain", label: "Gain g", min: 0.5, max: 1.2, step: 0.05, from: "influence" },
    { kind: "choice", input: "activation", label: "Activation", options: [["tanh", "tanh"], ["none", "none"]], from: "influence" },
  ],

  marks(/** @type {Numbers} */ numbers, { step, ink }) {
    const { tokens } = numbers;
    if (step === "cost") return costs(numbers, ink);
    const { at, r } = grid(tokens);
    /** @type {Mark[]} */
    const marks = [];
    if (step === "recurrence") marks.push(...recurrence(numbers, ink));
    else if (step === "convolution") marks.push(...convolution(numbers, ink));
    else if (step === "attention") marks.push(...attention(numbers, ink));
    else marks.push(...influence(numbers, ink));
    for (let i = 0; i < tokens; i++) {
      const end = i === 0 || i === tokens - 1;
      marks.push(
        { key: `t${i}`, kind: "circle", x: at(i), y: BOTTOM, r, fill: ink.surface, stroke: end ? ink.primary : ink.muted, width: end ? 2.5 : 1 },
        { key: `t${i}/text`, kind: "text", x: at(i), y: BOTTOM, text: String(i), size: 13, bold: end },
      );
      if (step !== "influence" && tokens <= WORDS.length)
        marks.push({ key: `t${i}/word`, kind: "text", x: at(i), y: BOTTOM + 27, text: WORDS[i], size: 12, fill: end ? ink.text : ink.muted });
    }
    return marks;
  },

  describe(/** @type {Numbers} */ { tokens, kernel, width, count, costs: work, influence: reached }, { step }) {
    if (step === "influence")
      return `Influence of the first of ${tokens} tokens on the last output, as a share of the last token's: recurrence ${reached.recurrence.ratio.toPrecision(2)}, attention ${reached.attention.ratio.toPrecision(2)}.`;
    if (step === "cost") return `One layer over ${tokens} tokens of width ${width}: ${KINDS.map((kind) => `${kind} ${work[kind].work} operations, ${work[kind].steps} in sequence`).join("; ")}.`;
    if (step === "attention") return `${tokens} tokens; attention connects the first with the last in one hop.`;
    if (step === "convolution") return `${tokens} tokens; with a window of ${kernel}, the first is connected with the last by ${count.convolution} layers.`;
    return `${tokens} tokens; a recurrence passes ${count.recurrence} updates of its state from the first to the last.`;
  },

  tables(/** @type {Numbers} */ { count, costs: work, influence: { recurrence: chain, attention: direct } }) {
    return [
      { title: "Hops and costs", rows: [...KINDS], cols: ["hops", "operations", "sequential steps"], values: KINDS.map((kind) => [count[kind], work[kind].work, work[kind].steps]) },
      { title: "Influence on the last output", rows: chain.sizes.map((_, i) => `token ${i}`), cols: ["recurrence", "attention"], values: chain.sizes.map((size, i) => [size.toExponential(3), direct.sizes[i]]) },
    ];
  },
};

/** @param {number} tokens */
function grid(tokens) {
  const room = (RIGHT - LEFT) / tokens;
  return { at: (/** @type {number} */ i) => LEFT + (i + 0.5) * room, r: Math.min(17, room * 0.36) };
}

/** @type {(count: number, unit: string, name: string, ink: Ink) => Mark[]} */
function title(count, unit, name, ink) {
  return [
    { key: "title", kind: "text", x: WIDTH / 2, y: 24, text: `${count} ${unit}${count === 1 ? "" : "s"}`, size: 24, bold: true, fill: ink.primary },
    { key: "title/name", kind: "text", x: WIDTH / 2, y: 52, text: name, size: 14, fill: ink.muted },
  ];
}

/**
 * @param {Numbers} numbers
 * @param {Ink} ink
 */
function recurrence({ tokens, count, hops, kept }, ink) {
  const { at, r } = grid(tokens);
  const marks = title(count.recurrence, "hop", `recurrence: from state to state, 0 to ${tokens - 1}`, ink);
  marks.push({ key: "in0", kind: "arrow", x: at(0), y: BOTTOM - r - 2, x2: at(0), y2: UPPER + r + 2, stroke: ink.primary, width: 2.5 });
  for (let i = 1; i < tokens; i++) marks.push({ key: `in${i}`, kind: "arrow", x: at(i), y: BOTTOM - r - 2, x2: at(i), y2: UPPER + r + 2, stroke: ink.line });
  hops.recurrence.slice(1).forEach((to, i) => marks.push({ key: `hop${i}`, kind: "arrow", x: at(hops.recurrence[i]) + r, y: UPPER, x2: at(to) - r - 1, y2: UPPER, stroke: ink.primary, width: 2.5 }));
  const states = row("state", tokens, ink).map((state, t) => ({ ...state, fill: ink.weight(Math.min(1, kept[t])), tip: `After token ${t}, the first token counts ${short(kept[t])} times as much as at first` }));
  return [...marks, ...states, { key: "state/name", kind: /** @type {const} */ ("text"), x: LEFT, y: UPPER - 38, anchor: /** @type {const} */ ("start"), text: "states h: a stronger colour keeps more of the first token", size: 13, fill: ink.muted }];
}

/**
 * States or outputs above the tokens.
 *
 * @param {string} key
 * @param {number} tokens
 * @param {Ink} ink
 * @returns {Mark[]}
 */
function row(key, tokens, ink) {
  const { at, r } = grid(tokens);
  return Array.from({ length: tokens }, (_, i) => ({ key: `${key}${i}`, kind: "circle", x: at(i), y: UPPER, r, fill: ink.background, stroke: i === tokens - 1 ? ink.primary : ink.muted, width: i === tokens - 1 ? 2.5 : 1 }));
}

/**
 * @param {Numbers} numbers
 * @param {Ink} ink
 */
function convolution({ tokens, kernel, count, hops, seen }, ink) {
  const { at, r } = grid(tokens);
  const layers = count.convolution;
  const first = BOTTOM - r - 22; // y of the first layer
  const room = Math.min(60, (first - TOP) / Math.max(1, layers - 1));
  const y = (/** @type {number} */ layer) => (layer ? first - (layer - 1) * room : BOTTOM);
  const dot = Math.max(3, Math.min(r * 0.6, room * 0.3));
  const edge = (/** @type {number} */ layer) => (layer ? dot : r); // the tokens are larger
  const marks = title(layers, "layer", `convolution, window of ${kernel}: 0 to ${tokens - 1}`, ink);
  const path = hops.convolution;
  path.slice(1).forEach((to, i) => {
    for (let from = Math.max(0, to - (kernel >> 1)); from <= Math.min(tokens - 1, to + (kernel >> 1)); from++)
      if (from !== path[i]) marks.push({ key: `fan${i}.${from - to}`, kind: "line", x: at(from), y: y(i) - edge(i), x2: at(to), y2: y(i + 1), stroke: ink.line });
    marks.push({ key: `hop${i}`, kind: "line", x: at(path[i]), y: y(i) - edge(i), x2: at(to), y2: y(i + 1) + dot, stroke: ink.primary, width: 3, flow: true });
  });
  for (let layer = 1; layer <= layers; layer++)
    for (let i = 0; i < tokens; i++) {
      const last = layer === layers;
      const counts = last ? i === tokens - 1 : seen[layer][i];
      const passed = path[layer] === i;
      marks.push({ key: `dot${layer}.${i}`, kind: "circle", x: at(i), y: y(layer), r: dot, fill: passed ? ink.primary : counts ? ink.muted : ink.background, stroke: passed ? ink.primary : counts ? ink.muted : ink.line });
    }
  return marks;
}

/**
 * @param {Numbers} numbers
 * @param {Ink} ink
 */
function attention({ tokens, count }, ink) {
  const { at, r } = grid(tokens);
  const marks = title(count.attention, "hop", `attention: 0 to ${tokens - 1}`, ink);
  const line = (/** @type {number} */ i) => ({ kind: /** @type {const} */ ("line"), x: at(i), y: BOTTOM - r, x2: at(tokens - 1), y2: UPPER + r });
  for (let i = 1; i < tokens; i++) marks.push({ ...line(i), key: `link${i}`, stroke: ink.muted, width: 1, opacity: 0.6 });
  marks.push({ ...line(0), key: "hop0", stroke: ink.primary, width: 3, flow: true });
  return [...marks, ...row("state", tokens, ink), { key: "state/name", kind: /** @type {const} */ ("text"), x: LEFT, y: UPPER - 38, anchor: /** @type {const} */ ("start"), text: "outputs", size: 13, fill: ink.muted }];
}

/**
 * @param {Numbers} numbers
 * @param {Ink} ink
 */
function costs({ tokens, kernel, width, count, costs: byKind }, ink) {
  const most = Math.max(...KINDS.map((kind) => byKind[kind].work));
  /** @type {Mark[]} */
  const marks = [{ key: "cost/title", kind: "text", x: WIDTH / 2, y: 24, text: `One layer: n = ${tokens}, d = ${width}, k = ${kernel}`, size: 16, bold: true }];
  KINDS.forEach((kind, i) => {
    const y = 84 + i * 116;
    const { work, steps } = byKind[kind];
    marks.push(
      { key: `${kind}/name`, kind: "text", x: LEFT, y, anchor: "start", text: kind, size: 16, bold: true },
      { key: `${kind}/formula`, kind: "text", x: 150, y, anchor: "start", text: FORMULAS[kind], size: 15, fill: ink.muted },
      { key: `${kind}/hops`, kind: "text", x: RIGHT, y, anchor: "end", text: `${steps} in sequence · path ${count[kind]}`, size: 14, fill: ink.muted },
      { key: `${kind}/bar`, kind: "rect", x: LEFT, y: y + 18, w: Math.max(1, 410 * (work / most)), h: 26, r: 4, fill: ink.muted, opacity: 0.6 },
      { key: `${kind}/work`, kind: "text", x: LEFT + 8 + Math.max(1, 410 * (work / most)), y: y + 31, anchor: "start", text: work.toLocaleString("en"), size: 15 },
    );
  });
  marks.push({ key: "cost/unit", kind: "text", x: WIDTH / 2, y: HEIGHT - 18, text: "operations, up to a constant factor", size: 13, fill: ink.muted });
  return marks;
}

/**
 * @param {Numbers} numbers
 * @param {Ink} ink
 */
function influence({ tokens, influence: sizesBy }, ink) {
  const { at, r } = grid(tokens);
  const kinds = /** @type {const} */ (["recurrence", "attention"]);
  return kinds.flatMap((kind, n) => {
    const { sizes, ratio } = sizesBy[kind];
    const [base, tall] = [186 + n * 172, 110];
    const most = Math.max(...sizes);
    /** @type {Mark[]} */
    const marks = [
      { key: `${kind}/name`, kind: "text", x: LEFT, y: base - tall - 32, anchor: "start", text: kind, size: 15, bold: true },
      { key: `${kind}/ratio`, kind: "text", x: RIGHT, y: base - tall - 32, anchor: "end", text: `first token : last token = ${short(ratio)}`, size: 14 },
      { key: `${kind}/base`, kind: "line", x: LEFT, y: base, x2: RIGHT, y2: base, stroke: ink.line },
    ];
    sizes.forEach((size, i) => {
      const high = Math.max(0.5, tall * (size / most));
      marks.push({ key: `${kind}/bar${i}`, kind: "rect", x: at(i) - r * 0.8, y: base - high, w: r * 1.6, h: high, r: 2, fill: i === 0 ? ink.primary : ink.muted, tip: `${kind}, token ${i}: ${short(size)}` });
    });
    return marks;
  });
}

/**
 * A positive number, in powers of ten where it is small.
 *
 * @param {number} value
 */
function short(value) {
  return value >= LEAST || value === 0 ? fixed(value, 3) : power(value, 1);
}
