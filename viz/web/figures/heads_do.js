// What heads do: arrows above a repeated text, the maps of four heads below it, and a key to hide.

import { fixed } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/** @typedef {{token: string, share: number}} Predicted */

/**
 * @typedef {object} Reads of the second network, at its last word
 * @property {string[]} tokens
 * @property {number} layer
 * @property {number} head
 * @property {number[]} weights
 * @property {number[]} changes of the probabilities where a key is hidden
 * @property {number} key the hidden one
 * @property {string[]} words that may come next
 * @property {number[]} before
 * @property {number[]} after
 */

/**
 * @typedef {object} Numbers
 * @property {string} network
 * @property {string[]} names of the heads
 * @property {number} previous index of the previous-token head
 * @property {string[]} tokens
 * @property {number[][][]} weights of each head
 * @property {Predicted[]} best
 * @property {Record<string, (number | null)[]>} roles mean weights of each head
 * @property {Record<string, number>} followed head by step
 * @property {number} query
 * @property {{weights: number[][][], best: Predicted[]}} changed by the ablation
 * @property {string} ablated
 * @property {{head: number | null, accuracy: number, loss: number}[]} tests
 * @property {{losses: number[]}} [controls] the loss without each other head of the two layers
 * @property {Reads} reads
 */

const [WIDTH, HEIGHT] = [560, 506];
const [TOKENS, TALL] = [138, 30]; // top and height of the text
const [MAPS, SIDE, GAP] = [250, 122, 18];
const BARS = MAPS + SIDE + 16;
const LEAST = 0.1; // weight of an arrow that is shown
/** The line of losses: height, ends, and the middles of what is above and below it. */
const LINE = { y: 480, left: 24, right: WIDTH - 24, above: 462, below: 496, name: 446 };
/** Rows of the keys and of the next words. */
const ROW = { keys: 66, words: 336, tall: 30, low: 24 };

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["previous", "induction", "ablate", "sink", "drink", "hide", "same"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "text", label: "Letters and digits", longest: 12, on: ["previous"] },
    { kind: "text", input: "words", label: "Text", longest: 60, on: ["induction", "ablate", "sink"] },
    { kind: "choice", input: "network", label: "Network", options: [["smollm2", "SmolLM2"], ["small", "the small one"]], on: ["induction", "ablate", "sink"] },
    { kind: "text", input: "sentence", label: "Words", longest: 40, on: ["hide"] },
    { kind: "choice", input: "reader", label: "Layer · head", options: [["0", "0 · 0"], ["1", "0 · 1"], ["2", "1 · 0"], ["3", "1 · 1"]], on: ["hide"] },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    if (moment.step === "hide") return hiding(numbers.reads, moment.ink);
    return [...arrows(numbers, moment), ...text(numbers, moment), ...maps(numbers, moment), ...losses(numbers, moment)];
  },

  describe(/** @type {Numbers} */ numbers, moment) {
    const { tokens, query, reads, tests, best, changed, names, controls } = numbers;
    const { step } = moment;
    const list = (/** @type {(number | null)[]} */ values) => names.map((name, i) => `${name} ${formatted(values[i])}`).join("; ");
    if (step === "hide")
      return `Keys of “${reads.tokens.at(-1)}” in head ${reads.head} of layer ${reads.layer}, with weight and change when hidden: ${reads.tokens.map((token, i) => `${token} ${fixed(reads.weights[i])}, ${fixed(reads.changes[i])}`).join("; ")}.`;
    if (step === "ablate")
      return `Share of next tokens predicted right without a head: ${list(tests.slice(1).map(({ accuracy }) => accuracy))}.${controls ? ` Loss: ${list(tests.slice(1).map(({ loss }) => loss))}; without each of ${controls.losses.length} other heads ${fixed(controls.losses[0])} to ${fixed(controls.losses.at(-1) ?? 0)}.` : ""} Here “${changed.best[query].token}” is predicted after “${tokens[query]}”.`;
    if (step === "induction")
      return `From “${tokens[query]}” at position ${query} an arrow leads to the key with the most weight in ${names[numbers.followed[step]]}. Predicted next: “${best[query].token}”.`;
    return `Maps of four heads on ${tokens.join(" ")}. ${step === "sink" ? "Mean weight on the first token" : "Mean weight on the token before"}: ${list(under(numbers, moment).values)}.`;
  },

  tables(/** @type {Numbers} */ { tokens, weights, roles, tests, best, reads, names, network, controls }) {
    return [
      { title: "Mean weights", rows: names, cols: ["token before", "what followed last time", "first token"], values: names.map((_, i) => [roles.previous[i], roles.induction[i], roles.first[i]]) },
      ...names.map((title, i) => ({ title: `Weights: ${title}`, rows: tokens, cols: tokens, values: weights[i] })),
      { title: "Predictions", rows: tokens, cols: ["next token", "probability"], values: best.map(({ token, share }) => [token, share]) },
      { title: network === "small" ? "Ablation, 64 random texts" : "Ablation, 64 random tokens that come twice", rows: ["all heads", ...names.map((name) => `without ${name}`)], cols: ["next token right", "cross entropy"], values: tests.map(({ accuracy, loss }) => [accuracy, loss]) },
      ...(controls ? [{ title: "Without each other head of the two layers, from the least", rows: controls.losses.map((_, i) => String(i + 1)), cols: ["cross entropy"], values: controls.losses.map((loss) => [loss]) }] : []),
      { title: "A key hidden", rows: reads.tokens, cols: ["weight", "change"], values: reads.tokens.map((_, i) => [reads.weights[i], reads.changes[i]]) },
    ];
  },
};

