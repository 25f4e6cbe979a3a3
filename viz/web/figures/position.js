// Positions as clock hands: each pair of features is a hand, each hand turns at its own speed.

import { bracketed, fixed, replaced } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/**
 * @typedef {object} Numbers
 * @property {number} position
 * @property {number} other
 * @property {{words: string[], turned: string[], before: number[][], after: number[][], moved: number[]}} order
 * @property {number[][]} table
 * @property {number[]} rates of each hand, in radians for a position
 * @property {number[]} row
 * @property {number[]} other_row
 * @property {number} far
 * @property {number[]} far_row
 * @property {number} dot
 * @property {number} moved_dot
 * @property {number[]} dots by distance
 * @property {{q: number[][], k: number[][], rates: number[], score: number, moved_score: number, offsets: number[], scores: number[]}} rotary
 * @property {{slopes: number[], bias: (number | null)[][], weights: (number | null)[][]}} alibi
 * @property {{tokens: string[], first: number, last: number, rates: number[], embeddings: number[][], positions: number[][], sums: number[][]}} small
 */

const [WIDTH, HEIGHT] = [560, 430];
const [LEFT, PAIR] = [44, 62]; // of the clocks, and of the table's columns below them
const [CLOCK_Y, RADIUS] = [55, 25];
const LARGE = /** @type {const} */ ([350, 200, 130]); // the clock of one hand: its middle and radius
const [TABLE_Y, ROW] = [122, 15];
const [PLOT_LEFT, PLOT_WIDE] = [60, 480];
const LAST_FIRST = 17; // position of the first of three words, at most

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["order", "hand", "clock", "sixty", "misprint", "add", "distance", "rotary", "speeds", "alibi", "learned", "length"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "sentence", label: "Text", longest: 80, on: ["speeds"] },
    { kind: "choice", input: "added", label: "Positions", options: [["no", "none"], ["yes", "added"]], until: "hand" },
    { kind: "choice", input: "mask", label: "Mask", options: [["none", "none"], ["causal", "causal"]], until: "hand" },
    { kind: "slider", input: "position", label: "Position", min: 0, max: 19, step: 1, from: "hand", until: "add" },
    { kind: "slider", input: "first", label: "Position of the first word", min: 0, max: LAST_FIRST, step: 1, from: "add", until: "distance" },
    { kind: "slider", input: "position", label: "Position", min: 0, max: 19, step: 1, from: "distance", until: "length" },
    { kind: "slider", input: "other", label: "Other position", min: 0, max: 19, step: 1, from: "distance", until: "alibi" },
    { kind: "slider", input: "far", label: "Position", min: 0, max: 5000, step: 1, from: "length" },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    const { step, ink } = moment;
    if (step === "order") return order(numbers, ink);
    if (step === "add") return sums(numbers, moment);
    if (step === "rotary") return rotary(numbers, ink);
    if (step === "alibi") return alibi(numbers, ink);
    if (step === "length") return [...clocks(numbers, moment, numbers.far_row, null), ...written(numbers.far_row, numbers.far, ink)];
    if (step === "distance") {
      const { dots, dot, position, other, moved_dot: moved } = numbers;
      const curve = [...dots.slice(1).reverse(), ...dots];
      return [
        ...clocks(numbers, moment, numbers.row, numbers.other_row),
        ...readout(dot, moved, "dot product", position, other, ink),
        ...plot(curve, other - position, [0, 8], "dot product by offset, other − position", ink),
      ];
    }
    return [...clocks(numbers, moment, numbers.row, null), ...table(numbers, moment)];
  },

  describe(/** @type {Numbers} */ numbers, { step }) {
    const { order: words, position, other, row, dot, moved_dot: moved, rotary: turned, alibi: heads, far, far_row, small } = numbers;
    const list = (/** @type {number[]} */ values) => values.map((each) => fixed(each)).join(", ");
    if (step === "order") return `Self-attention on “${words.words.join(" ")}” and on “${words.turned.join(" ")}”: ${words.words.map((word, i) => `${word} moves by ${fixed(words.moved[i])}`).join(", ")}.`;
    if (step === "add") return `Embeddings of ${small.tokens.map((word, i) => `${word}: ${list(small.embeddings[i])}, plus position ${small.first + i}: ${list(small.positions[i])}, is ${list(small.sums[i])}`).join("; ")}.`;
    if (step === "distance") return `The dot product of positions ${position} and ${other} is ${fixed(dot)}; five positions later it is ${fixed(moved)}.`;
    if (step === "rotary") return `A query turned by position ${position} and a key turned by position ${other}: their dot product is ${fixed(turned.score)}; five positions later it is ${fixed(turned.moved_score)}.`;
    if (step === "alibi") return `ALiBi for the query at position ${position}, where all scores are equal: the steepest of ${heads.slopes.length} heads gives itself ${fixed(heads.weights[0][position] ?? 0)}, the flattest ${fixed(heads.weights[heads.slopes.length - 1][position] ?? 0)}.`;
    if (step === "length") return `The row of position ${far}: ${list(far_row)}.`;
    return `${step === "hand" ? "One clock hand" : "Eight clock hands"} at position ${position}. The row of the table: ${list(row)}.`;
  },

  tables(/** @type {Numbers} */ { order: words, table: rows, rotary: turned, alibi: heads, small }) {
    const places = rows.map((_, i) => String(i));
    return [
      { title: "Words in two orders: first features, and distance moved", rows: words.words, cols: ["before", "after", "moved by"], values: words.words.map((_, i) => [words.before[i][0], words.after[i][0], words.moved[i]]) },
      { title: "The table", rows: places, cols: rows[0].map((_, i) => String(i)), values: rows },
      { title: "Embedding, position and sum", rows: small.tokens.flatMap((word, i) => [word, `position ${small.first + i}`, "sum"]), cols: ["0", "1", "2", "3"], values: small.tokens.flatMap((_, i) => [small.embeddings[i], small.positions[i], small.sums[i]]) },
      { title: "Rotary: q·k by offset", rows: turned.offsets.map(String), cols: ["q·k"], values: turned.scores.map((each) => [each]) },
      { title: "ALiBi: bias by key", rows: heads.slopes.map((each) => `slope ${fixed(each, 4)}`), cols: places, values: heads.bias },
    ];
  },
};

