// Decoder: a grid of weights that grows by a row and a column with each token, and a mask with edges to drag.

import { column, overlaid, row, text } from "../../web/scene/layout.js";
import { circle, joined, weightOf } from "../../web/scene/marks.js";
import { fixed } from "../../web/scene/numbers.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";

/** @import {Figure} from "../../web/types" */

const [MOST, ALL] = [11, 10]; // tokens; later keys a query sees without a mask

/** @type {Figure} */
export const figure = {
  picture(numbers, moment) {
    const { reached, inputs, step } = moment;
    // at first the tokens that were given: nothing later changes them while the mask is causal
    const count = reached("write") || Number(inputs.ahead) > 0 ? numbers.tokens.length : numbers.start;
    const parts = [weightsOf(numbers, count, moment), predictions(numbers, count, moment)];
    const under = step === "cache" && text("cached", "only the last row is computed");
    const legend = row(text("legend", "weights in %", "weight"), under);
    const all = column(row({ gap: 0.6, align: "end" }, ...parts), legend);
    return reached("edge") ? overlaid(all, (at) => edges(at, count, inputs)) : all;
  },
};

const tallOf = (count) => Math.min(2.4, 21 / count);

function weightsOf({ tokens, weights, scores, visible }, count, { step, reached }) {
  const names = tokens.slice(0, count);
  const isFaded = (i) => step === "cache" && i < count - 1; // computed before, and not again
  const isAnswer = (i, j) => reached("cheat") && j === i + 1 && visible[i][j];
  const written = (i, j) =>
    visible[i][j] ? String(Math.round(100 * weights[i][j])) : reached("mask") ? "−∞" : "";
  const values = names.map((_, i) => names.map((__, j) => written(i, j)));
  const tip = (_, i, j) => {
    const pair = `“${tokens[i]}” to “${tokens[j]}”: score ${fixed(scores[i][j])}`;
    if (!visible[i][j]) return `${pair}, masked: −∞, so its weight is exp(−∞) / Σ exp = 0.`;
    const answer = isAnswer(i, j) ? ". This key is the answer that this position is to predict" : "";
    return `${pair}, weight ${fixed(weights[i][j], 4)}${answer}.`;
  };
  const more = (i, j) => ({
    term: visible[i][j] ? "weight" : undefined,
    ...(isAnswer(i, j) ? { stroke: "output", width: 3 } : {}),
  });
  const fill = (_, i, j) => (visible[i][j] && !isFaded(i) ? weightOf(weights[i][j]) : "surface");
  const labels = { rows: names, cols: names, title: "query ↓  key →", about: "Weights in %", upright: true };
  const size = { cell: Math.min(2.7, 24 / count), tall: tallOf(count) };
  return matrix("w", values, { ...labels, ...size, tip, more, fill });
}

/** The likeliest next tokens: of the last token, or of each. */
function predictions(numbers, count, { reached }) {
  const { best, answers, answer_shares: shares, left, network, start } = numbers;
  const all = reached("parallel");
  const rows = all ? best.slice(0, count).map(([first]) => first) : best[count - 1];
  const isRight = (i) => (all ? answers[i] === null || answers[i] === rows[i].token : i === 0);
  const next = (i) => `Next comes “${answers[i]}”: its probability is ${fixed(shares[i] ?? 0, 4)}.`;
  const tip = (i) => (all && answers[i] !== null ? next(i) : undefined);
  const more = (i) => ({ ...(isRight(i) ? { bold: true } : { fill: "muted" }), tip: tip(i) });
  const canWrite = reached("write") && left > 0 && network !== "copying";
  const write = { label: `Write “${best[count - 1][0].token}”`, patch: { written: count - start + 1 } };
  const press = (i) => (canWrite && i === (all ? count - 1 : 0) ? write : undefined);
  const head = all ? "predicts, in %" : "comes next, in %";
  const look = { about: "Predictions", head, term: "output", more, press, tall: tallOf(count) };
  const values = rows.map(({ share }) => String(Math.round(100 * share)));
  const names = rows.map(({ token }) => token);
  return list("said", names, [{ values }], look);
}

/** The two edges of the band of visible keys, each with a handle. */
function edges(at, count, inputs) {
  const { x: left, y: top, w, h } = at("w/0.0");
  const [window, ahead] = [Math.min(Number(inputs.window), count), Math.min(Number(inputs.ahead), count - 1)];
  const end = (x) => Math.max(0, Math.min(count, Math.round((x - left) / w)));
  const toAhead = (place) => ({ ahead: place >= count ? ALL : Math.max(0, place - 1) });
  const toWindow = (place) => ({ window: place <= 0 ? MOST : Math.max(1, count - place) });
  const edge = (key, place, opacity) => {
    const across = (i) => left + Math.max(0, Math.min(count, place(i))) * w;
    const step = (i) => [0, 1].map((below) => [across(i), top + (i + below) * h]);
    const stairs = Array.from({ length: count }, (_, i) => step(i)).flat();
    return joined(key, "/primary 2.5", stairs, opacity === undefined ? {} : { opacity });
  };
  const knob = (key, x, y, handle) => circle(key, [x, y], 0.6, "background/primary 3", { handle });
  const later = ahead >= count - 1 ? "no mask: all later tokens in sight" : `${ahead} later tokens in sight`;
  const upper = {
    ...{ label: "Upper edge of the mask", now: ahead },
    value: ahead === 0 ? "causal: no later token in sight" : later,
    move: (x) => toAhead(end(x)),
    nudge: (dx, dy) => toAhead(Math.max(1, 1 + ahead + dx - dy)),
  };
  const lower = {
    ...{ label: "Lower edge of the mask", now: window },
    value: window >= count ? "all earlier tokens in sight" : `a window of ${window}`,
    move: (x) => toWindow(end(x)),
    nudge: (dx, dy) => toWindow(Math.min(count - 1, count - window + dx - dy)),
  };
  return [
    edge("edge/ahead", (i) => i + 1 + ahead),
    edge("edge/window", (i) => i + 1 - window, window < count ? 1 : 0),
    knob("knob/ahead", left + (1 + ahead) * w, top - 0.5, upper),
    knob("knob/window", left + (count - window) * w, top + count * h + 0.5, lower),
  ];
}