/** @type {(value: number | null) => string} */
const formatted = (value) => (value === null ? "–" : fixed(value));

/** The network as the step shows it: whole, or with a head ablated. @type {(numbers: Numbers, moment: Moment) => {weights: number[][][], best: Predicted[]}} */
const now = (numbers, { step }) => (step === "ablate" ? numbers.changed : numbers);

/** Middle of a token. @type {(numbers: Numbers, at: number) => number} */
const middle = ({ tokens }, at) => (WIDTH * (at + 0.5)) / tokens.length;

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function arrows(numbers, moment) {
  const { tokens, query, names } = numbers;
  const { step, ink } = moment;
  const head = numbers.followed[step];
  const weights = now(numbers, moment).weights[head];
  const single = step === "induction" || step === "ablate";
  /** @type {Mark[]} */
  const marks = [];
  tokens.forEach((name, i) => {
    if (single && i !== query) return;
    weights[i].forEach((weight, j) => {
      if (weight < LEAST || (i === j && !single) || (step === "sink" && j > 0)) return;
      marks.push(...arrow(`a${i}.${j}`, numbers, i, j, weight, ink, `${names[head]}: “${name}” gives “${tokens[j]}” ${fixed(weight, 3)}`));
    });
  });
  if (step === "induction") {
    const key = weights[query].indexOf(Math.max(...weights[query]));
    const note = key ? numbers.weights[numbers.previous][key][key - 1] : 0;
    if (note >= LEAST)
      marks.push({ key: "note", kind: "path", d: `M${middle(numbers, key)} ${TOKENS + TALL}v14H${middle(numbers, key - 1)}v-8m-4 6l4 -8l4 8`, stroke: ink.muted, width: 1.6, tip: `${names[numbers.previous]}: “${tokens[key]}” gives “${tokens[key - 1]}”, the token before it, ${fixed(note, 3)}` });
  }
  const said = { previous: "arrows from each token to its keys", induction: "arrow from a token to its key", ablate: "arrow from a token to its key", sink: "arrows to the first token", drink: "", hide: "", same: "" }[step];
  marks.push({ key: "arrows/name", kind: "text", x: 4, y: 12, text: `${names[head]}: ${said}`, size: 14, anchor: "start", bold: true, fill: ink.text });
  return marks;
}

/** An arc from a query to a key, as thick as its weight. @type {(key: string, numbers: Numbers, from: number, to: number, weight: number, ink: Ink, tip: string) => Mark[]} */
function arrow(key, numbers, from, to, weight, ink, tip) {
  const loop = from === to ? 10 : 0;
  const [x, x2] = [middle(numbers, from) + loop, middle(numbers, to) - loop];
  const top = TOKENS - Math.min(142, 24 + 0.36 * Math.abs(x - x2));
  const d = `M${x} ${TOKENS - 2}C${x} ${top} ${x2} ${top} ${x2} ${TOKENS - 4}m-4.5 -8l4.5 8l4.5 -8`;
  return [
    { key, kind: "path", d, stroke: ink.term.weight, width: 0.8 + 3.2 * weight, opacity: 0.35 + 0.65 * weight, term: "weight", tip },
    { key: `${key}/run`, kind: "path", d: d.split("m")[0], stroke: ink.background, width: 1.2, opacity: weight, flow: true },
  ];
}

