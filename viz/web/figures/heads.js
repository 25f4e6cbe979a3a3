// Many heads: a band of numbers that splits into heads, attends in each, and joins again.

import { bracketed, fixed } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/** @typedef {{parameters: number, projections: number, products: number, exponentials: number}} Costs */

/**
 * @typedef {object} Trained
 * @property {string[]} tokens
 * @property {number[][][]} weights of each head
 * @property {string[]} names of what each head comes closest to
 * @property {number[]} scores
 * @property {number} layer
 * @property {number} head
 */

/**
 * @typedef {object} Cell
 * @property {number} query
 * @property {number} key
 * @property {string} asks the query's token
 * @property {string} asked the key's
 * @property {number[]} q
 * @property {number[]} k
 * @property {number[]} products
 * @property {number} sum
 * @property {number} score
 * @property {number} weight
 */

/**
 * @typedef {object} Numbers
 * @property {string[]} words
 * @property {number} token
 * @property {number} count of heads
 * @property {number} width of each
 * @property {number} head the chosen one
 * @property {number[]} x
 * @property {number[]} q
 * @property {number[]} k
 * @property {number[]} v
 * @property {number[][][]} scores
 * @property {number[][][]} weights
 * @property {number[]} joined
 * @property {number[]} out
 * @property {Record<string, Costs>} costs by the number of heads
 * @property {Trained | null} trained
 * @property {Cell} [cell] a weight of a trained head
 */

