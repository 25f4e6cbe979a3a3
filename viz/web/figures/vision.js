// Vision transformer: patches lift off the picture into a sequence, and the class token attends to them.

import { fixed, percent, power } from "../story/marks.js";

/** @import {Figure, Mark} from "../types" */

/**
 * @typedef {object} Numbers
 * @property {string[]} patches data: URLs, row by row
 * @property {number} cols of patches in the picture
 * @property {number} count of patches
 * @property {number} tokens
 * @property {number} side of the picture in pixels
 * @property {number} patch side of a patch in pixels
 * @property {number} flat numbers of a patch
 * @property {number} width of a token
 * @property {number[]} sequence for each patch, its place in the sequence
 * @property {number[]} places for each patch, its place in the picture
 * @property {number[]} weights that the class token gives to each patch
 * @property {number} own weight that it gives to itself
 * @property {number} largest weight of a patch
 * @property {number} position whose vector is compared
 * @property {number[]} similar cosine similarity of all position vectors with it
 * @property {number} least smallest of these
 * @property {number} changed largest difference from the picture in order, of a number of the class token's last vector
 * @property {number} cosine of that vector with the one of the picture in order
 * @property {{layer: number, names: string[], norms: number[][], class: number[]}} block norms of the tokens' vectors after each step, the class token first
 * @property {{title: string, best: {name: string, share: number}[]}[]} [questions] of the network that answers
 * @property {{name: string, share: number}} [answer]
 */

const [WIDTH, HEIGHT] = [560, 406];
const PICTURE = { x: 16, y: 34, size: 328 };
const LINES = { x: 50, y: 44, wide: 496, high: 336 }; // the sequence, written like lines of text
const GHOST = { x: 212, y: 8, size: 120, opacity: 0.45 }; // the picture above the sequence that it was cut into
const BELOW = { y: 150, high: 216 }; // the sequence below the ghost
const VEIL = "#000000"; // over patches of less weight, in both modes: brighter is more
const CLASS = 27; // side of the class token in the sequence
/** @type {Record<string, string>} */
const LAYERS = { x: "input", norm: "LN", attention: "attention", "feed-forward": "MLP", "+": "add" };
const LEAST = 0.4; // weights below it, as a share of the largest, get no line
const STOPS = 10; // of the bar of norms

