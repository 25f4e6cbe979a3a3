// Encoder and decoder: a date is read at once and written a character at a time.

import { fixed, percent } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/** @typedef {{stream: number[], adds: number[]}} Stack norms of a vector in the stream, and of what each layer adds */

/**
 * @typedef {object} Numbers
 * @property {string[]} source
 * @property {string[]} target begin symbol and what is written, to the end
 * @property {string[]} chosen at each position, the character after it
 * @property {number} written
 * @property {number} at
 * @property {number[]} self weights of the character at `at`, in the encoder
 * @property {number[]} causal weights of the position that predicts, in the decoder
 * @property {number[][]} cross
 * @property {{token: string, at: number, weight: number}} most
 * @property {{token: string, share: number}[]} best
 * @property {string} iso
 * @property {string} now
 * @property {{encoder: Stack, memory: number, decoder: Stack, off: boolean[], best: {token: string, share: number}[], guesses: string[], right: boolean[], correct: number, count: number}} stacks
 * @property {{encoder: number, decoder: number}} six parameters of a block
 * @property {{length: number, width: number, scores: number, sums: number, projections: number, total: number, equal: number}} cost
 */

const [WIDTH, HEIGHT] = [560, 420];
const [SOURCE, STATES, TARGET] = [48, 122, 290]; // middles of the rows
const [TALL, CELL] = [28, 44];
const LEAST = 0.01; // weights below it get no line
const GRID = 82; // top of the alignment's cells
const ENCODER = ["self-attention", "feed-forward"];
const DECODER = ["masked attention", "cross-attention", "feed-forward"];
const BLOCKS = 6; // on each side of the first transformer
const [LAYER, UNIT] = [44, 1.5]; // height of a layer, and width of a stream for a norm of 1

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["encode", "cross", "write", "kinds", "align", "cut", "crossing", "grows", "spoken", "whole", "inside", "sharing", "cost"]);

