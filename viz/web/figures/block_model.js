// The residual stream of a language model of many blocks: its length, one block opened, its parts as a sum,
// what its states read as, and what is predicted without a part.

import { fixed, percent } from "../story/marks.js";

/** @import {Ink, Mark, Moment} from "../types" */

/**
 * @typedef {object} Added norms of what a sub-layer reads, of the stream before it, of what it adds, and of the sum
 * @property {number} read
 * @property {number} stream
 * @property {number} added
 * @property {number} total
 * @property {number} share of the stream
 */

/**
 * @typedef {object} ModelNumbers
 * @property {string[]} tokens
 * @property {number} place of the token that is followed
 * @property {string} token
 * @property {number[]} norms of its stream, before and after each sub-layer
 * @property {number[]} adds norms of what sub-layers add
 * @property {number[]} shares of the last stream, of the embedding and of each sub-layer
 * @property {number} block that is opened
 * @property {Added[]} parts of it: attention and MLP
 * @property {string} guess
 * @property {number} share of the guess
 * @property {{tokens: string[], words: string[][], shares: number[][], goal: string, goals: number[], after: number[]}} lens
 * @property {{way: string, sublayer: number, name: string, goal: string, share: number, shares: number[], words: string[], changed: number, instead: string, instead_share: number}} without
 */

const [WIDTH, HEIGHT] = [560, 430];
const PARTS = /** @type {const} */ (["attention", "MLP"]);
const [CHIP, CHARACTER] = [26, 8.3]; // height of a token, and width of a character in it
const [LEFT, RIGHT] = [40, 552]; // of what has a column for each block
const LENS = { left: 76, top: 44, goal: 62 };

/** What is drawn of a language model at a step. @type {(numbers: ModelNumbers, moment: Moment) => Mark[]} */
export function modelMarks(numbers, { step, ink }) {
  if (step === "lens") return lens(numbers.lens, ink);
  const { marks, bottom } = chips(numbers, step === "ablate", ink);
  if (step === "stream") return [...marks, ...band(numbers, bottom, ink)];
  if (step === "blocks") return [...marks, ...sums(numbers, bottom, ink)];
  if (step === "ablate") return [...marks, ...without(numbers.without, bottom, ink)];
  return [...marks, ...along(numbers, bottom, step === "mlp", ink), ...opened(numbers, step === "mlp", ink)];
}

/** @type {(numbers: ModelNumbers, step: string) => string} */
export function describeModel({ token, norms, parts, block, shares, guess, share, lens: read, without: cut }, step) {
  if (step === "lens") return `The logit lens: after ${read.after.map((blocks, i) => `${blocks} blocks the last state reads as ${read.words[i].at(-1)}`).join(", ")}.`;
  if (step === "ablate") return `Probability of ${cut.goal} ${cut.way === "part" ? "without one sub-layer" : "with one residual connection cut"}: ${cut.shares.map((each) => fixed(each)).join(", ")}.`;
  if (step === "blocks") return `The last stream of ${token} as a sum: ${shares.map((each, i) => `${nameOf(i - 1)} ${fixed(100 * each, 1)}\u00a0%`).join(", ")}. It becomes ${guess}, ${percent(share)}.`;
  if (step === "stream") return `The norm of the stream of ${token} after each block: ${norms.filter((_, i) => i % 2 === 0).map((each) => fixed(each, 1)).join(", ")}.`;
  return `Block ${block} of 30, for ${token}: ${parts.map(({ stream, added, total }, i) => `${PARTS[i]} adds a vector of norm ${fixed(added, 1)} to one of ${fixed(stream, 1)}, which gives ${fixed(total, 1)}`).join("; ")}.`;
}