/** @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function order({ order: { words, turned, before, after, moved } }, ink) {
  /** @type {Mark[]} */
  const marks = [];
  const x = (/** @type {number} */ place) => 24 + 176 * place;
  const cells = (/** @type {string} */ key, /** @type {number[]} */ values, /** @type {number} */ left, /** @type {number} */ top) =>
    values.map((value, i) => /** @type {Mark} */ ({ key: `${key}/${i}`, kind: "rect", x: left + i * 26, y: top, w: 26, h: 26, fill: ink.signed(Math.max(-1, Math.min(1, value))), stroke: ink.line, tip: `${key.split("/")[1]}, feature ${i}: ${fixed(value, 4)}` }));
  words.forEach((word, i) => {
    const to = turned.indexOf(word);
    marks.push(
      { key: `a${word}`, kind: "text", x: x(i) + 78, y: 30, text: word, size: 18, bold: true, fill: ink.text },
      ...cells(`a/${word}`, before[i], x(i), 54),
      { key: `l${word}`, kind: "curve", x: x(i) + 78, y: 86, x2: x(to) + 78, y2: 236, bend: "v", stroke: ink.muted, width: 2, opacity: 0.6 },
      ...cells(`b/${word}`, after[i], x(to), 242),
      { key: `b${word}`, kind: "text", x: x(to) + 78, y: 292, text: word, size: 18, bold: true, fill: ink.text },
      { key: `m${word}`, kind: "text", x: x(to) + 78, y: 330, text: `moved by ${fixed(moved[i])}`, size: 16, fill: moved[i] > 1e-4 ? ink.primary : ink.muted, bold: moved[i] > 1e-4 },
    );
  });
  marks.push({ key: "order/note", kind: "text", x: WIDTH / 2, y: 384, text: "each word after one self-attention: the first six of its 16 features", size: 14, fill: ink.muted });
  return marks;
}

