// Encoder and decoder: a date is read at once and written a character at a time.

import { fixed, percent } from "../story/marks.js";

/** @import {Figure, Ink, Mark, Moment} from "../types" */

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
 * @property {{length: number, width: number, scores: number, sums: number, projections: number, total: number, equal: number}} cost
 */

const [WIDTH, HEIGHT] = [560, 420];
const [SOURCE, STATES, TARGET] = [48, 122, 290]; // middles of the rows
const [TALL, CELL] = [28, 44];
const LEAST = 0.01; // weights below it get no line
const GRID = 82; // top of the alignment's cells

/** @type {Figure} */
export const figure = {
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "date", label: "A date", longest: 24, until: "cost" },
    { kind: "choice", input: "head", label: "Head", options: [["0", "0"], ["1", "1"], ["2", "2"], ["3", "3"]], until: "cost" },
    { kind: "slider", input: "written", label: "Characters written", min: 0, max: 10, step: 1, from: "write", until: "cost" },
    { kind: "slider", input: "length", label: "Tokens n", min: 2, max: 2048, step: 1, log: true, from: "cost" },
    { kind: "slider", input: "width", label: "Width d", min: 16, max: 1024, step: 1, log: true, from: "cost" },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    if (moment.step === "cost") return costs(numbers, moment.ink);
    if (moment.step === "align") return alignment(numbers, moment.ink);
    const marks = encoder(numbers, moment);
    if (moment.reached("cross")) marks.push(...decoder(numbers, moment));
    return marks;
  },

  describe(/** @type {Numbers} */ { source, target, written, now, most, iso, cost, at, self }, { step }) {
    if (step === "cost")
      return `Multiplications of one layer for ${cost.length} tokens of width ${cost.width}: ${cost.scores} for the scores, ${cost.sums} for the weighted sums, ${cost.projections} for the projections.`;
    const read = `The encoder has read ${source.join("")}.`;
    if (step === "encode") return `${read} The character ${source[at]} gives itself a weight of ${fixed(self[at])}.`;
    const done = target.slice(1, written + 1).join("");
    if (step === "align") return `${read} Cross-attention of every character of ${iso}, as a grid of weights.`;
    return `${read} The decoder has written ${done || "nothing"}; next it writes ${now}, and attends most to ${most.token} at position ${most.at}, with a weight of ${fixed(most.weight)}.`;
  },

  tables(/** @type {Numbers} */ { source, target, cross, causal, self, at, best, cost }) {
    return [
      { title: "Cross-attention", rows: target, cols: source, values: cross },
      { title: "The decoder on itself", rows: [target[causal.length - 1]], cols: target.slice(0, causal.length), values: [causal] },
      { title: "The encoder on itself", rows: [source[at]], cols: source, values: [self] },
      { title: "Next character", rows: best.map(({ token }) => token), cols: ["probability"], values: best.map(({ share }) => [share]) },
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
    const chosen = reading ? i === at : i === most.at && step !== "encode";
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
function decoder({ source, target, written, cross, causal, best, now }, { step, reached, ink }) {
  const [, middle] = across(source);
  const left = 26;
  const at = (/** @type {number} */ i) => left + i * CELL + CELL / 2;
  const writing = Math.min(written + 1, 11);
  /** @type {Mark[]} */
  const marks = [];
  cross[written].forEach((weight, i) => {
    if (weight < LEAST) return;
    marks.push({
      ...{ key: `c${i}`, kind: "curve", x: at(writing), y: TARGET - 16, x2: middle(i), y2: STATES + 13, bend: "v", stroke: ink.term.weight, width: 1 + 11 * weight, opacity: 0.35 + 0.55 * weight },
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
