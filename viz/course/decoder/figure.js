// Decoder: a grid of weights that grows by a row and a column with each token, under a mask.

import { column, row, text } from "../../web/scene/layout.js";
import { fixed, weightOf } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const { reached, inputs } = moment;
  // at first the tokens that were given: nothing later changes them while the mask is causal
  const count = reached("write") || Number(inputs.ahead) > 0 ? numbers.tokens.length : numbers.start;
  const parts = [weightsOf(numbers, count, moment), predictions(numbers, count, moment)];
  return column(row({ gap: 0.6, align: "end" }, ...parts), text("legend", "weights in %", "weight"));
}

const tallOf = (count) => Math.min(2.4, 21 / count);

function weightsOf({ tokens, weights, scores, visible }, count, { reached }) {
  const names = tokens.slice(0, count);
  const written = (i, j) =>
    visible[i][j] ? String(Math.round(100 * weights[i][j])) : reached("mask") ? "−∞" : "";
  const values = names.map((_, i) => names.map((__, j) => written(i, j)));
  const tip = (_, i, j) => {
    const pair = `“${tokens[i]}” to “${tokens[j]}”: score ${fixed(scores[i][j])}`;
    if (!visible[i][j]) return `${pair}, masked: −∞, so its weight is exp(−∞) / Σ exp = 0.`;
    return `${pair}, weight ${fixed(weights[i][j], 4)}.`;
  };
  const more = (i, j) => ({ term: visible[i][j] ? "weight" : undefined });
  const fill = (_, i, j) => (visible[i][j] ? weightOf(weights[i][j]) : "surface");
  const labels = { rows: names, cols: names, title: "query ↓  key →", about: "Weights in %", upright: true };
  const size = { cell: Math.min(2.7, 24 / count), tall: tallOf(count) };
  return matrix("w", values, { ...labels, ...size, tip, more, fill });
}

/** The likeliest next tokens: of the last token, or of each. */
function predictions(numbers, count, { reached }) {
  const { best, answers, answer_shares: shares, left, start } = numbers;
  const all = reached("parallel");
  const rows = all ? best.slice(0, count).map(([first]) => first) : best[count - 1];
  const isRight = (i) => (all ? answers[i] === null || answers[i] === rows[i].token : i === 0);
  const next = (i) => `Next comes “${answers[i]}”: its probability is ${fixed(shares[i] ?? 0, 4)}.`;
  const tip = (i) => (all && answers[i] !== null ? next(i) : undefined);
  const more = (i) => ({ ...(isRight(i) ? { bold: true } : { fill: "muted" }), tip: tip(i) });
  const canWrite = reached("write") && left > 0;
  const write = { label: `Write “${best[count - 1][0].token}”`, patch: { written: count - start + 1 } };
  const press = (i) => (canWrite && i === (all ? count - 1 : 0) ? write : undefined);
  const head = all ? "predicts, in %" : "comes next, in %";
  const look = { about: "Predictions", head, term: "output", more, press, tall: tallOf(count) };
  const values = rows.map(({ share }) => String(Math.round(100 * share)));
  const names = rows.map(({ token }) => token);
  return list("said", names, [{ values }], look);
}