/**
 * The hands of one position, and of another one to compare it with.
 *
 * @type {(numbers: Numbers, moment: Moment, row: number[], other: number[] | null) => Mark[]}
 */
function clocks({ rates, position, other: second, far }, { step, ink }, row, other) {
  /** @type {Mark[]} */
  const marks = [];
  rates.forEach((rate, j) => {
    if (step === "hand" && j) return;
    const [x, y, radius] = step === "hand" ? LARGE : [LEFT + (j + 0.5) * PAIR, CLOCK_Y, RADIUS];
    const tip = `pair ${j}: the hand turns by ${fixed(rate, 4)} for each position; sin ${fixed(row[2 * j], 4)}, cos ${fixed(row[2 * j + 1], 4)}`;
    marks.push({ key: `c${j}`, kind: "circle", x, y, r: radius, stroke: ink.line, width: 1.5, fill: ink.surface, tip });
    marks.push({ key: `c${j}/name`, kind: "text", x, y: y - radius - 20, text: String(j), size: 13, fill: ink.muted });
    if (other) marks.push(...hand(`o${j}`, [x, y, radius], other, j, ink.primary));
    marks.push(...hand(`h${j}`, [x, y, radius], row, j, ink.text));
    const ends = [[`h${j}`, row, "position", position, ink.text], ...(other ? [[`o${j}`, other, "other", second, ink.primary]] : [])];
    if (step === "length") return;
    for (const [key, values, input, now, colour] of /** @type {[string, number[], string, number, string][]} */ (ends))
      marks.push({
        ...{ key: `${key}/tip`, kind: "circle", x: x + radius * values[2 * j], y: y - radius * values[2 * j + 1], r: step === "hand" ? 10 : 6, fill: ink.background, stroke: colour, width: 2 },
        handle: {
          label: `${input === "other" ? "Other position" : "Position"}, hand ${j}`,
          value: `position ${now}`,
          now,
          move: (px, py) => ({ [input]: nearest(Math.atan2(px - x, y - py), rate, now) }),
          nudge: (dx, dy) => ({ [input]: Math.min(19, Math.max(0, now + (dx || -dy))) }),
        },
      });
  });
  const note = step === "length" ? `position ${far}` : `position ${position}`;
  marks.push({ key: "clock/note", kind: "text", x: LEFT, y: 103, text: note, size: 16, bold: true, anchor: "start", fill: ink.text });
  if (other) marks.push({ key: "clock/other", kind: "text", x: LEFT + 120, y: 103, text: `other position ${second}`, size: 16, bold: true, anchor: "start", fill: ink.primary });
  return marks;
}

/** @type {(key: string, clock: readonly [number, number, number], row: number[], j: number, stroke: string) => Mark[]} */
const hand = (key, [x, y, radius], row, j, stroke) => [
  { key, kind: "line", x, y, x2: x + radius * row[2 * j], y2: y - radius * row[2 * j + 1], stroke, width: 3 },
];

/**
 * The position whose hand stands nearest to an angle; of equals the one nearest to where it was.
 *
 * @type {(angle: number, rate: number, now: number) => number}
 */