const WORDS = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired."]; // of the recording

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "sentence", label: "English", longest: 80, on: ["grows"] },
    { kind: "choice", input: "word", label: "Word", options: WORDS.map((word, i) => [String(i), word]), on: ["spoken"] },
    { kind: "choice", input: "network", label: "Network", options: [["dates", "one block each"], ["six", "six, as in 2017"]], on: ["whole"] },
    { kind: "text", input: "date", label: "A date", longest: 24, until: "cost" },
    { kind: "choice", input: "head", label: "Head", options: [["0", "0"], ["1", "1"], ["2", "2"], ["3", "3"]], until: "whole" },
    { kind: "slider", input: "written", label: "Characters written", min: 0, max: 10, step: 1, plays: true, from: "write", until: "cost" },
    { kind: "slider", input: "length", label: "Tokens n", min: 2, max: 2048, step: 1, log: true, from: "cost" },
    { kind: "slider", input: "width", label: "Width d", min: 16, max: 1024, step: 1, log: true, from: "cost" },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    if (moment.step === "cost") return costs(numbers, moment.ink);
    if (moment.step === "align") return alignment(numbers, moment.ink);
    if (isStacked(moment)) return sixBlocks(numbers, moment.ink);
    if (moment.step === "whole" || moment.step === "inside") return towers(numbers, moment);
    const marks = encoder(numbers, moment);
    if (moment.reached("cross")) marks.push(...decoder(numbers, moment));
    return marks;
  },

  describe(/** @type {Numbers} */ { source, target, written, now, most, iso, cost, at, self, stacks, six }, moment) {
    const { step } = moment;
    if (isStacked(moment)) return `Six encoder blocks of ${grouped(six.encoder)} parameters each, one above the other, and six decoder blocks of ${grouped(six.decoder)}. The output of the last encoder block goes to the cross-attention of every decoder block.`;
    if (step === "cost")
      return `Multiplications of one layer for ${cost.length} tokens of width ${cost.width}: ${cost.scores} for the scores, ${cost.sums} for the weighted sums, ${cost.projections} for the projections.`;
    const read = `The encoder has read ${source.join("")}.`;
    if (step === "whole" || step === "inside") {
      const said = (/** @type {Stack} */ { stream, adds }, /** @type {string[]} */ names) => `${names.map((name, i) => `${name} adds ${fixed(adds[i], 1)}, then ${fixed(stream[i + 1], 1)}`).join("; ")}`;
      return `The whole transformer, as norms of vectors. Encoder, at ${most.token}: ${fixed(stacks.encoder.stream[0], 1)}; ${said(stacks.encoder, ENCODER)}. Its output goes to the cross-attention. Decoder, where ${now} is written: ${fixed(stacks.decoder.stream[0], 1)}; ${said(stacks.decoder, DECODER)}. Predicted: ${stacks.guesses.join("")}, ${stacks.correct} of ${stacks.count} right.`;
    }
    if (step === "encode") return `${read} The character ${source[at]} gives itself a weight of ${fixed(self[at])}.`;
    const done = target.slice(1, written + 1).join("");
    if (step === "align") return `${read} Cross-attention of every character of ${iso}, as a grid of weights.`;
    return `${read} The decoder has written ${done || "nothing"}; next it writes ${now}, and attends most to ${most.token} at position ${most.at}, with a weight of ${fixed(most.weight)}.`;
  },

  tables(/** @type {Numbers} */ { source, target, cross, causal, self, at, best, cost, stacks }) {
    return [
      { title: "Cross-attention", rows: target, cols: source, values: cross },
      { title: "The decoder on itself", rows: [target[causal.length - 1]], cols: target.slice(0, causal.length), values: [causal] },
      { title: "The encoder on itself", rows: [source[at]], cols: source, values: [self] },
      { title: "Next character", rows: best.map(({ token }) => token), cols: ["probability"], values: best.map(({ share }) => [share]) },
      { title: "Norms in the encoder", rows: ENCODER, cols: ["before", "added", "after"], values: ENCODER.map((_, i) => [stacks.encoder.stream[i], stacks.encoder.adds[i], stacks.encoder.stream[i + 1]]) },
      { title: "Norms in the decoder", rows: DECODER, cols: ["before", "added", "after"], values: DECODER.map((_, i) => [stacks.decoder.stream[i], stacks.decoder.adds[i], stacks.decoder.stream[i + 1]]) },
      { title: "Multiplications", rows: ["Q Kᵀ", "A V", "projections", "in all"], cols: ["number"], values: [[cost.scores], [cost.sums], [cost.projections], [cost.total]] },
    ];
  },
};