const small = (change) => (change && change < 0.001 ? power(change, 1) : fixed(change, change ? 3 : 0));

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["cut", "pixels", "sequence", "class", "positions", "shuffle", "block", "attention", "answer", "needs", "sizes", "count", "train", "frames"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "choice", input: "photo", label: "Photo", options: [["flower", "flower"], ["china", "temple"]], until: "answer" },
    { kind: "choice", input: "picture", label: "Picture", options: [["a-star", "star"], ["a-heart", "heart"], ["a-moon", "moon"]], on: ["answer"] },
    { kind: "choice", input: "shuffle", label: "Shuffle", options: [["none", "nothing"], ["tokens", "tokens with positions"], ["patches", "patches alone"]], from: "shuffle" },
    { kind: "slider", input: "layer", label: "Layer", min: 0, max: 11, step: 1, from: "block", until: "answer" },
    { kind: "slider", input: "head", label: "Head", min: 0, max: 5, step: 1, from: "attention", until: "answer" },
    { kind: "choice", input: "layer", label: "Layer", options: [["0", "0"], ["1", "1"], ["2", "2"], ["3", "3"]], on: ["answer", "frames"] },
    { kind: "choice", input: "head", label: "Head", options: [["0", "0"], ["1", "1"], ["2", "2"], ["3", "3"]], on: ["answer"] },
    { kind: "slider", input: "head", label: "Head", min: 0, max: 5, step: 1, on: ["frames"] },
    { kind: "slider", input: "position", label: "Token", min: 0, max: 200, step: 1, on: ["frames"] },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    const { reached, step } = moment;
    if (step === "block") return block(numbers, moment);
    if (reached("attention")) return attention(numbers, moment);
    if (reached("sequence")) return sequence(numbers, moment);
    return cut(numbers, moment);
  },

  describe(/** @type {Numbers} */ { count, tokens, side, patch, answer, largest, changed, cosine, block: one }, { step, inputs }) {
    const what = `A picture of ${side} by ${side} pixels, cut into ${count} patches of ${patch} by ${patch}`;
    if (step === "cut") return `${what}.`;
    if (step === "sequence") return `${what}, which stand in a sequence, row by row.`;
    if (step === "class" || step === "positions") return `A sequence of ${tokens} tokens: the class token and ${count} patches.`;
    if (step === "shuffle") return `The sequence, with ${inputs.shuffle} shuffled. The class token's last vector has a cosine of ${fixed(cosine, 4)} with the one in order; its numbers change by at most ${small(changed)}.`;
    if (step === "block") return `Block ${one.layer}, pre-norm: the norm of the class token's vector after each step: ${one.names.map((name, i) => `${LAYERS[name]} ${fixed(one.class[i], 1)}`).join(", ")}.`;
    return `The weights of the class token over the picture in layer ${inputs.layer}, head ${inputs.head}: at most ${fixed(largest)} for one patch.${answer ? ` The answer is ${answer.name}, ${percent(answer.share)}.` : ""}`;
  },

  tables(/** @type {Numbers} */ { cols, count, places, weights, similar, questions = [], block: one }) {
    const rows = Array.from({ length: count / cols }, (_, row) => row);
    const names = rows.map((row) => `row ${row}`);
    const grid = (/** @type {(place: number) => number} */ value) => rows.map((row) => rows.map((col) => value(row * cols + col)));
    return [
      { title: "Weights of the class token", rows: names, cols: rows.map((col) => `column ${col}`), values: grid((place) => weights[places.indexOf(place)]) },
      { title: "Similarity of position vectors", rows: names, cols: rows.map((col) => `column ${col}`), values: grid((place) => similar[place]) },
      { title: `Norms in block ${one.layer}`, rows: one.names.map((name) => LAYERS[name]), cols: ["class token", "least of the patches", "largest of the patches"], values: one.norms.map(([first, ...patches]) => [first, Math.min(...patches), Math.max(...patches)]) },
      ...questions.map(({ title, best }) => ({ title, rows: best.map(({ name }) => name), cols: ["probability"], values: best.map(({ share }) => [share]) })),
    ];
  },
};

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function cut({ patches, places, cols, side, patch, count, flat }, { ink }) {
  const said = [
    [`${side} × ${side} pixels`, "the picture"],
    [`${patch} × ${patch} pixels`, "a patch"],
    [`${side}² / ${patch}² = ${count}`, "patches"],
    [`${patch} · ${patch} · 3 = ${flat}`, "numbers in each"],
  ];
  return [
    ...patches.map((href, i) => tile(href, i, ...inPicture(places[i], cols), 0.95 * (PICTURE.size / cols))),
    ...said.flatMap(([value, name], i) => /** @type {Mark[]} */ ([
      { key: `said${i}`, kind: "text", x: 376, y: 76 + i * 74, text: value, size: 18, bold: true, anchor: "start", fill: ink.text },
      { key: `said${i}/name`, kind: "text", x: 376, y: 100 + i * 74, text: name, size: 14, anchor: "start", fill: ink.muted },
    ])),
  ];
}

/** @type {(href: string, i: number, x: number, y: number, size: number, more?: Partial<Mark>) => Mark} */
const tile = (href, i, x, y, size, more = {}) => ({ key: `p${i}`, kind: "image", href, x, y, w: size, h: size, ...more });

/** @type {(place: number, cols: number) => [number, number]} */
const inPicture = (place, cols) => [PICTURE.x + ((place % cols) * PICTURE.size) / cols, PICTURE.y + (Math.floor(place / cols) * PICTURE.size) / cols];

/**
 * Two rows of the picture in each line.
 *
 * @param {Numbers} numbers
 * @param {{y: number, high: number}} [room] of the lines
 */
