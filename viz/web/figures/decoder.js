// Decoder: a grid of weights that grows by a row and a column with each token, and a mask with edges to drag.

import { fixed, percent } from "../story/marks.js";

/** @import {Figure, Ink, Mark} from "../types" */

/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {number} start how many of them were there before writing
 * @property {number} left how many more there is room for
 * @property {string} network
 * @property {number[][]} scores before the mask
 * @property {boolean[][]} visible
 * @property {number[][]} weights
 * @property {{token: string, share: number}[][]} best likeliest next tokens at each position
 * @property {(string | null)[]} answers the token that does come next
 * @property {(number | null)[]} answer_shares
 * @property {number} mean_share
 */

const [WIDTH, HEIGHT] = [560, 440];
const [LEFT, TOP, LARGEST] = [92, 99, 42]; // the last is the side of a cell where there are few tokens
const [MOST, ALL] = [11, 10]; // tokens; later keys a query sees without a mask
const SAID = 128; // width of the predictions, beside the grid

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["read", "mask", "padding", "write", "parallel", "edge", "cheat", "cache"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],
  controls: [
    { kind: "text", input: "text", label: "Begins with", longest: 32 },
    { kind: "slider", input: "written", label: "Tokens written", min: 0, max: 6, step: 1, plays: true, from: "write" },
    { kind: "choice", input: "place", label: "Layer · head", options: [["13.8", "13 · 8"], ["16.0", "16 · 0"], ["11.6", "11 · 6"], ["18.8", "18 · 8"]], on: ["read", "mask", "write", "parallel", "edge", "cache"] },
    { kind: "choice", input: "head", label: "Layer · head", options: [["0", "0 · 0"], ["1", "0 · 1"], ["2", "1 · 0"], ["3", "1 · 1"]], on: ["cheat"] },
    { kind: "choice", input: "network", label: "Network", options: [["trained", "trained under the mask"], ["copying", "copies, set by hand"]], on: ["cheat"] },
  ],

  marks(/** @type {Numbers} */ numbers, moment) {
    const { reached, ink } = moment;
    const count = visibleCount(numbers, moment);
    const cell = cellOf(count);
    const marks = grid(numbers, count, moment);
    const last = numbers.best[count - 1];
    if (!reached("parallel"))
      last.forEach(({ token, share }, i) => marks.push(...said(`best${i}`, count, count - 1 + i, token, share, ink, i === 0)));
    else
      for (let row = 0; row < count; row += 1) {
        const { token, share } = numbers.best[row][0];
        const answer = numbers.answers[row];
        const right = answer === null || answer === token;
        marks.push(...said(row === count - 1 ? "best0" : `said${row}`, count, row, token, share, ink, right, answer === null ? "" : `Next comes “${answer}”: its probability is ${fixed(numbers.answer_shares[row] ?? 0, 4)}.`));
      }
    marks.push({ key: "said/head", kind: "text", x: beside(count), y: TOP - 12, text: reached("parallel") ? "predicts, in %" : "comes next, in %", size: 13, anchor: "start", fill: ink.muted });
    if (reached("write") && numbers.left > 0 && numbers.network !== "copying")
      marks.push({
        key: "write", kind: "rect", x: beside(count) - 6, y: TOP + (count - 1) * cell + 1, w: SAID + 12, h: cell - 2, r: 6, stroke: ink.primary, width: 1.5,
        press: { label: `Write “${last[0].token}”`, patch: { written: count - numbers.start + 1 } },
      });
    if (reached("edge")) marks.push(...edges(count, moment));
    return marks;
  },

  describe(/** @type {Numbers} */ numbers, moment) {
    const count = visibleCount(numbers, moment);
    const { token, share } = numbers.best[count - 1][0];
    const hidden = numbers.visible.slice(0, count).flatMap((row) => row.slice(0, count)).filter((seen) => !seen).length;
    return `Attention weights of ${count} tokens, ${numbers.tokens.slice(0, count).join(" ")}: ${hidden} of ${count * count} are masked. After the last one “${token}” is the likeliest, ${percent(share)}.`;
  },

  tables(/** @type {Numbers} */ { tokens, weights, visible, scores, best, answers, answer_shares: shares }) {
    const masked = (/** @type {number[][]} */ values) => values.map((row, i) => row.map((value, j) => (visible[i][j] ? value : null)));
    return [
      { title: "Scores after the mask", rows: tokens, cols: tokens, values: masked(scores) },
      { title: "Weights", rows: tokens, cols: tokens, values: masked(weights) },
      {
        title: "Predictions",
        rows: tokens,
        cols: ["likeliest", "probability", "comes next", "its probability"],
        values: tokens.map((_, i) => [best[i][0].token, best[i][0].share, answers[i] ?? "?", shares[i] ?? "?"]),
      },
    ];
  },
};