/** Width of a character that was read, and where its middle is. @type {(source: string[]) => [number, (i: number) => number]} */
function across(source) {
  const wide = Math.min(32, (WIDTH - 12) / source.length);
  const left = (WIDTH - wide * source.length) / 2;
  return [wide, (i) => left + (i + 0.5) * wide];
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function encoder({ source, self, at, most }, { step, ink }) {
  const [wide, middle] = across(source);
  const reading = step === "encode";
  /** @type {Mark[]} */
  const marks = [
    { key: "source/name", kind: "text", x: middle(0) - wide / 2, y: 16, text: "read by the encoder, all at once", size: 13, anchor: "start", fill: ink.muted },
    { key: "states/name", kind: "text", x: middle(source.length - 1) + wide / 2, y: (SOURCE + STATES) / 2 + 3, text: "keys and values", size: 13, anchor: "end", fill: ink.term.key, term: "key", opacity: reading ? 0 : 1 },
  ];
  source.forEach((token, i) => {
    if (reading && self[i] >= LEAST)
      marks.push({
        ...{ key: `self${i}`, kind: "curve", x: middle(i), y: SOURCE + 15, x2: middle(at), y2: STATES - 12, bend: "v", stroke: ink.term.weight, width: 1 + 9 * self[i], opacity: 0.35 + 0.5 * self[i] },
        ...{ term: "weight", tip: `“${source[at]}” gives “${token}” a weight of ${fixed(self[i], 4)}` },
      });
  });
  source.forEach((token, i) => {
    const chosen = reading ? i === at : i === most.at;
    marks.push(
      {
        ...{ key: `s${i}`, kind: "rect", x: middle(i) - wide / 2 + 1, y: SOURCE - 15, w: wide - 2, h: 30, r: 4, fill: ink.surface, stroke: chosen ? ink.primary : ink.line, width: chosen ? 2.5 : 1 },
        ...{ press: reading ? { label: `Character ${i}: ${token}`, pressed: chosen, patch: { at: i } } : undefined },
      },
      { key: `s${i}/text`, kind: "text", x: middle(i), y: SOURCE, text: token, size: 16, fill: token === "␣" ? ink.muted : ink.text },
      { key: `e${i}`, kind: "rect", x: middle(i) - wide / 2 + 3, y: STATES - 12, w: wide - 6, h: 24, r: 5, fill: ink.background, stroke: ink.term.key, width: reading && i === at ? 3 : 1.4, term: "key" },
    );
  });
  return marks;
}

/** The cells of what is written, and the one being written. @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function decoder({ source, target, written, cross, causal, best, now, most }, { step, reached, ink }) {
  const [, middle] = across(source);
  const left = 26;
  const at = (/** @type {number} */ i) => left + i * CELL + CELL / 2;
  const writing = Math.min(written + 1, 11);
  /** @type {Mark[]} */
  const marks = [];
  cross[written].forEach((weight, i) => {
    if (weight < LEAST) return;
    marks.push({
      ...{ key: `c${i}`, kind: "curve", x: at(written), y: TARGET - 16, x2: middle(i), y2: STATES + 13, bend: "v", stroke: ink.term.weight, width: 1 + 11 * weight, opacity: 0.35 + 0.55 * weight },
      ...{ term: "weight", tip: `While “${now}” is written, “${source[i]}” has a weight of ${fixed(weight, 4)}` },
    });
  });
  if (step === "kinds")
    causal.forEach((weight, i) => {
      if (weight < LEAST) return;
      const [a, b] = [at(written), at(i)];
      const d = a === b ? `M${a - 8} ${TARGET + 16}C${a - 16} ${TARGET + 40} ${a + 16} ${TARGET + 40} ${a + 8} ${TARGET + 16}` : `M${a} ${TARGET + 16}C${a} ${TARGET + 20 + (a - b) * 0.18} ${b} ${TARGET + 20 + (a - b) * 0.18} ${b} ${TARGET + 16}`;
      marks.push({ key: `own${i}`, kind: "path", d, stroke: ink.term.weight, width: 1 + 9 * weight, opacity: 0.35 + 0.5 * weight, term: "weight", tip: `“${target[written]}” gives “${target[i]}” a weight of ${fixed(weight, 4)}` });
    });
  const [asks, asked] = [at(written), middle(most.at)];
  const beside = asked < asks ? -1 : 1; // below the line, which rises from the query
  marks.push({ key: "most", kind: "text", x: (asks + asked) / 2 + 14 * beside, y: (STATES + TARGET) / 2 + 18, text: `weight ${fixed(most.weight)}`, size: 14, bold: true, anchor: beside > 0 ? "start" : "end", fill: ink.term.weight, term: "weight" });
  target.slice(0, written + 1).forEach((token, i) => marks.push(...cell(`t${i}`, at(i), TARGET, token, ink, i === written)));
  marks.push(
    { key: "now", kind: "rect", x: at(writing) - CELL / 2 + 2, y: TARGET - 16, w: CELL - 4, h: 32, r: 5, fill: ink.background, stroke: ink.term.output, width: 2.5, term: "output", press: reached("write") && written < target.length - 1 ? { label: `Write “${now}”`, patch: { written: written + 1 } } : undefined },
    { key: "now/text", kind: "text", x: at(writing), y: TARGET, text: now, size: now.length > 1 ? 13 : 18, bold: true, fill: ink.term.output, term: "output" },
    { key: "target/name", kind: "text", x: left, y: HEIGHT - 12, text: "written by the decoder, one at a time", size: 13, anchor: "start", fill: ink.muted },
  );
  if (reached("write") && step !== "kinds")
    best.forEach(({ token, share }, i) => {
      const y = TARGET + 38 + i * 26;
      const fill = i ? ink.muted : ink.term.output;
      const x = Math.min(at(writing), WIDTH - 128);
      marks.push(
        { key: `best${i}`, kind: "text", x, y, text: token, size: 15, bold: !i, fill, term: "output" },
        { key: `best${i}/bar`, kind: "rect", x: x + 24, y: y - 7, w: Math.max(1, 46 * share), h: 14, r: 2, fill, term: "output" },
        { key: `best${i}/share`, kind: "text", x: x + 76, y, text: percent(share), size: 13, anchor: "start", fill: ink.muted },
      );
    });
  if (step === "kinds")
    marks.push({ key: "own/name", kind: "text", x: left, y: TARGET + 90, text: "below: the target on itself · above: the target on the source", size: 13, anchor: "start", fill: ink.muted });
  return marks;
}