/** @type {(numbers: ModelNumbers) => import("../types").FigureTable[]} */
export function modelTables({ norms, adds, shares, lens: read, without: cut }) {
  if (read) return [{ title: "Logit lens", rows: read.after.map((each) => `after ${each} blocks`), cols: [...read.tokens, `“${read.goal}”`], values: read.words.map((row, i) => [...row, read.goals[i]]) }];
  const rows = adds.map((_, i) => nameOf(i));
  const stream = { title: "Norms in the stream, and shares of its end", rows, cols: ["before", "added", "after", "share of the end"], values: adds.map((each, i) => [norms[i], each, norms[i + 1], shares[i + 1]]) };
  if (!cut) return [stream];
  return [stream, { title: `The prediction ${cut.way === "part" ? "without a sub-layer" : "with a residual connection cut"}`, rows, cols: [`“${cut.goal}”`, "likeliest"], values: rows.map((_, i) => [cut.shares[i], cut.words[i]]) }];
}

/** The name of a sub-layer; of the embedding where it is −1. */
const nameOf = (at) => (at < 0 ? "embedding" : `${PARTS[at % 2]} of block ${at >> 1}`);

/**
 * The tokens, in as many rows as they need.
 *
 * @type {(numbers: ModelNumbers, still: boolean, ink: Ink) => {marks: Mark[], bottom: number}}
 */
function chips({ tokens, place }, still, ink) {
  let [x, y] = [0, 2];
  const marks = tokens.flatMap((token, i) => {
    const wide = 16 + CHARACTER * token.length;
    if (x + wide > WIDTH) [x, y] = [0, y + CHIP + 6];
    const chosen = i === (still ? tokens.length - 1 : place);
    const left = x;
    x += wide + 5;
    return /** @type {Mark[]} */ ([
      { key: `token${i}`, kind: "rect", x: left, y, w: wide, h: CHIP, r: 6, fill: chosen ? ink.surface : ink.background, stroke: chosen ? ink.primary : ink.line, width: chosen ? 2.5 : 1, ...(still ? {} : { press: { label: `Follow token ${i}, ${token}`, pressed: chosen, patch: { token: i } } }) },
      { key: `token${i}/text`, kind: "text", x: left + wide / 2, y: y + CHIP / 2, text: token, size: 15, bold: chosen, fill: ink.text },
    ]);
  });
  return { marks, bottom: y + CHIP };
}

/** The numbers of blocks below what has a column for each. @type {(count: number, y: number, ink: Ink) => Mark[]} */
function axis(count, y, ink) {
  const wide = (RIGHT - LEFT) / count;
  const every = Array.from({ length: count }, (_, i) => i).filter((i) => i % 5 === 0 || i === count - 1);
  return [
    ...every.map((i) => /** @type {Mark} */ ({ key: `axis${i}`, kind: "text", x: LEFT + (i + 0.5) * wide, y: y + 10, text: String(i), size: 13, fill: ink.muted })),
    { key: "axis/name", kind: "text", x: 0, y: y + 10, text: "block", size: 13, anchor: "start", fill: ink.muted },
  ];
}

/** The stream of one token through all blocks: as wide as it is long. @type {(numbers: ModelNumbers, top: number, ink: Ink) => Mark[]} */
function band({ norms, token }, top, ink) {
  const states = norms.filter((_, i) => i % 2 === 0);
  const most = Math.max(...states);
  const [high, wide] = [HEIGHT - top - 76, (WIDTH - 4) / states.length];
  const middle = top + 34 + high / 2;
  return states.flatMap((norm, i) => {
    const tall = Math.max(2, (high * norm) / most);
    const x = 2 + i * wide;
    const named = i % 5 === 0;
    return /** @type {Mark[]} */ ([
      { key: `s${i}`, kind: "rect", x, y: middle - tall / 2, w: wide + 0.4, h: tall, fill: i ? ink.line : ink.primary, tip: `${i ? `After block ${i - 1}` : "The embedding"}: the vector of “${token}” has norm ${fixed(norm, 1)}` },
      ...(named ? [
        { key: `s${i}/text`, kind: "text", x: i ? (i === states.length - 1 ? WIDTH - 2 : x + wide / 2) : 2, y: middle - tall / 2 - 12, text: fixed(norm, norm < 10 ? 1 : 0), size: 14, bold: true, anchor: i ? (i === states.length - 1 ? "end" : "middle") : "start", fill: ink.text },
        { key: `s${i}/after`, kind: "text", x: i ? (i === states.length - 1 ? WIDTH - 2 : x + wide / 2) : 2, y: HEIGHT - 26, text: i ? String(i) : "embedding", size: 13, anchor: i ? (i === states.length - 1 ? "end" : "middle") : "start", fill: ink.muted },
      ] : []),
    ]);
  }).concat({ key: "s/name", kind: "text", x: WIDTH / 2, y: HEIGHT - 8, text: "norm of the stream after so many blocks", size: 13, fill: ink.muted });
}