/**
 * How many tokens are shown: at first those that were given. Nothing later changes them while the mask is causal.
 *
 * @type {(numbers: Numbers, moment: Moment) => number}
 */
function visibleCount({ tokens, start }, { reached, inputs }) {
  return reached("write") || Number(inputs.ahead) > 0 ? tokens.length : start;
}

/** @type {(numbers: Numbers, count: number, moment: Moment) => Mark[]} */
function grid({ tokens, start, weights, scores, visible }, count, { step, reached, ink }) {
  const cell = cellOf(count);
  /** @type {Mark[]} */
  const marks = [];
  for (let i = 0; i < count; i += 1) {
    const fill = i < start ? ink.text : ink.term.output;
    const middle = (i + 0.5) * cell;
    const faded = step === "cache" && i < count - 1; // computed before, and not again
    marks.push(
      { key: `row${i}`, kind: "text", x: LEFT - 8, y: TOP + middle, text: tokens[i], anchor: "end", size: 14, fill: faded ? ink.muted : fill, term: i < start ? undefined : "output" },
      { key: `col${i}`, kind: "text", x: LEFT + middle, y: TOP - 25, text: tokens[i], anchor: "start", size: 14, fill, turn: -50, term: i < start ? undefined : "output" },
    );
    for (let j = 0; j < count; j += 1) {
      const seen = visible[i][j];
      const [x, y] = [LEFT + j * cell, TOP + i * cell];
      const ground = seen && !faded ? ink.weight(weights[i][j]) : ink.surface;
      const answer = reached("cheat") && j === i + 1 && seen;
      marks.push({
        ...{ key: `${i}.${j}`, kind: "rect", x, y, w: cell, h: cell, fill: ground, stroke: ink.line },
        ...{ term: seen ? "weight" : undefined, tip: cellTip(tokens, i, j, scores[i][j], weights[i][j], seen, answer) },
      });
      const text = seen ? String(Math.round(100 * weights[i][j])) : reached("mask") ? "−∞" : "";
      marks.push({ key: `${i}.${j}/number`, kind: "text", x: x + cell / 2, y: y + cell / 2, text, size: 13, fill: seen && !faded ? ink.on(ground) : ink.muted });
    }
  }
  if (reached("cheat"))
    for (let i = 0; i + 1 < count; i += 1)
      if (visible[i][i + 1])
        marks.push({ key: `answer${i}`, kind: "rect", x: LEFT + (i + 1) * cell + 1, y: TOP + i * cell + 1, w: cell - 2, h: cell - 2, stroke: ink.term.output, width: 3, term: "output" });
  const bottom = TOP + count * cell;
  marks.push(
    { key: "axis/rows", kind: "text", x: LEFT - 8, y: TOP - 12, text: "query", anchor: "end", size: 13, bold: true, fill: ink.term.query, term: "query" },
    { key: "axis/cols", kind: "text", x: LEFT + 4, y: 14, text: "key", anchor: "start", size: 13, bold: true, fill: ink.term.key, term: "key" },
    { key: "legend", kind: "text", x: LEFT, y: bottom + 30, text: "weights in %", anchor: "start", size: 13, fill: ink.term.weight, term: "weight" },
  );
  if (step === "cache")
    marks.push({ key: "cached", kind: "text", x: LEFT + 92, y: bottom + 30, text: "only the last row is computed", anchor: "start", size: 13, fill: ink.text });
  return marks;
}