/** The text, and what is predicted after each token. @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function text(numbers, moment) {
  const { tokens, query } = numbers;
  const { reached, step, ink } = moment;
  const wide = Math.min(numbers.network === "small" ? 40 : 62, WIDTH / tokens.length - 4);
  const sized = (/** @type {string} */ word, /** @type {number} */ most) => Math.min(most, (1.75 * wide) / Math.max(1, word.length));
  const pressed = step === "induction" || step === "ablate";
  const { best } = now(numbers, moment);
  /** @type {Mark[]} */
  const marks = [];
  tokens.forEach((name, i) => {
    const x = middle(numbers, i);
    const chosen = pressed && i === query;
    marks.push(
      { key: `t${i}`, kind: "rect", x: x - wide / 2, y: TOKENS, w: wide, h: TALL, r: 6, fill: chosen ? ink.surface : ink.background, stroke: chosen ? ink.term.query : ink.line, width: chosen ? 2.5 : 1, term: chosen ? "query" : undefined, press: pressed ? { label: `Follow “${name}” at position ${i}`, pressed: chosen, patch: { query: i } } : undefined },
      { key: `t${i}/text`, kind: "text", x, y: TOKENS + TALL / 2, text: name, size: sized(name, 17), bold: chosen, fill: chosen ? ink.term.query : ink.text },
    );
    if (!reached("induction") || step === "sink") return;
    const { token, share } = best[i];
    const right = tokens[i + 1] === token;
    marks.push(
      { key: `p${i}`, kind: "text", x, y: TOKENS + TALL + 30, text: name === "begin" ? "" : token, size: sized(token, 16), bold: right, fill: ink.term.output, opacity: 0.5 + 0.5 * share, term: "output", tip: `After “${name}” the likeliest is “${token}”, ${fixed(share, 3)}` },
    );
  });
  if (reached("induction") && step !== "sink")
    marks.push({ key: "p/name", kind: "text", x: 4, y: TOKENS + TALL + 30, text: "predicts", size: 13, anchor: "start", fill: ink.term.output, term: "output" });
  return marks;
}