function nearest(angle, rate, now) {
  const apart = (/** @type {number} */ p) => 1 - Math.cos(p * rate - angle) + 1e-3 * Math.abs(p - now) * rate;
  return Array.from({ length: 20 }, (_, p) => p).reduce((best, p) => (apart(p) < apart(best) ? p : best), 0);
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function table({ table: rows, position }, { step, ink }) {
  /** @type {Mark[]} */
  const marks = [];
  const wide = PAIR / 2;
  rows.forEach((row, p) => {
    const y = TABLE_Y + p * ROW;
    if (p % 5 === 0 || p === position) marks.push({ key: `t${p}/name`, kind: "text", x: LEFT - 8, y: y + ROW / 2, text: String(p), size: 13, anchor: "end", bold: p === position, fill: p === position ? ink.text : ink.muted, opacity: p % 5 === 0 && p !== position && Math.abs(p - position) < 1 ? 0 : 1 });
    row.forEach((value, i) => {
      if (step === "hand" && i > 1) return;
      marks.push({ key: `t${p}.${i}`, kind: "rect", x: LEFT + i * wide, y, w: wide, h: ROW, fill: ink.signed(value), opacity: p === position ? 1 : 0.55, tip: `P at position ${p}, feature ${i}: ${fixed(value, 4)}` });
    });
  });
  const columns = step === "hand" ? 2 : rows[0].length;
  marks.push({ key: "t/row", kind: "rect", x: LEFT - 1, y: TABLE_Y + position * ROW - 1, w: columns * wide + 2, h: ROW + 2, stroke: ink.text, width: 2.5, r: 2 });
  if (step === "hand") {
    const row = rows[position];
    marks.push(
      { key: "hand/sin", kind: "text", x: LARGE[0], y: 362, text: `sine = across = ${fixed(row[0], 3)}`, size: 16, fill: ink.text },
      { key: "hand/cos", kind: "text", x: LARGE[0], y: 388, text: `cosine = up = ${fixed(row[1], 3)}`, size: 16, fill: ink.text },
    );
  }
  return marks;
}

/**
 * Words of four features: their embeddings, the rows of their positions with two hands each, and the sums.
 *
 * @type {(numbers: Numbers, moment: Moment) => Mark[]}
 */
function sums({ small: { tokens, first, rates, embeddings, positions, sums: added } }, { inputs, ink }) {
  const [cell, tall] = [40, 36];
  const [xAt, clockAt, pAt, sumAt] = [62, 176, 240, 344];
  /** @type {Mark[]} */
  const marks = [];
  /** @type {(key: string, values: number[], left: number, top: number, tip: (i: number) => string, edit?: (i: number) => Mark["edit"], sources?: string[]) => Mark[]} */
  const cells = (key, values, left, top, tip, edit, sources) =>
    values.flatMap((value, i) => {
      const fill = ink.signed(Math.max(-1, Math.min(1, value)));
      return /** @type {Mark[]} */ ([
        { key: `${key}/${i}`, kind: "rect", x: left + i * cell, y: top, w: cell, h: tall, fill, stroke: ink.line, tip: tip(i), of: sources?.map((from) => `${from}/${i}`), edit: edit?.(i) },
        { key: `${key}/${i}/number`, kind: "text", x: left + (i + 0.5) * cell, y: top + tall / 2, text: fixed(value), size: 14, fill: ink.on(fill) },
      ]);
    });
  tokens.forEach((word, t) => {
    const left = 14 + t * 184;
    const middle = left + 2 * cell;
    const at = first + t;
    const sign = (/** @type {string} */ key, /** @type {number} */ y, /** @type {string} */ text) => /** @type {Mark} */ ({ key: `${key}${t}`, kind: "text", x: middle, y, text, size: 20, bold: true, fill: ink.muted });
    marks.push(
      { key: `word${t}`, kind: "text", x: middle, y: 18, text: word, size: 18, bold: true, fill: ink.text },
      { key: `x${t}/name`, kind: "text", x: left, y: 46, text: "embedding", size: 14, anchor: "start", fill: ink.muted },
      ...cells(`x${t}`, embeddings[t], left, xAt, (i) => `${word}, feature ${i} of the embedding: ${fixed(embeddings[t][i])}`, (i) => ({ label: `${word}, feature ${i} of the embedding`, value: embeddings[t][i], apply: (value) => ({ embeddings: replaced(inputs.embeddings, 4 * t + i, value) }) })),
      sign("plus", 122, "+"),
      { key: `p${t}/name`, kind: "text", x: left, y: clockAt + 42, text: `position ${at}`, size: 14, bold: true, anchor: "start", fill: ink.text },
      ...cells(`p${t}`, positions[t], left, pAt, (i) => `${i % 2 ? "cos" : "sin"}(${at} · ${String(rates[i >> 1])}) = ${fixed(positions[t][i], 4)}`),
      sign("equals", 306, "="),
      { key: `z${t}/name`, kind: "text", x: left, y: sumAt + 54, text: "what the network reads", size: 14, anchor: "start", fill: ink.muted },
      ...cells(`z${t}`, added[t], left, sumAt, (i) => `${bracketed(fixed(embeddings[t][i]))} + ${bracketed(fixed(positions[t][i], 4))} = ${fixed(added[t][i], 4)}`, undefined, [`x${t}`, `p${t}`]),
    );
    rates.forEach((rate, j) => {
      const [x, y, radius] = [left + (2 * j + 1) * cell, clockAt, 25];
      const [sine, cosine] = positions[t].slice(2 * j);
      marks.push(
        { key: `c${t}.${j}`, kind: "circle", x, y, r: radius, stroke: ink.line, width: 1.5, fill: ink.surface, tip: `This hand turns by ${String(rate)} radians for each position` },
        { key: `h${t}.${j}`, kind: "line", x, y, x2: x + radius * sine, y2: y - radius * cosine, stroke: ink.text, width: 3 },
      );
      if (j) return;
      marks.push({
        ...{ key: `h${t}.${j}/tip`, kind: "circle", x: x + radius * sine, y: y - radius * cosine, r: 6, fill: ink.background, stroke: ink.text, width: 2 },
        handle: {
          label: `Position of ${word}`,
          value: `position ${at}`,
          now: at,
          move: (px, py) => ({ first: within(nearest(Math.atan2(px - x, y - py), rate, at) - t) }),
          nudge: (dx, dy) => ({ first: within(first + (dx || -dy)) }),
        },
      });
    });
  });
  return marks;
}

const within = (first) => Math.min(LAST_FIRST, Math.max(0, first));

/** @type {(row: number[], far: number, ink: Ink) => Mark[]} */
function written(row, far, ink) {
  const wide = PAIR / 2;
  /** @type {Mark[]} */
  const marks = row.map((value, i) => ({ key: `far${i}`, kind: "rect", x: LEFT + i * wide, y: 122, w: wide, h: 28, fill: ink.signed(value), stroke: ink.line, tip: `feature ${i}: ${fixed(value, 4)}` }));
  const lines = [
    ["Sinusoidal, rotary, ALiBi", "computed at any position", ""],
    ["MiniLM's learned table", "512 rows: positions 0 to 511", far < 512 ? "there is a row" : "there is no row"],
  ];
  lines.forEach(([name, has, now], i) => {
    const y = 212 + i * 96;
    marks.push(
      { key: `scheme${i}`, kind: "rect", x: LEFT, y: y - 32, w: 496, h: 78, r: 9, fill: ink.surface, stroke: i && far >= 512 ? ink.primary : ink.line, width: i && far >= 512 ? 2.5 : 1 },
      { key: `scheme${i}/name`, kind: "text", x: LEFT + 18, y: y - 8, text: name, size: 17, bold: true, anchor: "start", fill: ink.text },
      { key: `scheme${i}/has`, kind: "text", x: LEFT + 18, y: y + 20, text: has, size: 15, anchor: "start", fill: ink.muted },
      { key: `scheme${i}/now`, kind: "text", x: LEFT + 478, y: y + 20, text: i ? `${far}: ${now}` : `${far}: computed`, size: 15, bold: true, anchor: "end", fill: ink.text },
    );
  });
  return marks;
}

/** @type {(value: number, moved: number, name: string, first: number, second: number, ink: Ink) => Mark[]} */
function readout(value, moved, name, first, second, ink) {
  return [
    { key: "readout", kind: "text", x: LEFT, y: 138, text: `${name} at ${first} and ${second}`, size: 16, anchor: "start", fill: ink.text },
    { key: "readout/value", kind: "text", x: 340, y: 138, text: fixed(value, 3), size: 18, bold: true, anchor: "end", fill: ink.text },
    { key: "moved", kind: "text", x: LEFT, y: 166, text: `five later: ${first + 5} and ${second + 5}`, size: 16, anchor: "start", fill: ink.muted },
    { key: "moved/value", kind: "text", x: 340, y: 166, text: fixed(moved, 3), size: 18, bold: true, anchor: "end", fill: ink.muted },
  ];
}

/**
 * A number for each offset from −19 to 19.
 *
 * @type {(values: number[], offset: number, range: [number, number], title: string, ink: Ink) => Mark[]}
 */
function plot(values, offset, [low, high], title, ink) {
  const [top, tall] = [212, 168];
  const middle = (values.length - 1) / 2;
  const across = (/** @type {number} */ i) => PLOT_LEFT + (PLOT_WIDE * i) / (values.length - 1);
  const down = (/** @type {number} */ value) => top + (tall * (high - value)) / (high - low);
  /** @type {Mark[]} */
  const marks = [
    { key: "plot/title", kind: "text", x: PLOT_LEFT + PLOT_WIDE / 2, y: HEIGHT - 12, text: title, size: 14, fill: ink.muted },
    { key: "plot/zero", kind: "line", x: across(0), y: down(0), x2: across(values.length - 1), y2: down(0), stroke: ink.muted },
    { key: "plot/middle", kind: "line", x: across(middle), y: top, x2: across(middle), y2: top + tall, stroke: ink.line },
  ];
  for (const tick of [low, high]) marks.push({ key: `plot/y${tick}`, kind: "text", x: PLOT_LEFT - 12, y: down(tick), text: fixed(tick, 0), size: 13, anchor: "end", fill: ink.muted });
  for (const tick of [-15, -10, -5, 0, 5, 10, 15]) marks.push({ key: `plot/x${tick}`, kind: "text", x: across(middle + tick), y: top + tall + 16, text: fixed(tick, 0), size: 13, fill: ink.muted });
  values.forEach((value, i) => {
    const here = i - middle === offset;
    marks.push({ key: `plot${i}`, kind: "circle", x: across(i), y: down(value), r: here ? 7 : 3.5, fill: here ? ink.primary : ink.muted, tip: `offset ${fixed(i - middle, 0)}: ${fixed(value, 3)}` });
  });
  return marks;
}

/** @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function rotary({ rotary: { q, k, rates, score, moved_score: moved, scores }, position, other }, ink) {
  /** @type {Mark[]} */
  const marks = [];
  const scale = 44 / Math.max(...[...q, ...k].map(([x, y]) => Math.hypot(x, y)));
  rates.forEach((rate, j) => {
    const [x, y] = [76 + j * 136, 60];
    const term = /** @type {const} */ ({ q: "query", k: "key" });
    marks.push(
      { key: `r${j}`, kind: "circle", x, y, r: 46, stroke: ink.line, fill: ink.surface },
      { key: `r${j}/name`, kind: "text", x, y: 116, text: `${String(rate)} per position`, size: 13, fill: ink.muted },
    );
    for (const [name, [a, b]] of /** @type {["q" | "k", number[]][]} */ ([["q", q[j]], ["k", k[j]]]))
      marks.push({ key: `r${j}/${name}`, kind: "arrow", x, y, x2: x + scale * a, y2: y - scale * b, stroke: ink.term[term[name]], width: 3, term: term[name], tip: `pair ${j} of the ${term[name]}, turned by ${fixed((name === "q" ? position : other) * rate, 3)}: (${fixed(a)}, ${fixed(b)})` });
  });
  for (const [i, term] of /** @type {const} */ (["query", "key"]).entries())
    marks.push(
      { key: `turned/${term}`, kind: "arrow", x: 400, y: 138 + 28 * i, x2: 428, y2: 138 + 28 * i, stroke: ink.term[term], width: 3, term },
      { key: `turned/${term}/name`, kind: "text", x: 438, y: 138 + 28 * i, text: `${term}, turned`, size: 15, anchor: "start", fill: ink.term[term], term },
    );
  const most = Math.ceil(Math.max(...scores.map(Math.abs)));
  return [...marks, ...readout(score, moved, "q·k", position, other, ink), ...plot(scores, other - position, [-most, most], "q·k by offset, key − query", ink)];
}