const [WIDTH, HEIGHT] = [560, 430];
const [LEFT, CELL, TALL] = [62, 36, 18]; // of a band
const GAPS = 56; // between all heads together
const Y = { words: 8, x: 52, q: 92, k: 115, v: 138, name: 172, map: 186, values: 300, joined: 300, mix: 338, out: 384 };
const HIGH = { tall: 56, x: 60, q: 166, k: 240, v: 314, name: 394 }; // while there are no maps below
const MAP = 84; // largest side of a head's weights
const OPEN = { left: 74, top: 84, side: 248 }; // of the map with a cell that is opened
const BARS = { x: 356, wide: 196, zero: 166, high: 70 }; // of the products
const LEVELS = 12; // shades of a small map
/** @type {[keyof Costs, string][]} */
const PANELS = [
  ["parameters", "Parameters"],
  ["projections", "Multiplications: projections"],
  ["products", "Multiplications: q·k and weights·v"],
  ["exponentials", "Exponentials; weights to store"],
];

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["band", "split", "maps", "join", "eight", "cost", "shapes", "trained", "cell", "deep"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "sentence", label: "Sentence", longest: 80, on: ["deep"] },
    { kind: "choice", input: "among", label: "Habits of weights on", options: [["all", "all tokens"], ["words", "words alone"]], on: ["trained"] },
    { kind: "choice", input: "heads", label: "Heads", options: ["1", "2", "3", "4", "6", "12"].map((each) => [each, each]), from: "split", until: "trained" },
    { kind: "slider", input: "layer", label: "Layer", min: 0, max: 5, step: 1, from: "trained" },
    { kind: "slider", input: "head", label: "Head", min: 0, max: 11, step: 1, on: ["cell"] },
    { kind: "text", input: "sentence", label: "Sentence", longest: 80, from: "trained" },
  ],

  asks({ step }) {
    if (step === "cell") return { trained: "cell", element: 0 }; // which element is read is asked of no one
    return step === "trained" ? { trained: "yes" } : {};
  },

  marks(/** @type {Numbers} */ numbers, moment) {
    if (moment.step === "trained") return trained(numbers.trained, moment);
    if (moment.step === "cell") return opened(numbers, moment);
    if (moment.step === "cost") return costs(numbers, moment);
    return layer(numbers, moment);
  },

  describe(/** @type {Numbers} */ numbers, { step, reached }) {
    const { words, token, count, width, head, weights, joined, out, costs: all, trained: read } = numbers;
    if (step === "trained" && read)
      return `Weights of the 12 heads of layer ${read.layer} of MiniLM on ${read.tokens.join(" ")}. Closest habits: ${read.names.map((name, i) => `head ${i} ${name}`).join(", ")}.`;
    if (step === "cell" && numbers.cell) {
      const { asks, asked, sum, score, weight, products } = numbers.cell;
      return `The ${products.length} products of the query of ${asks} and the key of ${asked} sum to ${fixed(sum)}: a score of ${fixed(score)}, and a weight of ${fixed(weight, 4)}.`;
    }
    if (step === "cost" || step === "trained" || step === "cell") {
      const now = all[String(count)];
      return `With ${count} heads: ${now.parameters} parameters, ${now.projections} and ${now.products} multiplications, ${now.exponentials} exponentials.`;
    }
    const shares = weights[head][token].map((each, j) => `${words[j]} ${fixed(each)}`).join(", ");
    if (reached("join")) return `The outputs of ${count} heads, joined to ${joined.length} numbers, become ${out.length} numbers by W O: ${out.map((each) => fixed(each)).join(", ")}.`;
    if (reached("maps")) return `${count} maps of weights among ${words.length} words. In head ${head}, ${words[token]} attends to: ${shares}.`;
    if (reached("split")) return `Query, key and value of ${words[token]}, ${count * width} numbers each, cut into ${count} heads of ${width}.`;
    return `The word ${words[token]} as ${numbers.x.length} numbers, and its query, key and value of ${numbers.q.length} numbers each.`;
  },

  tables(/** @type {Numbers} */ { words, token, count, q, k, v, x, joined, out, scores, weights, head, costs: all, cell }) {
    const features = x.map((_, i) => String(i));
    return [
      ...(cell ? [{ title: `“${cell.asks}” and “${cell.asked}”`, rows: ["query", "key", "product"], cols: cell.q.map((_, i) => String(i)), values: [cell.q, cell.k, cell.products] }] : []),
      { title: `“${words[token]}”, ${count} heads`, rows: ["x", "q", "k", "v", "heads joined", "out"], cols: features, values: [x, q, k, v, joined, out] },
      { title: `Head ${head}: scores`, rows: words, cols: words, values: scores[head] },
      { title: `Head ${head}: weights`, rows: words, cols: words, values: weights[head] },
      {
        title: "Cost by number of heads",
        rows: Object.keys(all),
        cols: PANELS.map(([, title]) => title),
        values: Object.values(all).map((each) => PANELS.map(([name]) => each[name])),
      },
    ];
  },
};

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function layer(numbers, { reached, ink }) {
  const { words, token, count, width, weights, x, q, k, v, joined, out } = numbers;
  const [split, mapped, joining] = [reached("split"), reached("maps"), reached("join")];
  const at = mapped ? { ...Y, tall: TALL } : { ...Y, ...HIGH };
  const { tall } = at;
  const gap = split && count > 1 ? GAPS / (count - 1) : 0;
  const shift = split ? 0 : GAPS / 2;
  const start = (/** @type {number} */ i) => LEFT + shift + i * CELL + Math.floor(i / width) * gap;
  const whole = (/** @type {number} */ i) => LEFT + GAPS / 2 + i * CELL;
  const span = width * CELL;
  /** @type {Mark[]} */
  const marks = [];
  words.forEach((word, j) => {
    const left = LEFT + GAPS / 2 + j * 110;
    const chosen = j === token;
    marks.push(
      { key: `word${j}`, kind: "rect", x: left, y: Y.words, w: 102, h: 28, r: 7, fill: chosen ? ink.surface : ink.background, stroke: chosen ? ink.primary : ink.line, width: chosen ? 2.5 : 1, press: { label: `Follow “${word}”`, pressed: chosen, patch: { token: j } } },
      { key: `word${j}/text`, kind: "text", x: left + 51, y: Y.words + 14, text: word, size: 15, bold: chosen, fill: ink.text },
    );
  });
  marks.push(...band("x", x, at.x, whole, { ink, stroke: ink.muted, tall }));
  const names = /** @type {const} */ ([["q", "query", q, at.q], ["k", "key", k, at.k], ["v", "value", v, at.v]]);
  for (const [name, term, values, y] of names)
    marks.push(...band(name, values, y, start, { ink, stroke: ink.term[term], term, tall }));
  marks.push({ key: "project", kind: "arrow", x: WIDTH / 2 + 6, y: at.x + tall + 3, x2: WIDTH / 2 + 6, y2: at.q - 4, stroke: ink.muted, width: 2 });
  if (split)
    for (let each = 0; each < count; each++) {
      const left = start(each * width);
      const colour = ink.heads[each];
      const chosen = mapped && !joining && each === numbers.head;
      const side = Math.min(span, MAP);
      const corner = left + (span - side) / 2;
      marks.push(
        { key: `h${each}`, kind: "rect", x: left - 2, y: at.q - 3, w: span + 4, h: at.v - at.q + tall + 6, r: 4, stroke: colour, width: 2.5 },
        { key: `h${each}/name`, kind: "text", x: left + span / 2, y: at.name, text: span > 60 ? `head ${each}` : String(each), size: 14, bold: true, fill: ink.text },
      );
      if (!mapped) continue;
      marks.push(...map(`map${each}`, weights[each], corner, Y.map, side, { ink, words, each }));
      marks.push(
        { key: `map${each}/row`, kind: "rect", x: corner - 1, y: Y.map + (token * side) / words.length, w: side + 2, h: side / words.length, stroke: ink.text, width: 1.5 },
        { key: `map${each}/frame`, kind: "rect", x: corner - 3, y: Y.map - 3, w: side + 6, h: side + 6, r: 4, stroke: colour, width: chosen ? 4 : 2, press: { label: `Head ${each}`, pressed: chosen, patch: { head: each } } },
      );
      if (joining) {
        const to = whole(each * width) + span / 2;
        marks.push({ key: `map${each}/run`, kind: "curve", x: corner + side / 2, y: Y.map + side + 5, x2: to, y2: Y.joined - 3, bend: "v", stroke: colour, width: 2.5, flow: true });
      }
    }
  if (mapped && !joining) marks.push(...reading(numbers, ink));
  if (joining) {
    marks.push(...band("joined", joined, Y.joined, whole, { ink, stroke: ink.muted, name: "joined", heads: (i) => ink.heads[Math.floor(i / width)] }));
    marks.push(
      { key: "mix", kind: "rect", x: whole(0), y: Y.mix, w: CELL * x.length, h: 26, r: 6, fill: ink.surface, stroke: ink.line },
      { key: "mix/text", kind: "text", x: WIDTH / 2 + 6, y: Y.mix + 13, text: "W^{O}: every number from all heads", size: 14, fill: ink.text },
      { key: "mix/in", kind: "arrow", x: WIDTH / 2 + 6, y: Y.joined + TALL + 2, x2: WIDTH / 2 + 6, y2: Y.mix - 2, stroke: ink.muted, width: 2 },
      { key: "mix/out", kind: "arrow", x: WIDTH / 2 + 6, y: Y.mix + 28, x2: WIDTH / 2 + 6, y2: Y.out - 2, stroke: ink.muted, width: 2 },
      ...band("out", out, Y.out, whole, { ink, stroke: ink.term.output, term: "output" }),
    );
  }
  return marks;
}