/** @type {(key: string, x: number, y: number, token: string, ink: Ink, asks?: boolean) => Mark[]} */
function cell(key, x, y, token, ink, asks = false) {
  return [
    { key, kind: "rect", x: x - CELL / 2 + 2, y: y - 16, w: CELL - 4, h: 32, r: 5, fill: ink.surface, stroke: asks ? ink.term.query : ink.line, width: asks ? 2.5 : 1, term: asks ? "query" : undefined, tip: asks ? "This position asks: its query is compared with the keys of all characters read" : undefined },
    { key: `${key}/text`, kind: "text", x, y, text: token, size: token.length > 1 ? 13 : 18, fill: ink.text },
  ];
}

/** Rows: the character being written; columns: the characters read. @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function alignment({ source, target, cross, chosen }, ink) {
  const wide = Math.min(32, (WIDTH - 80) / source.length);
  const [left, tall] = [64, TALL];
  /** @type {Mark[]} */
  const marks = [
    { key: "align/cols", kind: "text", x: left, y: 22, text: "read", size: 13, anchor: "start", bold: true, fill: ink.term.key, term: "key" },
    { key: "align/rows", kind: "text", x: left - 10, y: GRID - 12, text: "written", size: 13, anchor: "end", bold: true, fill: ink.term.output, term: "output" },
  ];
  source.forEach((token, i) =>
    marks.push({ key: `s${i}/text`, kind: "text", x: left + (i + 0.5) * wide, y: GRID - 16, text: token, size: 16, fill: token === "␣" ? ink.muted : ink.text }),
  );
  target.forEach((_, row) => {
    const y = GRID + row * tall;
    marks.push({ key: row + 1 < target.length ? `t${row + 1}/text` : "now/text", kind: "text", x: left - 20, y: y + tall / 2, text: chosen[row], size: chosen[row].length > 1 ? 13 : 17, fill: ink.term.output, term: "output" });
    cross[row].forEach((weight, i) =>
      marks.push({ key: `a${row}.${i}`, kind: "rect", x: left + i * wide, y, w: wide, h: tall, fill: ink.weight(weight), stroke: ink.line, width: 0.5, term: "weight", tip: `While “${chosen[row]}” is written, “${source[i]}” has a weight of ${fixed(weight, 4)}` }),
    );
  });
  return marks;
}

/**
 * Encoder and decoder side by side, from the bottom to the top; each stream a band, its layers beside it.
 *
 * @type {(numbers: Numbers, moment: Moment) => Mark[]}
 */