function linesOf({ cols, count }, { y, high: tall } = LINES) {
  const each = 2 * cols;
  const [cell, high] = [LINES.wide / each, (tall * each) / count];
  const at = (/** @type {number} */ place) => /** @type {[number, number]} */ ([LINES.x + (place % each) * cell, y + Math.floor(place / each) * high]);
  return { each, high, at, size: 0.87 * cell };
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function sequence(numbers, { reached, inputs, ink, step }) {
  const { patches, sequence: order, count, similar, least, position, changed, cosine, flat, width } = numbers;
  const positions = reached("positions");
  const lifting = step === "sequence";
  const { each, high, at, size } = linesOf(numbers, lifting ? BELOW : LINES);
  /** @type {Mark[]} */
  const marks = patches.map((href, i) => tile(href, i, ...at(order[i]), size));
  if (lifting) marks.unshift(...ghost(numbers, at(0), ink));
  for (let place = 0; place < count; place += each) {
    const [x, y] = at(place);
    const where = lifting ? /** @type {const} */ ({ x: x - 6, y: y + size / 2, anchor: "end" }) : /** @type {const} */ ({ x, y: y - high / 5, anchor: "start" });
    marks.push({ key: `line${place}`, kind: "text", ...where, text: String(place + 1), size: 13, fill: ink.muted });
  }
  if (reached("class"))
    marks.push(
      { key: "class", kind: "rect", x: 12, y: LINES.y, w: CLASS, h: CLASS, r: 5, fill: ink.surface, stroke: ink.term.query, width: 2.5, term: "query" },
      { key: "class/text", kind: "text", x: 12 + CLASS / 2, y: LINES.y + CLASS / 2, text: "c", size: 16, bold: true, fill: ink.term.query, term: "query" },
      { key: "class/name", kind: "text", x: 12 + CLASS / 2, y: LINES.y - high / 5, text: "0", size: 13, fill: ink.muted },
    );
  if (positions)
    patches.forEach((_, i) => {
      const [x, y] = at(order[i]);
      const source = inputs.shuffle === "patches" ? order[i] : i; // the position whose vector this token has
      const share = (similar[source] - least) / (1 - least);
      marks.push({
        ...{ key: `pos${source}`, kind: "rect", x, y: y + 1.1 * size, w: size, h: size / 2, r: 2, fill: ink.text, opacity: 0.07 + 0.93 * share },
        ...{ tip: `Position ${source + 1}: cosine similarity with position ${position + 1} is ${fixed(similar[source])}` },
        ...{ press: { label: `Position ${source + 1}`, pressed: source === position, patch: { position: source } } },
      });
    });
  const bottom = LINES.y + LINES.high + 4;
  const line = step === "shuffle" ? `cosine of the class token's last vector with the one in order: ${fixed(cosine, 4)}` : positions ? `bars: similarity with the vector of position ${position + 1}, from ${fixed(least)} to 1` : `each patch: ${flat} numbers → ${width} by one matrix E`;
  marks.push({ key: "below", kind: "text", x: LINES.x, y: bottom - 14, text: line, size: 14, anchor: "start", bold: step === "shuffle", fill: step === "shuffle" ? ink.term.output : ink.muted });
  if (step === "shuffle") marks.push({ key: "changed", kind: "text", x: LINES.x, y: bottom + 8, text: `largest change of one of its numbers: ${small(changed)}`, size: 14, anchor: "start", fill: ink.muted });
  return marks;
}

/**
 * Where the patches were, and the two rows that become the first line.
 *
 * @type {(numbers: Numbers, first: [number, number], ink: Moment["ink"]) => Mark[]}
 */
function ghost({ patches, places, cols }, [x, y], ink) {
  const cell = GHOST.size / cols;
  const right = GHOST.x + GHOST.size;
  return [
    ...patches.map((href, i) => /** @type {Mark} */ ({ key: `ghost${i}`, kind: "image", href, x: GHOST.x + (places[i] % cols) * cell, y: GHOST.y + Math.floor(places[i] / cols) * cell, w: cell, h: cell, opacity: GHOST.opacity })),
    { key: "ghost/rows", kind: "rect", x: GHOST.x - 1.5, y: GHOST.y - 1.5, w: GHOST.size + 3, h: 2 * cell + 3, r: 2, fill: "none", stroke: ink.primary, width: 2 },
    { key: "ghost/name", kind: "text", x: right + 14, y: GHOST.y + cell, text: "its first two rows: line 1", size: 14, anchor: "start", fill: ink.primary },
    { key: "ghost/what", kind: "text", x: GHOST.x - 14, y: GHOST.y + GHOST.size / 2, text: "the picture", size: 14, anchor: "end", fill: ink.muted },
    { key: "ghost/down", kind: "path", d: `M${GHOST.x - 3} ${GHOST.y + cell}H${x + 6}V${y - 3}`, stroke: ink.primary, width: 2 },
  ];
}

/**
 * One block from the bottom to the top; beside each step the norm of every token's vector, as a small picture.
 *
 * @type {(numbers: Numbers, moment: Moment) => Mark[]}
 */
function block({ cols, places, patches, block: { layer, names, norms } }, { ink }) {
  const [pitch, x, grid] = [56, 150, 214];
  const [pixel, cell] = [48 / cols, 136 / cols]; // sides of a patch: in a grid, in the picture
  const middle = (/** @type {number} */ i) => 376 - i * pitch;
  const most = Math.max(...norms.flat());
  const shade = (/** @type {number} */ norm) => norm / most;
  /** @type {Mark[]} */
  const marks = patches.map((href, i) => tile(href, i, 414 + (places[i] % cols) * cell, 252 + Math.floor(places[i] / cols) * cell, cell));
  marks.push(
    { key: "block/name", kind: "text", x: 414, y: 24, text: `block ${layer}`, size: 17, bold: true, anchor: "start", fill: ink.text },
    { key: "block/what", kind: "text", x: 414, y: 48, text: "norm of each", size: 14, anchor: "start", fill: ink.muted },
    { key: "block/what2", kind: "text", x: 414, y: 66, text: "token's vector", size: 14, anchor: "start", fill: ink.muted },
    { key: "block/class", kind: "rect", x: 414, y: 88, w: 14, h: 14, r: 3, fill: ink.background, stroke: ink.term.query, width: 2, term: "query" },
    { key: "block/class/text", kind: "text", x: 436, y: 95, text: "class token", size: 14, anchor: "start", fill: ink.term.query, term: "query" },
    { key: "block/grid/text", kind: "text", x: 414, y: 118, text: "grid: the patches", size: 14, anchor: "start", fill: ink.muted },
    ...Array.from({ length: STOPS }, (_, i) => /** @type {Mark} */ ({ key: `bar${i}`, kind: "rect", x: 414 + i * 13, y: 142, w: 13, h: 14, fill: ink.text, opacity: shade((most * (i + 0.5)) / STOPS) })),
    { key: "bar/low", kind: "text", x: 414, y: 168, text: "0", size: 13, anchor: "start", fill: ink.muted },
    { key: "bar/high", kind: "text", x: 414 + STOPS * 13, y: 168, text: fixed(most, 1), size: 13, anchor: "end", fill: ink.muted },
  );
  names.forEach((name, i) => {
    const y = middle(i);
    const plain = name === "+" || name === "x";
    const [first, ...others] = norms[i];
    marks.push(
      { key: `step${i}`, kind: "rect", x: x - 52, y: y - 16, w: 104, h: 32, r: plain ? 16 : 8, fill: plain ? ink.background : ink.surface, stroke: plain ? ink.line : ink.text, width: 1.5 },
      { key: `step${i}/text`, kind: "text", x, y, text: name === "+" ? "+" : LAYERS[name], size: name === "+" ? 18 : 15, bold: name !== "x", fill: ink.text },
      { key: `own${i}`, kind: "rect", x: grid - 2, y: y - 8, w: 16, h: 16, r: 3, fill: ink.background, stroke: ink.term.query, width: 2, term: "query", tip: `${LAYERS[name]}: the class token's vector has norm ${fixed(first)}` },
      { key: `own${i}/text`, kind: "text", x: grid + 84, y: y - 9, text: `class ${fixed(first, 1)}`, size: 14, anchor: "start", fill: ink.term.query, term: "query" },
      { key: `others${i}/text`, kind: "text", x: grid + 84, y: y + 9, text: `${fixed(Math.min(...others), 1)} to ${fixed(Math.max(...others), 1)}`, size: 14, anchor: "start", fill: ink.muted },
    );
    others.forEach((norm, p) => marks.push({ key: `n${i}.${p}`, kind: "rect", x: grid + 22 + (p % cols) * pixel, y: y - 24 + Math.floor(p / cols) * pixel, w: pixel, h: pixel, fill: ink.text, opacity: shade(norm), tip: `${LAYERS[name]}: patch ${p + 1} has norm ${fixed(norm)}` }));
    if (i) marks.push({ key: `up${i}`, kind: "arrow", x, y: middle(i - 1) - 17, x2: x, y2: y + 19, stroke: ink.muted, width: 2 });
    if (name !== "+") return;
    const from = middle(i - 3);
    marks.push({ key: `skip${i}`, kind: "path", d: `M${x - 52} ${from}H60V${y}H${x - 56}M${x - 62} ${y - 5}L${x - 55} ${y}L${x - 62} ${y + 5}`, stroke: ink.primary, width: 2.2, tip: "The residual connection: added unchanged" });
  });
  return marks;
}

/** @type {(numbers: Numbers, moment: Moment) => Mark[]} */
function attention({ patches, places, cols, weights, own: itself, largest, questions = [] }, { inputs, ink }) {
  const size = PICTURE.size / cols;
  const [cx, cy] = [402, 52];
  /** @type {Mark[]} */
  const marks = patches.map((href, i) => tile(href, i, ...inPicture(places[i], cols), size));
  patches.forEach((_, i) => {
    const [x, y] = inPicture(places[i], cols);
    marks.push({ key: `w${i}`, kind: "rect", x, y, w: size, h: size, fill: VEIL, opacity: 0.7 * (1 - Math.sqrt(weights[i] / largest)), tip: `Patch ${places[i] + 1}: weight ${fixed(weights[i], 4)}` });
  });
  patches.forEach((_, i) => {
    if (weights[i] < LEAST * largest) return;
    const [x, y] = inPicture(places[i], cols);
    marks.push({ key: `l${i}`, kind: "curve", x: cx - 16, y: cy, x2: x + size / 2, y2: y + size / 2, bend: "h", stroke: ink.term.weight, width: 1 + 10 * weights[i], opacity: 0.7 + 0.3 * weights[i], term: "weight" });
  });
  marks.push(
    { key: "class", kind: "rect", x: cx - 16, y: cy - 16, w: 32, h: 32, r: 6, fill: ink.surface, stroke: ink.term.query, width: 2.5, term: "query" },
    { key: "class/text", kind: "text", x: cx, y: cy, text: "c", size: 17, bold: true, fill: ink.term.query, term: "query" },
    { key: "attends", kind: "text", x: cx + 26, y: cy - 9, text: "the class token", size: 13, anchor: "start", fill: ink.term.query, term: "query" },
    { key: "attends/own", kind: "text", x: cx + 26, y: cy + 9, text: `to itself ${fixed(itself, 3)}`, size: 13, anchor: "start", fill: ink.term.weight, term: "weight" },
    { key: "attends/where", kind: "text", x: PICTURE.x, y: 18, text: `layer ${inputs.layer}, head ${inputs.head}: its weights, at most ${fixed(largest, largest < 0.01 ? 4 : 2)} for a patch`, size: 13, anchor: "start", fill: ink.term.weight, term: "weight" },
  );
  questions.forEach(({ title, best }, q) => {
    const top = 110 + q * 96;
    marks.push({ key: `q${q}`, kind: "text", x: 374, y: top, text: title, size: 14, bold: true, anchor: "start", fill: ink.text });
    best.slice(0, 2 + Number(q === 0)).forEach(({ name, share }, i) => {
      const y = top + 22 + i * 20;
      marks.push(
        { key: `q${q}.${i}`, kind: "text", x: 374, y, text: name, size: 13, anchor: "start", fill: i ? ink.muted : ink.term.output, term: "output" },
        { key: `q${q}.${i}/bar`, kind: "rect", x: 436, y: y - 7, w: Math.max(1, 70 * share), h: 13, r: 2, fill: i ? ink.muted : ink.term.output, term: "output" },
        { key: `q${q}.${i}/share`, kind: "text", x: 554, y, text: percent(share), size: 13, anchor: "end", fill: ink.muted },
      );
    });
  });
  return marks;
}
