// Sampling: bars that temperature moves and a line cuts off; then a cache that grows by a column.

import { fixed } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/** @typedef {{length: number, without: number, with: number, memory: number}} Cost */

/**
 * @typedef {object} Numbers
 * @property {string[]} words the likeliest ones
 * @property {number[]} logits
 * @property {number[]} plain probabilities at temperature 1
 * @property {number[]} warm at the chosen temperature
 * @property {number[]} drawn after the cut
 * @property {Record<"plain" | "warm" | "drawn", number>} others of all other words together
 * @property {number[]} together sums of the likeliest, as top-p sees them
 * @property {number} count of all words
 * @property {number} kept
 * @property {string[]} tokens
 * @property {number} begun tokens of the start
 * @property {string | null} following what comes next
 * @property {number[][]} keys some features of each
 * @property {number[][]} values
 * @property {number[]} query
 * @property {number[]} weights of the last token
 * @property {{without: number, with: number, kept: number}} small
 * @property {number} length
 * @property {number} without
 * @property {number} with
 * @property {number} times
 * @property {number} memory in MiB
 * @property {Cost[]} curve
 */

const [WIDTH, HEIGHT] = [560, 430];
const [LEFT, TOP, ROW, LONG] = [122, 58, 31, 290]; // of the bars; LONG is a probability of 1
const SUM = 540; // right edge of the sums
const CACHE = { words: 84, key: 118, value: 200, query: 300, cell: 14, out: 392 };
const PLOT = { left: 62, right: 540, top: 48, bottom: 300 };
const DECADES = /** @type {const} */ ([8, 12]); // powers of ten of the plot's ends

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["probabilities", "temperature", "cut", "cache", "cost"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "start", label: "Start of the text", longest: 60, until: "cost" },
    { kind: "slider", input: "temperature", label: "Temperature T", min: 0.1, max: 5, step: 0.01, log: true, from: "temperature", until: "cache" },
    { kind: "slider", input: "k", label: "Top-k (0: all)", min: 0, max: 10, step: 1, from: "cut", until: "cache" },
    { kind: "slider", input: "p", label: "Top-p", min: 0.05, max: 1, step: 0.05, from: "cut", until: "cache" },
    { kind: "slider", input: "written", label: "Tokens written", min: 0, max: 10, step: 1, plays: true, from: "cache", until: "cost" },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    if (moment.step === "cost") return costs(numbers, moment);
    if (moment.step === "cache") return cache(numbers, moment);
    return bars(numbers, moment);
  },

  describe(/** @type {Numbers} */ numbers, { step }) {
    const { words, plain, warm, drawn, kept, count, tokens, small, length, times } = numbers;
    if (step === "cost") return `After ${length} tokens the next one takes ${written(numbers.without)} multiplications without a cache and ${written(numbers.with)} with one: ${fixed(times, 1)} times fewer.`;
    if (step === "cache") return `Keys and values of ${tokens.length - 1} tokens are cached; only “${tokens.at(-1)}” is computed: ${written(small.with)} multiplications instead of ${written(small.without)}.`;
    const shares = step === "cut" ? drawn : step === "temperature" ? warm : plain;
    const left = step === "cut" ? ` ${written(kept)} of ${written(count)} tokens can be drawn.` : "";
    return `Probabilities of the next word: ${words.map((word, i) => `${word} ${fixed(shares[i], 3)}`).join(", ")}.${left}`;
  },

  tables(/** @type {Numbers} */ { words, logits, plain, warm, drawn, together, others, curve }) {
    return [
      {
        title: "The next word",
        rows: [...words, "all others"],
        cols: ["logit z", "T = 1", "at T", "drawn from", "together, for top-p"],
        values: [...words.map((_, i) => [logits[i], plain[i], warm[i], drawn[i], together[i]]), [null, others.plain, others.warm, others.drawn, 1]],
      },
      {
        title: "Multiplications for one more token",
        rows: curve.map((each) => `${each.length} tokens`),
        cols: ["without a cache", "with a cache", "cache in MiB"],
        values: curve.map((each) => [each.without, each.with, each.memory]),
      },
    ];
  },
};