/**
 * A vector as a row of cells.
 *
 * @param {string} key
 * @param {number[]} values
 * @param {number} y
 * @param {(i: number) => number} place left edge of a cell
 * @param {{ink: Ink, stroke: string, term?: Mark["term"], name?: string, heads?: (i: number) => string, tall?: number}} look with numbers where the cells are tall
 * @returns {Mark[]}
 */
function band(key, values, y, place, { ink, stroke, term, name = key, heads, tall = TALL }) {
  return [
    { key: `${key}/name`, kind: "text", x: place(0) - 8, y: y + tall / 2, text: name, size: name.length > 3 ? 14 : 16, bold: true, anchor: "end", fill: term ? stroke : ink.text, term },
    ...values.flatMap((value, i) => {
      const fill = ink.signed(Math.max(-1, Math.min(1, value / 3)));
      /** @type {Mark} */
      const cell = { key: `${key}${i}`, kind: "rect", x: place(i), y, w: CELL, h: tall, fill, stroke: heads?.(i) ?? stroke, width: heads ? 2 : 1, term, tip: `${name}, feature ${i}: ${fixed(value, 3)}` };
      if (tall === TALL) return [cell];
      return [cell, /** @type {Mark} */ ({ key: `${key}${i}/number`, kind: "text", x: place(i) + CELL / 2, y: y + tall / 2, text: fixed(value, 1), size: 13, fill: ink.on(fill) })];
    }),
  ];
}