/** What stands under the maps. @type {(numbers: Numbers, moment: Moment) => {values: (number | null)[], name: string}} */
function under({ roles, tests }, { step }) {
  if (step === "ablate") return { values: tests.slice(1).map(({ accuracy }) => accuracy), name: `next token right without the head; with all: ${fixed(tests[0].accuracy)}` };
  if (step === "sink") return { values: roles.first, name: "mean weight on the first token" };
  if (step === "induction") return { values: roles.induction, name: "mean weight on what followed last time" };
  return { values: roles.previous, name: "mean weight on the token before" };
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function maps(numbers, moment) {
  const { tokens, query, ablated, names } = numbers;
  const { step, ink } = moment;
  const { weights } = now(numbers, moment);
  const { values, name } = under(numbers, moment);
  const cell = SIDE / tokens.length;
  const measured = step === "ablate" ? ink.text : ink.term.weight;
  /** @type {Mark[]} */
  const marks = [{ key: "under", kind: "text", x: WIDTH / 2, y: BARS + 32, text: name, size: 14, fill: ink.text }];
  names.forEach((title, head) => {
    const x = GAP / 2 + head * (SIDE + GAP);
    const gone = step === "ablate" && ablated === String(head);
    const chosen = step === "ablate" ? gone : head === numbers.followed[step];
    const opacity = gone ? 0.25 : 1;
    marks.push(
      { key: `m${head}/name`, kind: "text", x: x + SIDE / 2, y: MAPS - 14, text: title, size: 14, bold: chosen, fill: ink.text },
      { key: `m${head}/ground`, kind: "rect", x, y: MAPS, w: SIDE, h: SIDE, fill: ink.surface },
    );
    for (let i = 0; i < tokens.length; i += 1)
      for (let j = 0; j <= i; j += 1)
        marks.push({ key: `m${head}/${i}.${j}`, kind: "rect", x: x + j * cell, y: MAPS + i * cell, w: cell, h: cell, fill: ink.weight(weights[head][i][j]), stroke: ink.line, width: 0.4, opacity });
    if (step === "induction" || step === "ablate")
      marks.push({ key: `m${head}/row`, kind: "rect", x: x - 1, y: MAPS + query * cell, w: SIDE + 2, h: cell, stroke: ink.term.query, width: 1.5, term: "query" });
    if (step === "sink")
      marks.push({ key: `m${head}/first`, kind: "rect", x: x - 1, y: MAPS, w: cell + 2, h: SIDE, stroke: ink.term.key, width: 1.5, term: "key" });
    if (gone) marks.push({ key: `m${head}/gone`, kind: "path", d: `M${x} ${MAPS}l${SIDE} ${SIDE}m0 ${-SIDE}l${-SIDE} ${SIDE}`, stroke: ink.muted, width: 2 });
    const patch = pressing(numbers.network, step, head, gone);
    marks.push({ key: `m${head}/frame`, kind: "rect", x: x - 3, y: MAPS - 3, w: SIDE + 6, h: SIDE + 6, r: 4, stroke: chosen ? ink.primary : ink.line, width: chosen ? 3 : 1, press: patch && { label: step === "ablate" ? `Ablate ${title}` : title, pressed: chosen, patch } });
    const value = values[head];
    marks.push(
      { key: `m${head}/track`, kind: "rect", x, y: BARS - 6, w: SIDE - 38, h: 12, fill: ink.surface, stroke: ink.line },
      { key: `m${head}/bar`, kind: "rect", x, y: BARS - 6, w: (SIDE - 38) * (value ?? 0), h: 12, fill: measured, term: step === "ablate" ? undefined : "weight" },
      { key: `m${head}/value`, kind: "text", x: x + SIDE, y: BARS, text: formatted(value), size: 15, anchor: "end", bold: chosen, fill: ink.text },
    );
  });
  return marks;
}

/**
 * The loss without each head of two layers: the others as dots, and the heads of the maps by name.
 *
 * @type {(numbers: Numbers, moment: Moment) => Mark[]}
 */
function losses({ controls, tests, names, ablated, previous }, { step, ink }) {
  if (step !== "ablate" || !controls) return [];
  const most = Math.max(...controls.losses, ...tests.map(({ loss }) => loss));
  const x = (/** @type {number} */ loss) => LINE.left + ((LINE.right - LINE.left) * loss) / most;
  const without = tests.slice(1);
  const named = without.flatMap(({ loss }, head) => {
    const chosen = ablated === String(head);
    if (!chosen && head !== previous && head !== previous + 1) return []; // others are among the dots
    const fill = chosen ? ink.primary : ink.text;
    /** @type {Mark[]} */
    const marks = [
      { key: `loss/${head}`, kind: "rect", x: x(loss) - 6, y: LINE.y - 6, w: 12, h: 12, r: 6, fill, tip: `without ${names[head]}: ${fixed(loss)}` },
      { key: `loss/${head}/name`, kind: "text", x: Math.min(x(loss), LINE.right - 44), y: LINE.above, text: `${names[head]}: ${fixed(loss, 1)}`, size: 13, bold: chosen, fill },
    ];
    return marks;
  });
  return [
    { key: "loss/title", kind: "text", x: LINE.left, y: LINE.name, text: `Loss without one head; dots: the ${controls.losses.length} others of both layers`, size: 13, anchor: "start", fill: ink.text },
    { key: "loss/line", kind: "path", d: `M${LINE.left} ${LINE.y}H${LINE.right}`, stroke: ink.muted, width: 1 },
    { key: "loss/whole", kind: "path", d: `M${x(tests[0].loss)} ${LINE.y - 10}v20`, stroke: ink.text, width: 2 },
    { key: "loss/whole/name", kind: "text", x: x(tests[0].loss), y: LINE.below, text: `all heads: ${fixed(tests[0].loss, 1)}`, size: 13, fill: ink.text },
    { key: "loss/zero", kind: "text", x: LINE.left, y: LINE.below, text: "0", size: 13, fill: ink.muted },
    ...controls.losses.map((loss, i) => /** @type {Mark} */ ({ key: `loss/other/${i}`, kind: "rect", x: x(loss) - 4, y: LINE.y - 4, w: 8, h: 8, r: 4, fill: ink.muted, opacity: 0.55, tip: `without another head: ${fixed(loss)}` })),
    ...named,
  ];
}

/** What pressing a map does. @type {(network: string, step: string, head: number, gone: boolean) => import("../types").Patch | undefined} */
function pressing(network, step, head, gone) {
  if (step === "previous") return { head };
  if (step === "sink") return { sink: head };
  if (step === "ablate") return { ablated: gone ? "none" : String(head) };
  if (network !== "small") return { spot: head };
  return head >= 2 ? { later: head } : undefined;
}

/** @type {(reads: Reads, ink: Ink) => Mark[]} */
function hiding({ tokens, layer, head, weights, changes, key, words, before, after }, ink) {
  const [left, second, long] = [116, 346, 160];
  /** @type {Mark[]} */
  const marks = [
    { key: "keys/title", kind: "text", x: 4, y: 14, text: `Layer ${layer}, head ${head} at “${tokens.at(-1)}”: press a key to hide it`, size: 15, bold: true, anchor: "start", fill: ink.text },
    { key: "keys/weight", kind: "text", x: left, y: ROW.keys - 22, text: "weight", size: 14, bold: true, anchor: "start", fill: ink.term.weight, term: "weight" },
    { key: "keys/change", kind: "text", x: second, y: ROW.keys - 22, text: "change when hidden", size: 14, bold: true, anchor: "start", fill: ink.text },
  ];
  tokens.forEach((name, i) => {
    const y = ROW.keys + i * ROW.tall;
    const gone = i === key;
    marks.push(
      { key: `k${i}/text`, kind: "text", x: left - 12, y, text: name, size: 15, anchor: "end", bold: gone, fill: ink.term.key, term: "key" },
      { key: `k${i}/weight`, kind: "rect", x: left, y: y - 9, w: long * weights[i], h: 18, fill: ink.term.weight, opacity: gone ? 0.35 : 1, term: "weight" },
      { key: `k${i}/weight/number`, kind: "text", x: left + long * weights[i] + 6, y, text: fixed(weights[i]), size: 14, anchor: "start", fill: ink.text },
      { key: `k${i}/change`, kind: "rect", x: second, y: y - 9, w: long * changes[i], h: 18, fill: ink.primary },
      { key: `k${i}/change/number`, kind: "text", x: second + long * changes[i] + 6, y, text: fixed(changes[i]), size: 14, anchor: "start", bold: gone, fill: ink.text },
      { key: `k${i}/press`, kind: "rect", x: 2, y: y - 14, w: WIDTH - 4, h: 28, r: 6, stroke: gone ? ink.primary : ink.line, width: gone ? 2 : 0.6, press: { label: `Hide “${name}”`, pressed: gone, patch: { hidden: i } } },
    );
  });
  marks.push(
    { key: "next/before", kind: "text", x: left, y: ROW.words - 22, text: "next word", size: 14, bold: true, anchor: "start", fill: ink.term.output, term: "output" },
    { key: "next/after", kind: "text", x: second, y: ROW.words - 22, text: `without “${tokens[key]}”`, size: 14, bold: true, anchor: "start", fill: ink.term.output, term: "output" },
  );
  words.forEach((name, i) => {
    const y = ROW.words + i * ROW.low;
    marks.push({ key: `n${i}`, kind: "text", x: left - 12, y, text: name, size: 15, anchor: "end", fill: ink.term.output, term: "output" });
    for (const [part, x, share] of /** @type {const} */ ([["before", left, before[i]], ["after", second, after[i]]]))
      marks.push(
        { key: `n${i}/${part}`, kind: "rect", x, y: y - 7, w: long * share, h: 14, fill: ink.term.output, term: "output" },
        { key: `n${i}/${part}/number`, kind: "text", x: x + long * share + 6, y, text: fixed(share), size: 14, anchor: "start", fill: ink.text },
      );
  });
  return marks;
}