function towers(numbers, { step, inputs, ink }) {
  const { source, target, written, now, most, stacks } = numbers;
  const cutting = step === "inside";
  const read = { name: "encoder", x: 6, band: 52, boxes: 98, side: 1, top: 172, layers: ENCODER, at: [300, 222], norms: stacks.encoder, off: [false, false], what: `“${most.token}”` };
  const write = { name: "decoder", x: 326, band: 508, boxes: 336, side: -1, top: 92, layers: DECODER, at: [300, 222, 144], norms: stacks.decoder, off: stacks.off, what: `the position of “${now}”` };
  /** @type {Mark[]} */
  const marks = [];
  for (const tower of [read, write]) {
    const { name, x, band, boxes, side, top, layers, at, norms, off, what } = tower;
    const faint = cutting && tower === read ? 0.45 : 1;
    const end = tower === read ? 158 : 80;
    const stops = [352, ...at, end];
    marks.push(
      { key: `${name}/frame`, kind: "rect", x, y: top, w: 230, h: 340 - top, r: 10, fill: ink.background, stroke: ink.line, width: 1.5, opacity: faint },
      { key: `${name}/name`, kind: "text", x: x + 115, y: top + 13, text: `${name} block`, size: 14, bold: true, fill: ink.muted, opacity: faint },
      { key: `${name}/embed`, kind: "rect", x, y: 352, w: 230, h: 28, r: 8, fill: ink.surface, stroke: ink.line, opacity: faint },
      { key: `${name}/embed/text`, kind: "text", x: x + 115, y: 366, text: "embedding + position", size: 14, fill: ink.text, opacity: faint },
      { key: `${name}/in`, kind: "text", x: x + 115, y: 400, text: tower === read ? source.join("").replaceAll("␣", " ") : target.slice(0, written + 1).join(" "), size: 15, bold: true, fill: ink.text, opacity: faint },
    );
    norms.stream.forEach((norm, i) => {
      const wide = UNIT * norm;
      marks.push(
        { key: `${name}/stream${i}`, kind: "rect", x: band - wide / 2, y: stops[i + 1], w: wide, h: stops[i] - stops[i + 1], fill: ink.line, opacity: faint, tip: `The stream of ${what} here has norm ${fixed(norm)}` },
        { key: `${name}/stream${i}/text`, kind: "text", x: band - side * 18, y: i ? (stops[i] + stops[i + 1]) / 2 : 329, text: fixed(norm, 1), size: 13, anchor: side > 0 ? "end" : "start", fill: ink.muted, opacity: faint },
      );
    });
    layers.forEach((layer, i) => {
      const gone = off[i];
      const [y, edge] = [at[i], side > 0 ? boxes : boxes + 132];
      const press = cutting && tower === write ? { label: `${layer}: ${gone ? "off" : "on"}`, pressed: !gone, patch: { off: /** @type {number[]} */ (inputs.off).map((each, j) => (j === i ? 1 - each : each)) } } : undefined;
      marks.push(
        { key: `${name}/layer${i}`, kind: "rect", x: boxes, y: y - LAYER / 2, w: 132, h: LAYER, r: 8, fill: gone ? ink.background : ink.surface, stroke: gone ? ink.line : ink.text, width: 1.5, dash: gone ? "4 4" : undefined, opacity: faint, press },
        { key: `${name}/layer${i}/text`, kind: "text", x: boxes + 66, y: y - 9, text: layer, size: 14, bold: true, fill: gone ? ink.muted : ink.text, opacity: faint },
        { key: `${name}/layer${i}/adds`, kind: "text", x: boxes + 66, y: y + 10, text: gone ? "off" : `adds ${fixed(norms.adds[i], 1)}`, size: 14, fill: gone ? ink.muted : ink.primary, opacity: faint },
      );
      if (gone) return;
      marks.push(
        { key: `${name}/read${i}`, kind: "arrow", x: band + side * 12, y: y + 12, x2: edge - side * 3, y2: y + 12, stroke: ink.muted, width: 1.8, opacity: faint },
        { key: `${name}/add${i}`, kind: "arrow", x: edge - side * 2, y: y - 12, x2: band + side * 13, y2: y - 12, stroke: ink.primary, width: 2.2, opacity: faint },
      );
    });
  }
  if (!stacks.off[1])
    marks.push(
      { key: "memory", kind: "path", d: "M52 158V148H284V222H330M324 217L331 222L324 227", stroke: ink.term.key, width: 2.5, term: "key" },
      { key: "memory/run", kind: "path", d: "M52 158V148H284V222H330", stroke: ink.background, width: 1.5, flow: true, term: "key" },
      { key: "memory/name", kind: "text", x: 70, y: 134, text: "keys and values for the cross-attention", size: 13, anchor: "start", fill: ink.term.key, term: "key" },
    );
  return [...marks, ...answered(numbers, cutting, ink)];
}