/** @type {(key: string, weights: number[][], x: number, y: number, side: number, about: {ink: Ink, words: string[], each: number}) => Mark[]} */
function map(key, weights, x, y, side, { ink, words, each }) {
  const cell = side / weights.length;
  return weights.flatMap((row, i) =>
    row.map((weight, j) => /** @type {Mark} */ ({ key: `${key}/${i}.${j}`, kind: "rect", x: x + j * cell, y: y + i * cell, w: cell, h: cell, fill: ink.weight(weight), stroke: ink.line, width: 0.5, term: "weight", tip: `Head ${each}: “${words[i]}” gives “${words[j]}” ${fixed(weight, 3)}` })),
  );
}

/**
 * The row of the followed word in the chosen head, as bars.
 *
 * @type {(numbers: Numbers, ink: Ink) => Mark[]}
 */
function reading({ words, token, head, scores, weights }, ink) {
  /** @type {Mark[]} */
  const marks = [
    { key: "read/title", kind: "text", x: LEFT, y: 304, text: `“${words[token]}” in head ${head}`, size: 15, bold: true, anchor: "start", fill: ink.text },
    { key: "read/scores", kind: "text", x: 260, y: 304, text: "score", size: 14, anchor: "end", fill: ink.muted },
    { key: "read/weights", kind: "text", x: 292, y: 304, text: "weight", size: 14, bold: true, anchor: "start", fill: ink.term.weight, term: "weight" },
  ];
  words.forEach((word, j) => {
    const y = 328 + j * 26;
    const weight = weights[head][token][j];
    marks.push(
      { key: `read${j}`, kind: "text", x: 190, y, text: `“${word}”`, size: 15, anchor: "end", fill: ink.text },
      { key: `read${j}/score`, kind: "text", x: 260, y, text: fixed(scores[head][token][j]), size: 15, anchor: "end", fill: ink.text },
      { key: `read${j}/bar`, kind: "rect", x: 292, y: y - 9, w: 170 * weight, h: 18, fill: ink.term.weight, term: "weight" },
      { key: `read${j}/weight`, kind: "text", x: 300 + 170 * weight, y, text: fixed(weight), size: 15, anchor: "start", fill: ink.text, term: "weight" },
    );
  });
  return marks;
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function costs({ costs: all, count }, { ink }) {
  const counts = Object.keys(all);
  return PANELS.flatMap(([name, title], panel) => {
    const [left, top] = [14 + 282 * (panel % 2), 16 + 214 * Math.floor(panel / 2)];
    const most = Math.max(...counts.map((each) => all[each][name]));
    const grows = all["1"][name] !== all["12"][name];
    /** @type {Mark[]} */
    const marks = [
      { key: `cost/${name}`, kind: "text", x: left, y: top, text: title, size: 14, bold: true, anchor: "start", fill: grows ? ink.primary : ink.text },
      { key: `cost/${name}/axis`, kind: "text", x: left + 122, y: top + 191, text: "heads", size: 13, fill: ink.muted },
    ];
    counts.forEach((each, i) => {
      const value = all[each][name];
      const x = left + i * 42;
      const tall = (120 * value) / most;
      const chosen = Number(each) === count;
      marks.push(
        { key: `cost/${name}/${each}`, kind: "rect", x, y: top + 162 - tall, w: 34, h: tall, fill: chosen ? ink.primary : ink.line, tip: `${each} heads: ${value.toLocaleString("en")}`, ...(panel ? {} : { press: { label: `${each} heads`, pressed: chosen, patch: { heads: each } } }) },
        { key: `cost/${name}/${each}/value`, kind: "text", x: x + 17, y: top + 152 - tall, text: value.toLocaleString("en"), size: 13, bold: chosen, fill: chosen ? ink.text : ink.muted },
        { key: `cost/${name}/${each}/name`, kind: "text", x: x + 17, y: top + 174, text: each, size: 14, bold: chosen, fill: chosen ? ink.text : ink.muted },
      );
    });
    return marks;
  });
}

/** @type {(read: Trained | null, moment: Moment) => Mark[]} */
function trained(read, { inputs, ink }) {
  if (!read) return [{ key: "wait", kind: "text", x: WIDTH / 2, y: HEIGHT / 2, text: "MiniLM is reading the sentence …", size: 16, fill: ink.muted }];
  const head = Number(inputs.head);
  const { tokens, weights, names } = read;
  const [small, big] = [62, Math.min(20, 256 / tokens.length)];
  /** @type {Mark[]} */
  const marks = [];
  names.forEach((name, each) => {
    const [x, y] = [6 + 72 * (each % 3), 26 + 106 * Math.floor(each / 3)];
    const chosen = each === head;
    marks.push(
      { key: `small${each}/name`, kind: "text", x: x + small / 2, y: y - 12, text: `${each} ${name}`, size: 13, bold: chosen, fill: chosen ? ink.text : ink.muted },
      ...levels(`small${each}`, weights[each], x, y, small, ink),
      { key: `small${each}/frame`, kind: "rect", x: x - 2, y: y - 2, w: small + 4, h: small + 4, r: 3, stroke: chosen ? ink.primary : ink.line, width: chosen ? 3 : 1, press: { label: `Head ${each}: ${name}`, pressed: chosen, patch: { head: each } } },
    );
  });
  const [left, top] = [WIDTH - 26 - big * tokens.length, 100];
  marks.push({ key: "big/title", kind: "text", x: left + (big * tokens.length) / 2, y: top + big * tokens.length + 22, text: `layer ${read.layer}, head ${head}: ${names[head]}, ${fixed(read.scores[head])}`, size: 15, bold: true, fill: ink.text });
  marks.push(...named(tokens, weights[head], { left, top, big }, ink));
  return marks;
}

/**
 * A map with the names of its tokens.
 *
 * @type {(tokens: string[], weights: number[][], place: {left: number, top: number, big: number}, ink: Ink) => Mark[]}
 */
function named(tokens, weights, { left, top, big }, ink) {
  return tokens.flatMap((name, i) => {
    const cut = name.length > 9 ? `${name.slice(0, 8)}…` : name;
    return /** @type {Mark[]} */ ([
      { key: `big/row${i}`, kind: "text", x: left - 4, y: top + (i + 0.5) * big, text: cut, size: 12, anchor: "end", fill: ink.text },
      { key: `big/col${i}`, kind: "text", x: left + (i + 0.5) * big, y: top - 5, text: cut, size: 12, anchor: "start", turn: -60, fill: ink.text },
      ...tokens.map((other, j) => {
        const weight = weights[i][j];
        return { key: `big/${i}.${j}`, kind: "rect", x: left + j * big, y: top + i * big, w: big, h: big, fill: ink.weight(weight), stroke: ink.line, width: 0.5, tip: `“${name}” gives “${other}” ${fixed(weight, 3)}` };
      }),
    ]);
  });
}

/**
 * A cell of a map, opened: the products of its query and key, and one of them.
 *
 * @type {(numbers: Numbers, moment: Moment) => Mark[]}
 */
function opened({ trained: read, cell }, { inputs, ink }) {
  if (!read || !cell) return [{ key: "wait", kind: "text", x: WIDTH / 2, y: HEIGHT / 2, text: "MiniLM is reading the sentence …", size: 16, fill: ink.muted }];
  const { tokens, weights, head, layer: depth } = read;
  const { query, key, q, k, products, sum, score, weight } = cell;
  const last = tokens.length - 1;
  const at = Math.min(Number(inputs.element), products.length - 1);
  const { left, top, side } = OPEN;
  const big = side / tokens.length;
  const clamp = (/** @type {number} */ value, /** @type {number} */ most) => Math.min(most, Math.max(0, value));
  const [x, y] = [left + key * big, top + query * big];
  const { x: from, wide, zero, high } = BARS;
  const step = wide / products.length;
  const most = Math.max(0.01, ...products.map(Math.abs));
  const up = (/** @type {number} */ product) => (high * product) / most;
  const chosen = from + at * step;
  const line = (/** @type {string} */ name, /** @type {number} */ down, /** @type {string} */ text, /** @type {Partial<Mark>} */ more = {}) => /** @type {Mark} */ ({ key: name, kind: "text", x: from, y: down, text, size: 15, anchor: "start", fill: ink.text, ...more });
  return [
    ...named(tokens, weights[head], { left, top, big }, ink).map((mark) => ({ ...mark, tip: undefined })),
    { key: "big/title", kind: "text", x: left + side / 2, y: top + side + 20, text: `layer ${depth}, head ${head}`, size: 15, bold: true, fill: ink.text },
    { key: "lens/upper", kind: "line", x: x + big, y, x2: from - 8, y2: 22, stroke: ink.primary, width: 1.2, dash: "4 4" },
    { key: "lens/lower", kind: "line", x: x + big, y: y + big, x2: from - 8, y2: HEIGHT - 14, stroke: ink.primary, width: 1.2, dash: "4 4" },
    { key: "lens/cell", kind: "rect", x: x - 1, y: y - 1, w: big + 2, h: big + 2, stroke: ink.primary, width: 2.5 },
    {
      ...{ key: "lens/map", kind: "rect", x: left, y: top, w: side, h: side, fill: "none" },
      handle: {
        ...{ label: "The cell that is opened", value: `“${cell.asks}” gives “${cell.asked}” ${fixed(weight, 3)}`, taps: true },
        move: (across, down) => ({ query: clamp(Math.floor((down - top) / big), last), key: clamp(Math.floor((across - left) / big), last) }),
        nudge: (across, down) => ({ query: clamp(query + down, last), key: clamp(key + across, last) }),
      },
    },
    line("cell/query", 32, `query of “${cell.asks}”`, { bold: true, fill: ink.term.query, term: "query" }),
    line("cell/key", 54, `key of “${cell.asked}”`, { bold: true, fill: ink.term.key, term: "key" }),
    line("cell/bars", 78, `${products.length} products, ${fixed(Math.min(...products), 1)} to ${fixed(Math.max(...products), 1)}`, { size: 14, fill: ink.muted }),
    { key: "cell/zero", kind: "line", x: from, y: zero, x2: from + wide, stroke: ink.line, width: 1 },
    ...products.map((product, i) => /** @type {Mark} */ ({ key: `cell/bar${i}`, kind: "rect", x: from + i * step + 0.5, y: zero - Math.max(0, up(product)), w: step - 1, h: Math.abs(up(product)), fill: i === at ? ink.primary : ink.text, opacity: i === at ? 1 : 0.55 })),
    { key: "cell/at", kind: "rect", x: chosen - 1, y: zero - high - 3, w: step + 2, h: 2 * high + 6, r: 2, stroke: ink.primary, width: 1.5 },
    {
      ...{ key: "cell/pick", kind: "rect", x: from, y: zero - high, w: wide, h: 2 * high, fill: "none" },
      handle: {
        ...{ label: "The product that is read", value: `element ${at}: ${fixed(q[at])} times ${fixed(k[at])} is ${fixed(products[at])}`, now: at, taps: true },
        move: (across) => ({ element: clamp(Math.floor((across - from) / step), products.length - 1) }),
        nudge: (across, down) => ({ element: clamp(at + across - down, products.length - 1) }),
      },
    },
    line("cell/element", 262, `element ${at}: one multiplication`, { size: 14, fill: ink.muted }),
    line("cell/product", 286, `${bracketed(fixed(q[at]))} · ${bracketed(fixed(k[at]))} = ${fixed(products[at])}`, { size: 18, bold: true, fill: ink.primary }),
    line("cell/sum", 326, `sum of all ${products.length}: ${fixed(sum)}`),
    line("cell/score", 352, `÷ √${products.length}: score ${fixed(score)}`),
    line("cell/weight", 378, `softmax over the row: weight`),
    line("cell/share", 402, fixed(weight, 4), { size: 18, bold: true, fill: ink.term.weight, term: "weight" }),
  ];
}

/**
 * A small map: one path for each shade.
 *
 * @type {(key: string, weights: number[][], x: number, y: number, side: number, ink: Ink) => Mark[]}
 */
function levels(key, weights, x, y, side, ink) {
  const cell = side / weights.length;
  const across = weights.map((_, j) => (x + j * cell).toFixed(2));
  const down = weights.map((_, i) => (y + i * cell).toFixed(2));
  const square = `h${cell.toFixed(2)}v${cell.toFixed(2)}h-${cell.toFixed(2)}z`;
  const paths = Array(LEVELS + 1).fill("");
  weights.forEach((row, i) => row.forEach((weight, j) => (paths[Math.round(weight * LEVELS)] += `M${across[j]} ${down[i]}${square}`)));
  return paths.flatMap((d, level) => (d ? [/** @type {Mark} */ ({ key: `${key}/${level}`, kind: "path", d, fill: ink.weight(level / LEVELS) })] : []));
}