/** @type {(value: number) => string} */
const written = (value) => value.toLocaleString("en");

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function bars(numbers, { reached, inputs, ink }) {
  const { words, logits, plain, warm, drawn, others, together, count } = numbers;
  const [warmed, cut] = [reached("temperature"), reached("cut")];
  const rest = count - words.length;
  /** @type {Mark[]} */
  const marks = [
    { key: "title", kind: "text", x: LEFT, y: 16, text: cut ? "drawn from" : "probability of the next word", size: 15, bold: true, anchor: "start", fill: ink.term.output, term: "output" },
  ];
  if (cut) marks.push({ key: "together", kind: "text", x: SUM, y: 16, text: "together", size: 14, anchor: "end", fill: ink.muted });
  [...words, `${written(rest)} others`].forEach((word, i) => {
    const y = TOP + (i + 0.5) * ROW - 8;
    const all = i === words.length;
    const [before, hot, after] = all ? [others.plain, others.warm, others.drawn] : [plain[i], warm[i], drawn[i]];
    const gone = cut && after === 0;
    const share = !warmed ? before : !cut || gone ? hot : after;
    const outline = cut ? hot : before;
    const tip = all ? `${written(rest)} words together: ${fixed(share, 4)}` : `z = ${fixed(logits[i])}: ${fixed(before, 4)} at T = 1, ${fixed(hot, 4)} at T = ${fixed(Number(inputs.temperature))}${cut ? `, ${gone ? "cut off" : fixed(after, 4)} after the cut` : ""}`;
    marks.push(
      { key: `b${i}/word`, kind: "text", x: LEFT - 10, y, text: word, size: all ? 14 : 16, anchor: "end", fill: all || gone ? ink.muted : ink.text },
      { key: `b${i}`, kind: "rect", x: LEFT, y: y - 10, w: LONG * share, h: 20, fill: gone ? ink.surface : ink.term.output, stroke: gone ? ink.muted : undefined, opacity: gone ? 0.6 : 1, term: "output", tip },
      { key: `b${i}/hatch`, kind: "path", d: hatch(LEFT, y - 10, LONG * share, 20), stroke: ink.muted, width: 1, opacity: gone ? 0.8 : 0 },
      { key: `b${i}/outline`, kind: "rect", x: LEFT, y: y - 12, w: LONG * outline, h: 24, stroke: ink.text, width: 1, dash: "3 3", opacity: warmed && !gone && Math.abs(outline - share) > 0.002 ? 0.7 : 0 },
      { key: `b${i}/number`, kind: "text", x: LEFT + LONG * Math.max(share, warmed && !gone ? outline : 0) + 8, y, text: gone ? "cut off" : fixed(share, 3), size: 14, anchor: "start", fill: gone ? ink.muted : ink.text },
    );
    if (cut && !all) marks.push({ key: `b${i}/sum`, kind: "text", x: SUM, y, text: fixed(together[i], 3), size: 13, anchor: "end", fill: ink.muted });
  });
  if (cut) marks.push(...line(Number(inputs.k), words.length, ink));
  return marks;
}

/** Where top-k cuts, with a handle. @type {(k: number, most: number, ink: Ink) => Mark[]} */
function line(k, most, ink) {
  const at = k || most + 1;
  const y = TOP + at * ROW - 8;
  const to = (/** @type {number} */ rows) => ({ k: rows > most ? 0 : Math.max(1, rows) });
  return [
    { key: "cut", kind: "line", x: 14, y, x2: SUM, y2: y, stroke: ink.primary, width: 2 },
    {
      key: "cut/knob", kind: "circle", x: 14, y, r: 9, fill: ink.background, stroke: ink.primary, width: 3,
      handle: { label: "Top-k: words that are kept", value: k ? `${k} words` : "all words", now: k, move: (_, down) => to(Math.round((down + 8 - TOP) / ROW)), nudge: (dx, dy) => to(at + dx + dy) },
    },
  ];
}