/** Whether the figure is the plan of the first transformer. */
const isStacked = ({ step, inputs }) => step === "whole" && inputs.network === "six";

const grouped = (count) => count.toLocaleString("en");

const STACK = { wide: 206, high: 34, pitch: 44, low: 304, left: 8, right: 346, trunk: 280, turn: 44, number: 26 };

/** Six blocks on each side, and the way from the encoder's end to all of the decoder's. @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function sixBlocks({ source, target, written, six }, ink) {
  const { wide, high, pitch, low, left, right, trunk, turn, number } = STACK;
  const top = (/** @type {number} */ block) => low - pitch * block;
  const sides = [
    { name: "encoder", x: left, cells: ["self", "MLP"], count: six.encoder, what: source.join("").replaceAll("␣", " ") },
    { name: "decoder", x: right, cells: ["masked", "cross", "MLP"], count: six.decoder, what: target.slice(0, written + 1).join(" ") },
  ];
  /** @type {Mark[]} */
  const marks = [];
  for (const { name, x, cells, count, what } of sides) {
    const [middle, share] = [x + wide / 2, (wide - number - 4) / cells.length];
    marks.push(
      { key: `${name}/band`, kind: "path", d: `M${middle} 352V${turn}`, stroke: ink.line, width: 12 },
      { key: `${name}/embed`, kind: "rect", x, y: 352, w: wide, h: 28, r: 8, fill: ink.surface, stroke: ink.line },
      { key: `${name}/embed/text`, kind: "text", x: middle, y: 366, text: "embedding + position", size: 14, fill: ink.text },
      { key: `${name}/in`, kind: "text", x: middle, y: 400, text: what, size: 15, bold: true, fill: ink.text },
    );
    for (let block = 0; block < BLOCKS; block++) {
      const [key, y] = [`${name}/six${block}`, top(block)];
      marks.push(
        { key, kind: "rect", x, y, w: wide, h: high, r: 8, fill: ink.background, stroke: ink.text, width: 1.5, tip: `${name} block ${block + 1}: ${grouped(count)} parameters` },
        { key: `${key}/number`, kind: "text", x: x + number / 2 + 2, y: y + high / 2, text: String(block + 1), size: 14, bold: true, fill: ink.muted },
      );
      cells.forEach((part, i) => {
        const cross = part === "cross";
        const at = x + number + i * share;
        marks.push(
          { key: `${key}/${part}`, kind: "rect", x: at, y: y + 4, w: share - 3, h: high - 8, r: 5, fill: ink.surface, stroke: cross ? ink.term.key : ink.line, width: cross ? 2 : 1, term: cross ? "key" : undefined },
          { key: `${key}/${part}/text`, kind: "text", x: at + (share - 3) / 2, y: y + high / 2, text: part, size: 14, fill: cross ? ink.term.key : ink.text, term: cross ? "key" : undefined },
        );
      });
      if (name === "decoder") marks.push({ key: `memory${block}`, kind: "arrow", x: trunk, y: y + high / 2, x2: right - 3, y2: y + high / 2, stroke: ink.term.key, width: 2, term: "key" });
    }
  }
  return [
    ...marks,
    { key: "memory", kind: "path", d: `M${left + wide / 2} ${top(BLOCKS - 1)}V${turn}H${trunk}V${low + high / 2}`, stroke: ink.term.key, width: 2.5, term: "key" },
    { key: "memory/name", kind: "text", x: left, y: turn - 18, text: "keys and values, for all six", size: 14, anchor: "start", fill: ink.term.key, term: "key" },
    { key: "head", kind: "rect", x: right, y: 16, w: wide, h: 28, r: 8, fill: ink.surface, stroke: ink.line },
    { key: "head/text", kind: "text", x: right + wide / 2, y: 30, text: "norm, linear, softmax", size: 14, fill: ink.text },
  ];
}

