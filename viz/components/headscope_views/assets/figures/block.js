// The residual stream: a band that runs through the blocks; attention and MLP read from it and write into it.

import { fixed, percent } from "../story/marks.js";

/** @import {Figure, Ink, Mark, Moment} from "../types" */

/**
 * @typedef {object} Numbers
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
 */

const [WIDTH, HEIGHT] = [560, 430];
const X = [30, 132, 234, 336, 438, 540]; // ends of the segments of the band
const [MIDDLE, UNIT] = [218, 4]; // of the band, and its width for a norm of 1
const [BOX, TALL] = [96, 44]; // of a layer
const [ABOVE, BELOW] = [62, 330];
const LAYERS = ["attention", "MLP", "attention", "MLP"];
const FIRST = /** @type {const} */ (["attention", "mlp", "blocks", "blocks"]); // step that shows a layer

/** @type {Figure} */
export const figure = {
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "word", label: "Word", longest: 12, until: "norm" },
    { kind: "choice", input: "norm", label: "Norm", options: [["pre", "before the layer"], ["post", "after the sum"]], from: "norm" },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    return moment.step === "norm" ? stack(numbers, moment) : stream(numbers, moment);
  },

  describe(/** @type {Numbers} */ { letter, norms, adds, off, written, stack: untrained, correct, count }, { step }) {
    if (step === "norm") return `Sizes of the states of eight untrained blocks, ${untrained.norm}-norm: ${untrained.sizes.map((each) => fixed(each)).join(", ")}.`;
    const parts = adds.map((each, i) => `${LAYERS[i]} of block ${i >> 1} ${off[i] ? "is off" : `adds a vector of norm ${fixed(each, 1)}`}, then ${fixed(norms[i + 1], 1)}`).join("; ");
    return `The residual stream of the letter ${letter}: norm ${fixed(norms[0], 1)} at first; ${parts}. The network writes ${written.join("")}: ${correct} of ${count} letters right.`;
  },

  tables(/** @type {Numbers} */ { norms, reads, adds, letters, written, shares, stack: untrained }) {
    return [
      { title: "Norms in the stream", rows: LAYERS.map((name, i) => `${name}, block ${i >> 1}`), cols: ["before", "read", "added", "after"], values: LAYERS.map((_, i) => [norms[i], reads[i], adds[i], norms[i + 1]]) },
      { title: "What it writes", rows: letters, cols: ["written", "probability"], values: letters.map((_, i) => [written[i], shares[i]]) },
      { title: `Untrained stack, ${untrained.norm}-norm`, rows: untrained.sizes.map((_, i) => `after ${i} blocks`), cols: ["root mean square"], values: untrained.sizes.map((each) => [each]) },
    ];
  },
};

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function stream(numbers, { reached, step, inputs, ink }) {
  const { letters, place, norms, reads, adds, off } = numbers;
  const shown = FIRST.map((name) => reached(name));
  const done = shown.filter(Boolean).length; // layers that have written
  const cutting = step === "ablate";
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
    const tall = UNIT * norm;
    marks.push({ key: `s${i}`, kind: "rect", x: X[i], y: MIDDLE - tall / 2, w: X[i + 1] - X[i], h: tall, fill: ink.line, tip: `The stream here has norm ${fixed(norm, 2)}` });
    if (i <= done) marks.push({ key: `s${i}/text`, kind: "text", x: (X[i] + X[i + 1]) / 2, y: MIDDLE, text: fixed(norm, 1), size: 16, bold: true, fill: ink.on(ink.line) });
  }
  LAYERS.forEach((name, i) => {
    if (!shown[i]) return;
    const x = X[i + 1];
    const up = i % 2 === 0;
    const y = up ? ABOVE : BELOW;
    const [edge, side] = up ? [y + TALL, -1] : [y, 1];
    const surface = (/** @type {number} */ at) => MIDDLE + (side * UNIT * norms[at]) / 2;
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
  if (reached("blocks")) marks.push(...answer(numbers, ink));
  return marks;
}

/** @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function answer({ letters, place, written: found, shares, right, correct, count }, ink) {
  /** @type {Mark[]} */
  const marks = [
    { key: "out/name", kind: "text", x: 84, y: 407, text: "writes", size: 14, anchor: "end", fill: ink.muted },
    { key: "out/count", kind: "text", x: 28, y: 380, text: `${correct} of ${count} right`, size: 14, bold: true, anchor: "start", fill: ink.text },
  ];
  letters.forEach((_, i) => {
    const x = 92 + i * 38;
    marks.push(
      { key: `out${i}`, kind: "rect", x, y: 392, w: 34, h: 30, r: 6, fill: right[i] ? ink.surface : ink.background, stroke: i === place ? ink.primary : right[i] ? ink.muted : ink.line, width: i === place ? 2.5 : 1, dash: right[i] ? undefined : "3 3", tip: `“${found[i]}” with probability ${percent(shares[i])}: ${right[i] ? "right" : "wrong"}` },
      { key: `out${i}/text`, kind: "text", x: x + 17, y: 407, text: found[i].slice(0, 1), size: 17, bold: right[i], fill: right[i] ? ink.text : ink.muted },
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