/** Diagonal lines across a rectangle. @type {(x: number, y: number, w: number, h: number) => string} */
function hatch(x, y, w, h) {
  let d = "";
  for (let at = 6; at < w + h; at += 7) {
    const [from, to] = [Math.min(at, w), Math.max(0, at - h)];
    d += `M${x + from} ${y + at - from}L${x + to} ${y + at - to}`;
  }
  return d;
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function cache(numbers, { ink }) {
  const { tokens, begun, following, keys, values, query, weights, small } = numbers;
  const last = tokens.length - 1;
  const wide = Math.min(44, (WIDTH - 110) / tokens.length);
  const middle = (/** @type {number} */ i) => 66 + (i + 0.5) * wide;
  const tall = CACHE.cell * query.length;
  /** @type {Mark[]} */
  const marks = [
    { key: "cache/title", kind: "text", x: 4, y: 14, text: last === 1 ? "1 token cached, 1 computed" : `${last} tokens cached, 1 computed`, size: 15, bold: true, anchor: "start", fill: ink.text },
    { key: "k/name", kind: "text", x: 52, y: CACHE.key + tall / 2, text: "keys", size: 15, bold: true, anchor: "end", fill: ink.term.key, term: "key" },
    { key: "v/name", kind: "text", x: 52, y: CACHE.value + tall / 2, text: "values", size: 15, bold: true, anchor: "end", fill: ink.term.value, term: "value" },
    { key: "q/name", kind: "text", x: middle(last) - wide / 2 - 6, y: CACHE.query + tall / 2 + 10, text: "query", size: 15, bold: true, anchor: "end", fill: ink.term.query, term: "query" },
    { key: "cached", kind: "rect", x: 62, y: CACHE.key - 6, w: wide * last + 2, h: CACHE.value + tall - CACHE.key + 12, r: 6, fill: ink.surface, stroke: ink.line },
  ];
  tokens.forEach((name, i) => {
    const fresh = i === last;
    const x = middle(i);
    marks.push(
      { key: `c${i}`, kind: "text", x: x - 4, y: CACHE.words, text: name, size: 15, bold: fresh, anchor: "start", turn: -42, fill: i < begun ? ink.text : ink.term.output },
      ...vector(`k${i}`, keys[i], x, CACHE.key, wide, fresh, "key", name, ink),
      ...vector(`v${i}`, values[i], x, CACHE.value, wide, fresh, "value", name, ink),
      { key: `w${i}`, kind: "curve", x: middle(last), y: CACHE.query, x2: x, y2: CACHE.value + tall + 3, bend: "v", stroke: ink.term.weight, width: 0.6 + 7 * weights[i], opacity: 0.25 + 0.7 * weights[i], term: "weight", tip: `“${tokens[last]}” gives “${name}” ${fixed(weights[i], 3)}` },
    );
  });
  marks.push(...vector("q", query, middle(last), CACHE.query, wide, true, "query", tokens[last], ink));
  const y = CACHE.out;
  marks.push(
    { key: "small/without", kind: "text", x: 4, y: y - 10, text: `without a cache: ${written(small.without)} multiplications`, size: 14, anchor: "start", fill: ink.muted },
    { key: "small/with", kind: "text", x: 4, y: y + 14, text: `with it: ${written(small.with)}`, size: 15, bold: true, anchor: "start", fill: ink.text },
  );
  if (following !== null)
    marks.push(
      { key: "write", kind: "rect", x: 392, y: y - 14, w: 164, h: 34, r: 8, fill: ink.surface, stroke: ink.primary, width: 2, press: { label: `Write “${following}”`, patch: { written: tokens.length - begun + 1 } } },
      { key: "write/text", kind: "text", x: 474, y: y + 3, text: `write “${following}”`, size: 15, fill: ink.term.output },
    );
  return marks;
}

/** @type {(key: string, values: number[], x: number, y: number, wide: number, fresh: boolean, term: "query" | "key" | "value", name: string, ink: Ink) => Mark[]} */
function vector(key, values, x, y, wide, fresh, term, name, ink) {
  const w = Math.min(26, wide - 10);
  return [
    ...values.map((value, i) => /** @type {Mark} */ ({ key: `${key}/${i}`, kind: "rect", x: x - w / 2, y: y + i * CACHE.cell, w, h: CACHE.cell, fill: ink.signed(Math.max(-1, Math.min(1, value / 3))), stroke: ink.line, width: 0.5, opacity: fresh ? 1 : 0.75, tip: `${term} of “${name}”, feature ${i}: ${fixed(value, 3)}${fresh ? "" : ", from the cache"}` })),
    { key: `${key}/frame`, kind: "rect", x: x - w / 2 - 2, y: y - 2, w: w + 4, h: CACHE.cell * values.length + 4, r: 3, stroke: ink.term[term], width: fresh ? 3 : 1, term },
  ];
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function costs({ curve, length, without, with: kept, times, memory }, { ink }) {
  const { left, right, top, bottom } = PLOT;
  const [first, final] = [curve[0].length, curve[curve.length - 1].length];
  const across = (/** @type {number} */ tokens) => left + ((right - left) * Math.log(tokens / first)) / Math.log(final / first);
  const up = (/** @type {number} */ value) => bottom - ((bottom - top) * (Math.log10(value) - DECADES[0])) / (DECADES[1] - DECADES[0]);
  const path = (/** @type {"without" | "with"} */ name) => curve.map((each, i) => `${i ? "L" : "M"}${across(each.length)} ${up(each[name])}`).join("");
  const within = (/** @type {number} */ tokens) => ({ length: Math.max(first, Math.min(final, Math.round(tokens))) });
  /** @type {Mark[]} */
  const marks = [
    { key: "plot/title", kind: "text", x: 4, y: 16, text: "multiplications for one more token", size: 15, bold: true, anchor: "start", fill: ink.text },
    { key: "plot/x", kind: "text", x: right, y: bottom + 40, text: "tokens so far", size: 14, anchor: "end", fill: ink.muted },
  ];
  for (let power = DECADES[0]; power <= DECADES[1]; power += 1)
    marks.push(
      { key: `y${power}`, kind: "line", x: left, y: up(10 ** power), x2: right, y2: up(10 ** power), stroke: ink.line },
      { key: `y${power}/text`, kind: "text", x: left - 8, y: up(10 ** power), text: `10^{${power}}`, size: 14, anchor: "end", fill: ink.muted },
    );
  curve.forEach(({ length: tokens }, i) => {
    if (i % 2) marks.push({ key: `x${tokens}`, kind: "text", x: across(tokens), y: bottom + 18, text: written(tokens), size: 13, fill: ink.muted });
  });
  const x = across(length);
  const start = x > 400;
  marks.push(
    { key: "plot/without", kind: "path", d: path("without"), stroke: ink.muted, width: 3 },
    { key: "plot/with", kind: "path", d: path("with"), stroke: ink.primary, width: 3 },
    { key: "plot/at", kind: "line", x, y: top, x2: x, y2: bottom, stroke: ink.text, width: 1.5, dash: "4 4" },
    { key: "plot/at/without", kind: "circle", x, y: up(without), r: 6, fill: ink.muted },
    { key: "plot/at/with", kind: "circle", x, y: up(kept), r: 6, fill: ink.primary },
    { key: "plot/times", kind: "text", x: x + (start ? -10 : 10), y: (up(without) + up(kept)) / 2, text: `${times.toLocaleString("en", { maximumFractionDigits: 1 })} times`, size: 16, bold: true, anchor: start ? "end" : "start", fill: ink.text },
    {
      key: "plot/knob", kind: "circle", x, y: top, r: 10, fill: ink.background, stroke: ink.primary, width: 3,
      handle: { label: "Tokens so far", value: `${length} tokens`, now: length, move: (to) => within(first * (final / first) ** ((to - left) / (right - left))), nudge: (dx, dy) => within(length * 2 ** (0.5 * (dx - dy))) },
    },
  );
  const rows = /** @type {const} */ ([["without a cache", written(without), ink.muted], ["with a cache", written(kept), ink.primary], ["numbers kept, 16 bits", `${memory.toLocaleString("en", { maximumFractionDigits: 1 })} MiB`, ink.text]]);
  rows.forEach(([name, value, fill], i) =>
    marks.push(
      { key: `row${i}/dot`, kind: "circle", x: 12, y: 362 + 26 * i, r: 5, fill, opacity: i < 2 ? 1 : 0 },
      { key: `row${i}`, kind: "text", x: 26, y: 362 + 26 * i, text: name, size: 15, anchor: "start", fill: ink.text },
      { key: `row${i}/value`, kind: "text", x: 400, y: 362 + 26 * i, text: value, size: 16, bold: true, anchor: "end", fill: ink.text },
    ),
  );
  return marks;
}