/** @type {(tokens: string[], i: number, j: number, score: number, weight: number, seen: boolean, answer: boolean) => string} */
function cellTip(tokens, i, j, score, weight, seen, answer) {
  const pair = `“${tokens[i]}” to “${tokens[j]}”: score ${fixed(score)}`;
  if (!seen) return `${pair}, masked: −∞, so its weight is exp(−∞) / Σ exp = 0.`;
  return `${pair}, weight ${fixed(weight, 4)}${answer ? ". This key is the answer that this position is to predict" : ""}.`;
}

/** Where the predictions begin. @type {(count: number) => number} */
const beside = (count) => LEFT + count * cellOf(count) + 18;

/** The side of a cell: two more rows fit below. @type {(count: number) => number} */
const cellOf = (count) => Math.min(LARGEST, (HEIGHT - TOP - 8) / (count + 2));

/** @type {(key: string, count: number, row: number, token: string, share: number, ink: Ink, strong: boolean, tip?: string) => Mark[]} */
function said(key, count, row, token, share, ink, strong, tip = "") {
  const [x, y] = [beside(count), TOP + (row + 0.5) * cellOf(count)];
  const fill = strong ? ink.term.output : ink.muted;
  return [
    { key, kind: "text", x, y, text: token, anchor: "start", size: 14, bold: strong, fill, term: "output", tip: tip || undefined },
    { key: `${key}/share`, kind: "text", x: x + SAID, y, text: String(Math.round(100 * share)), anchor: "end", size: 13, fill, term: "output" },
  ];
}

/** The two edges of the band of visible keys, each with a handle. @type {(count: number, moment: Moment) => Mark[]} */
function edges(count, { inputs, ink }) {
  const cell = cellOf(count);
  const [window, ahead] = [Math.min(Number(inputs.window), count), Math.min(Number(inputs.ahead), count - 1)];
  const end = (/** @type {number} */ at) => Math.max(0, Math.min(count, Math.round((at - LEFT) / cell)));
  const toAhead = (/** @type {number} */ column) => ({ ahead: column >= count ? ALL : Math.max(0, column - 1) });
  const toWindow = (/** @type {number} */ column) => ({ window: column <= 0 ? MOST : Math.max(1, count - column) });
  const stairs = (/** @type {(row: number) => number} */ column) =>
    Array.from({ length: count }, (_, row) => {
      const x = LEFT + Math.max(0, Math.min(count, column(row))) * cell;
      return `${row ? "L" : "M"}${x} ${TOP + row * cell}V${TOP + (row + 1) * cell}`;
    }).join("");
  const [right, left] = [1 + ahead, count - window];
  /** @type {(key: string, x: number, y: number, handle: NonNullable<Mark["handle"]>) => Mark} */
  const knob = (key, x, y, handle) => ({ key, kind: "circle", x, y, r: 9, fill: ink.background, stroke: ink.primary, width: 3, handle });
  return [
    { key: "edge/ahead", kind: "path", d: stairs((row) => row + 1 + ahead), stroke: ink.primary, width: 2.5 },
    { key: "edge/window", kind: "path", d: stairs((row) => row + 1 - window), stroke: ink.primary, width: 2.5, opacity: window < count ? 1 : 0 },
    knob("knob/ahead", LEFT + right * cell, TOP - 8, {
      label: "Upper edge of the mask",
      value: ahead === 0 ? "causal: no later token in sight" : ahead >= count - 1 ? "no mask: all later tokens in sight" : `${ahead} later tokens in sight`,
      now: ahead,
      move: (x) => toAhead(end(x)),
      nudge: (dx, dy) => toAhead(Math.max(1, right + dx - dy)),
    }),
    knob("knob/window", LEFT + left * cell, TOP + count * cell + 8, {
      label: "Lower edge of the mask",
      value: window >= count ? "all earlier tokens in sight" : `a window of ${window}`,
      now: window,
      move: (x) => toWindow(end(x)),
      nudge: (dx, dy) => toWindow(Math.min(count - 1, left + dx - dy)),
    }),
  ];
}