/** The colours of attention and MLP. */
const coloursOf = (ink) => [ink.primary, ink.term.value];

/**
 * What sub-layers add, block by block, before the stream that they add it to; a press opens a block.
 *
 * @type {(numbers: ModelNumbers, top: number, both: boolean, ink: Ink) => Mark[]}
 */
function along({ norms, adds, block }, top, both, ink) {
  const count = adds.length / 2;
  const most = Math.max(...norms);
  const [low, wide] = [194, (RIGHT - LEFT) / count];
  const unit = (low - top - 32) / most;
  const colours = coloursOf(ink);
  const legend = ["stream", ...PARTS.slice(0, both ? 2 : 1).map((name) => `${name} adds`)];
  /** @type {Mark[]} */
  const marks = legend.flatMap((name, i) => [
    { key: `key${i}`, kind: "rect", x: LEFT + i * 124, y: top + 10, w: 12, h: 12, fill: [ink.line, ...colours][i] },
    { key: `key${i}/text`, kind: "text", x: LEFT + 18 + i * 124, y: top + 16, text: name, size: 13, anchor: "start", fill: ink.muted },
  ]);
  for (let i = 0; i < count; i++) {
    const x = LEFT + i * wide;
    const chosen = i === block;
    const thin = (wide - 2) / (both ? 2 : 1);
    marks.push({ key: `s${i}`, kind: "rect", x: x + 0.5, y: low - unit * norms[2 * i], w: wide - 1, h: Math.max(1, unit * norms[2 * i]), fill: ink.line });
    for (let part = 0; part <= Number(both); part++) {
      const tall = unit * adds[2 * i + part];
      marks.push({ key: `add${2 * i + part}`, kind: "rect", x: x + 1 + part * thin, y: low - tall, w: thin, h: Math.max(0.5, tall), fill: colours[part] });
    }
    const label = `Open block ${i}: a stream of norm ${fixed(norms[2 * i], 1)}, attention adds ${fixed(adds[2 * i], 1)}, MLP ${fixed(adds[2 * i + 1], 1)}`;
    marks.push({ key: `open${i}`, kind: "rect", x, y: top + 30, w: wide, h: low - top - 30, fill: "none", stroke: chosen ? ink.text : "none", width: chosen ? 2 : 0, press: { label, pressed: chosen, patch: { sublayer: 2 * i } } });
  }
  return [...marks, ...axis(count, low + 2, ink)];
}