/** @type {(numbers: Numbers, ink: Ink) => Mark[]} */
function alibi({ alibi: { slopes, bias, weights }, position }, ink) {
  const [left, cell, top, tall] = [76, 23.5, 206, 24];
  const [base, high] = [34, 130];
  const deepest = Math.max(1, slopes[0] * position);
  /** @type {Mark[]} */
  const marks = [
    { key: "alibi/title", kind: "text", x: left, y: 14, text: "bias: −slope · distance", size: 15, bold: true, anchor: "start", fill: ink.text },
    { key: "alibi/weights", kind: "text", x: left, y: top - 14, text: "weights, where all scores are equal", size: 15, bold: true, anchor: "start", fill: ink.term.weight, term: "weight" },
    { key: "alibi/zero", kind: "line", x: left, y: base, x2: left + 20 * cell, y2: base, stroke: ink.line },
    { key: "alibi/0", kind: "text", x: left - 8, y: base, text: "0", size: 13, anchor: "end", fill: ink.muted },
    { key: "alibi/deepest", kind: "text", x: left - 8, y: base + high, text: fixed(-deepest, 1), size: 13, anchor: "end", fill: ink.muted },
    { key: "alibi/slope", kind: "text", x: left - 8, y: top - 14, text: "slope", size: 13, anchor: "end", fill: ink.muted },
    { key: "alibi/keys", kind: "text", x: left + 10 * cell, y: HEIGHT - 9, text: "position of the key", size: 14, fill: ink.muted },
  ];
  slopes.forEach((slope, head) => {
    const y = top + head * tall;
    const end = left + (position + 0.5) * cell;
    marks.push(
      { key: `line${head}`, kind: "line", x: end, y: base, x2: end - position * cell, y2: base + (high * position * slope) / deepest, stroke: ink.heads[head], width: 2.5, tip: `Head ${head}: slope ${slope}` },
      { key: `slope${head}`, kind: "text", x: left - 8, y: y + tall / 2, text: `1/${Math.round(1 / slope)}`, size: 14, anchor: "end", fill: ink.text },
      { key: `slope${head}/mark`, kind: "rect", x: 8, y: y + 6, w: 12, h: 12, r: 3, fill: ink.heads[head] },
    );
    weights[head].forEach((weight, key) => {
      marks.push({ key: `w${head}.${key}`, kind: "rect", x: left + key * cell, y, w: cell, h: tall - 2, fill: weight === null ? ink.background : ink.weight(weight), stroke: ink.line, width: 0.5, tip: weight === null ? "masked: after the query" : `Head ${head}, distance ${position - key}: bias ${fixed(bias[head][key] ?? 0, 3)}, weight ${fixed(weight, 3)}` });
    });
  });
  for (const key of [0, 5, 10, 15, 19]) marks.push({ key: `key${key}`, kind: "text", x: left + (key + 0.5) * cell, y: top + 8 * tall + 8, text: String(key), size: 13, fill: key === position ? ink.text : ink.muted, bold: key === position });
  return marks;
}