/** Above the towers: the head layer and its answer, and what has been written or is predicted. @type {(numbers: Numbers, cutting: boolean, ink: Ink) => Mark[]} */
function answered({ target, written, now, stacks }, cutting, ink) {
  const { best, guesses, right, correct, count } = stacks;
  /** @type {Mark[]} */
  const marks = [
    { key: "head", kind: "rect", x: 326, y: 52, w: 230, h: 28, r: 8, fill: ink.surface, stroke: ink.line },
    { key: "head/text", kind: "text", x: 441, y: 66, text: "norm, linear, softmax", size: 14, fill: ink.text },
    { key: "said/name", kind: "text", x: 8, y: 20, text: cutting ? `predicted: ${correct} of ${count} right` : `written so far${written ? "" : ": nothing"}`, size: 14, bold: true, anchor: "start", fill: ink.text },
  ];
  best.forEach(({ token, share }, i) => {
    const x = 330 + i * 76;
    const fill = i ? ink.muted : ink.term.output;
    const last = written >= target.length - 1;
    marks.push(
      { key: `top${i}`, kind: "rect", x, y: 8, w: 72, h: 36, r: 6, fill: ink.background, stroke: i ? ink.line : ink.term.output, width: i ? 1 : 2.5, term: "output", press: !i && !cutting && !last ? { label: `Write “${now}”`, patch: { written: written + 1 } } : undefined },
      { key: `top${i}/text`, kind: "text", x: x + 8, y: 26, text: token, size: token.length > 1 ? 13 : 17, bold: !i, anchor: "start", fill, term: "output" },
      { key: `top${i}/share`, kind: "text", x: x + 68, y: 26, text: percent(share), size: 13, anchor: "end", fill, term: "output" },
    );
  });
  const tokens = cutting ? guesses : target.slice(1, written + 1);
  tokens.forEach((token, i) => {
    const x = 8 + i * 29;
    const fits = !cutting || right[i];
    marks.push(
      { key: `said${i}`, kind: "rect", x, y: 36, w: 27, h: 30, r: 5, fill: fits ? ink.surface : ink.background, stroke: fits ? ink.muted : ink.line, dash: fits ? undefined : "3 3", tip: cutting ? `Here comes “${target[i + 1]}”; “${token}” is predicted` : undefined },
      { key: `said${i}/text`, kind: "text", x: x + 13.5, y: 51, text: token.length > 1 ? "…" : token, size: 16, bold: fits, fill: fits ? ink.text : ink.muted },
    );
  });
  return marks;
}

/** Multiplications as bars of one scale. @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function costs({ cost }, ink) {
  const rows = [
    { key: "scores", name: "scores  Q Kᵀ", formula: "n² · d", value: cost.scores, fill: ink.text },
    { key: "sums", name: "weighted sums  A V", formula: "n² · d", value: cost.sums, fill: ink.text },
    { key: "projections", name: "four projections", formula: "4 n · d²", value: cost.projections, fill: ink.muted },
  ];
  const most = Math.max(...rows.map(({ value }) => value));
  return [
    { key: "cost/title", kind: "text", x: 24, y: 30, text: "Multiplications of one layer of self-attention", size: 16, bold: true, anchor: "start", fill: ink.text },
    ...rows.flatMap(({ key, name, formula, value, fill }, i) => {
      const y = 84 + i * 84;
      return /** @type {Mark[]} */ ([
        { key: `cost/${key}/name`, kind: "text", x: 24, y, text: `${name}: ${formula}`, size: 15, anchor: "start", fill: ink.text },
        { key: `cost/${key}`, kind: "rect", x: 24, y: y + 14, w: Math.max(1, (330 * value) / most), h: 28, r: 3, fill },
        { key: `cost/${key}/value`, kind: "text", x: 34 + (330 * value) / most, y: y + 28, text: value.toLocaleString("en"), size: 14, anchor: "start", fill: ink.text },
      ]);
    }),
    { key: "cost/sum", kind: "text", x: 24, y: 342, text: `in all ${cost.total.toLocaleString("en")}`, size: 16, bold: true, anchor: "start", fill: ink.text },
    { key: "cost/equal", kind: "text", x: 24, y: 372, text: `the squares overtake the projections at n = 2 d = ${cost.equal.toLocaleString("en")}`, size: 14, anchor: "start", fill: ink.muted },
  ];
}