/** One block: the stream before, between and after its two sub-layers. @type {(numbers: ModelNumbers, both: boolean, ink: Ink) => Mark[]} */
function opened({ parts, block }, both, ink) {
  const [first, second] = parts;
  const sizes = [first.stream, first.total, second.total];
  const [middle, unit] = [326, 72 / Math.max(...sizes)];
  const edges = [8, 196, 372, 552];
  const colours = coloursOf(ink);
  /** @type {Mark[]} */
  const marks = [{ key: "opened", kind: "text", x: 8, y: 236, text: `block ${block}`, size: 16, bold: true, anchor: "start", fill: ink.text }];
  sizes.forEach((size, i) => {
    const seen = i < 2 || both;
    const tall = unit * sizes[seen ? i : 1];
    marks.push({ key: `o${i}`, kind: "rect", x: edges[i], y: middle - tall / 2, w: edges[i + 1] - edges[i], h: tall, fill: ink.line, tip: seen ? `The stream here has norm ${fixed(size, 2)}` : undefined });
    if (seen) marks.push({ key: `o${i}/text`, kind: "text", x: (edges[i] + edges[i + 1]) / 2, y: middle, text: fixed(size, 1), size: 17, bold: true, fill: ink.on(ink.line) });
  });
  parts.forEach((part, i) => {
    const [x, up] = [edges[i + 1], i === 0];
    const y = up ? 222 : 392;
    const boxed = both || up;
    marks.push(
      { key: `box${i}`, kind: "rect", x: x - 52, y, w: 104, h: 34, r: 8, fill: boxed ? ink.surface : ink.background, stroke: boxed ? colours[i] : ink.line, width: 1.5, dash: boxed ? undefined : "4 4", tip: boxed ? `${PARTS[i]} of block ${block}` : "A later step: it will read from the stream, and write into it" },
      { key: `box${i}/text`, kind: "text", x, y: y + 17, text: PARTS[i], size: 15, bold: boxed, fill: boxed ? ink.text : ink.muted },
    );
    if (!boxed) return;
    const [edge, side] = up ? [y + 34, -1] : [y, 1];
    const surface = (/** @type {number} */ size) => middle + (side * unit * size) / 2;
    const end = surface(part.total);
    marks.push(
      { key: `read${i}`, kind: "arrow", x: x - 36, y: surface(part.stream), x2: x - 36, y2: edge - side * 3, stroke: ink.muted, width: 2, tip: `RMSNorm: the stream's numbers over their root mean square, each times a learned γ; norm ${fixed(part.read, 2)}` },
      { key: `read${i}/text`, kind: "text", x: x - 44, y: edge - side * 13, text: `reads ${fixed(part.read, 1)}`, size: 14, anchor: "end", fill: ink.muted },
      { key: `write${i}`, kind: "rect", x: x + 26 - 8, y: Math.min(edge, end), w: 16, h: Math.abs(edge - end), fill: colours[i], opacity: 0.5, tip: `It adds a vector of norm ${fixed(part.added, 2)}, ${percent(part.share)} of the stream's` },
      { key: `write${i}/run`, kind: "curve", x: x + 26, y: edge, x2: x + 26, y2: end, bend: "v", stroke: ink.background, width: 2, flow: true },
      { key: `write${i}/text`, kind: "text", x: x + 42, y: edge - side * 13, text: `+ ${fixed(part.added, 1)} (${percent(part.share)})`, size: 15, bold: true, anchor: "start", fill: ink.text },
    );
  });
  return marks;
}

/** How far each part of the stream reaches in the direction of its end, added up. @type {(numbers: ModelNumbers, top: number, ink: Ink) => Mark[]} */
function sums({ shares, guess, share, token }, top, ink) {
  const wide = (RIGHT - LEFT) / shares.length;
  const ends = shares.map((_, i) => shares.slice(0, i + 1).reduce((a, b) => a + b, 0));
  const [high, floor] = [Math.max(1, ...ends), Math.min(0, ...ends)];
  const [above, below] = [top + 56, HEIGHT - 40];
  const y = (/** @type {number} */ value) => below - ((below - above) * (value - floor)) / (high - floor);
  const colours = coloursOf(ink);
  /** @type {Mark[]} */
  const marks = ["attention", "MLP"].flatMap((name, i) => [
    { key: `key${i}`, kind: "rect", x: LEFT + 8 + i * 110, y: top + 18, w: 12, h: 12, fill: colours[i] },
    { key: `key${i}/text`, kind: "text", x: LEFT + 26 + i * 110, y: top + 24, text: name, size: 13, anchor: "start", fill: ink.muted },
  ]);
  for (const each of [0, 0.25, 0.5, 0.75, 1])
    marks.push(
      { key: `grid${each}`, kind: "line", x: LEFT, y: y(each), x2: RIGHT, y2: y(each), stroke: ink.line },
      { key: `grid${each}/text`, kind: "text", x: LEFT - 4, y: y(each), text: `${100 * each}\u00a0%`, size: 12, anchor: "end", fill: ink.muted },
    );
  shares.forEach((part, i) => {
    const from = i ? ends[i - 1] : 0;
    const x = LEFT + i * wide;
    marks.push(
      { key: `part${i}`, kind: "rect", x, y: Math.min(y(from), y(ends[i])), w: wide, h: Math.max(1.5, Math.abs(y(from) - y(ends[i]))), fill: i ? colours[(i - 1) % 2] : ink.text },
      { key: `part${i}/tip`, kind: "rect", x, y: above, w: wide, h: below - above, fill: "none", tip: `${nameOf(i - 1)}: ${fixed(100 * part, 1)}\u00a0% of the stream's end; ${fixed(100 * ends[i], 1)}\u00a0% with all before it` },
    );
  });
  const ticks = [0, 5, 10, 15, 20, 25, 29];
  for (const block of ticks) marks.push({ key: `axis${block}`, kind: "text", x: LEFT + (2 * block + 2) * wide, y: below + 14, text: String(block), size: 13, fill: ink.muted });
  marks.push(
    { key: "axis/name", kind: "text", x: 0, y: below + 14, text: "block", size: 13, anchor: "start", fill: ink.muted },
    { key: "guess", kind: "text", x: LEFT + 10, y: top + 58, text: `after “${token}” comes “${guess}”, ${percent(share)}`, size: 16, bold: true, anchor: "start", fill: ink.text },
  );
  return marks;
}

/** The likeliest token of each state, as if the network ended there. @type {(read: ModelNumbers["lens"], ink: Ink) => Mark[]} */
function lens({ tokens, words, shares, goal, goals, after }, ink) {
  const { left, top, goal: last } = LENS;
  const cell = (WIDTH - left - last - 10) / tokens.length;
  const tall = (HEIGHT - top) / after.length;
  const fits = Math.max(3, Math.floor((cell - 6) / CHARACTER));
  const short = (/** @type {string} */ word) => (word.length > fits ? `${word.slice(0, fits - 1)}…` : word);
  const x = (/** @type {number} */ col) => left + col * cell;
  /** @type {Mark[]} */
  const marks = [
    { key: "lens/rows", kind: "text", x: left - 8, y: 30, text: "after", size: 13, anchor: "end", fill: ink.muted },
    { key: "lens/goal", kind: "text", x: WIDTH - last / 2, y: 30, text: `“${goal}”`, size: 14, bold: true, fill: ink.text },
    { key: "lens/cols", kind: "text", x: left, y: 8, text: "the token read", size: 13, anchor: "start", fill: ink.muted },
    ...tokens.map((token, j) => /** @type {Mark} */ ({ key: `lens/col${j}`, kind: "text", x: x(j + 0.5), y: 30, text: short(token), size: 14, bold: true, fill: ink.text })),
  ];
  after.forEach((blocks, i) => {
    const y = top + i * tall;
    const name = blocks ? `${blocks} blocks` : "none";
    marks.push({ key: `lens/row${i}`, kind: "text", x: left - 8, y: y + tall / 2, text: name, size: 13, anchor: "end", fill: ink.muted });
    words[i].forEach((word, j) => {
      const fill = ink.weight(shares[i][j]);
      marks.push(
        { key: `lens${i}.${j}`, kind: "rect", x: x(j), y, w: cell, h: tall, fill, stroke: ink.line, tip: `“${tokens[j]}” after ${blocks} blocks reads as “${word}”, with probability ${fixed(shares[i][j], 3)}` },
        { key: `lens${i}.${j}/text`, kind: "text", x: x(j + 0.5), y: y + tall / 2, text: short(word), size: 14, fill: ink.on(fill) },
      );
    });
    const fill = ink.weight(goals[i]);
    marks.push(
      { key: `goal${i}`, kind: "rect", x: WIDTH - last, y, w: last - 2, h: tall, fill, stroke: ink.line, tip: `Probability of “${goal}” after “${tokens.at(-1)}” and ${blocks} blocks` },
      { key: `goal${i}/text`, kind: "text", x: WIDTH - last / 2 - 1, y: y + tall / 2, text: goals[i] < 0.0005 ? "< 0.001" : fixed(goals[i], 3), size: 13, fill: ink.on(fill) },
    );
  });
  return marks;
}

/** The prediction without each sub-layer, or with each residual connection cut. @type {(cut: ModelNumbers["without"], top: number, ink: Ink) => Mark[]} */
function without({ way, sublayer, name, goal, share, shares, words, changed, instead, instead_share: best }, top, ink) {
  const count = shares.length / 2;
  const wide = (RIGHT - LEFT) / count;
  const [above, high] = [top + 94, (HEIGHT - top - 94 - 30 - 36) / 2];
  const scale = Math.max(...shares, share, 0.01);
  const colours = coloursOf(ink);
  const first = way === "part" ? `Without the ${name}` : `Without the connection around the ${name}`;
  /** @type {Mark[]} */
  const marks = [
    { key: "cut/name", kind: "text", x: 0, y: top + 22, text: `${first}:`, size: 16, bold: true, anchor: "start", fill: ink.text },
    { key: "cut/said", kind: "text", x: 0, y: top + 44, text: `“${goal}” ${fixed(share)} → ${fixed(changed)}; likeliest “${instead}” ${fixed(best)}`, size: 16, anchor: "start", fill: ink.text },
  ];
  PARTS.forEach((part, row) => {
    const low = above + high + row * (high + 36);
    marks.push(
      { key: `cut/part${row}`, kind: "text", x: 0, y: low - high - 16, text: `without ${way === "part" ? "" : "the connection around "}the ${part} of one block`, size: 14, bold: true, anchor: "start", fill: ink.muted },
      { key: `cut/zero${row}`, kind: "line", x: LEFT, y: low, x2: RIGHT, y2: low, stroke: ink.muted },
      { key: `cut/one${row}`, kind: "text", x: LEFT - 5, y: low - (high * share) / scale, text: fixed(share), size: 13, anchor: "end", fill: ink.muted },
      { key: `cut/nought${row}`, kind: "text", x: LEFT - 5, y: low - 2, text: "0", size: 13, anchor: "end", fill: ink.muted },
    );
    for (let block = 0; block < count; block++) {
      const at = 2 * block + row;
      const tall = (high * shares[at]) / scale;
      const x = LEFT + block * wide;
      const chosen = at === sublayer;
      const label = `Without the ${nameOf(at)}: “${goal}” ${fixed(shares[at])}, likeliest “${words[at]}”`;
      marks.push(
        { key: `cut${at}`, kind: "rect", x: x + 2, y: low - Math.max(1, tall), w: wide - 4, h: Math.max(1, tall), fill: colours[row] },
        { key: `cut${at}/press`, kind: "rect", x, y: low - high, w: wide, h: high, fill: "none", stroke: chosen ? ink.text : "none", width: chosen ? 2 : 0, press: { label, pressed: chosen, patch: { sublayer: at } } },
      );
    }
    marks.push({ key: `cut/whole${row}`, kind: "line", x: LEFT, y: low - (high * share) / scale, x2: RIGHT, y2: low - (high * share) / scale, stroke: ink.muted, dash: "4 4" });
  });
  return [...marks, ...axis(count, HEIGHT - 24, ink)];
}
