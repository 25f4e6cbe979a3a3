// The head layer: a vector, a logit for each word, probabilities, the loss and where it pushes.

import { column, row, text } from "../../web/scene/layout.js";
import { circle, cut, fixed, grouped, signedOf } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { plot } from "../../web/scene/plot.js";

const MOST = 5; // of −log p

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const { step, reached } = moment;
  if (!reached("logits")) return vector(numbers, true);
  const isAimed = reached("loss");
  const below = isAimed && loss(numbers, step === "gradient");
  return column({ gap: 0.9 }, vector(numbers, false), words(numbers, moment, isAimed), below);
}

/** The end of a text. */
const tail = (string, longest) =>
  string.length > longest ? `… ${string.slice(-longest + 2).trimStart()}` : string;

/** The last vector as cells: alone, or small above what follows from it. */
function vector({ h, norm, text: read }, alone) {
  const [count, cols, cell] = alone ? [h.length, 32, 0.95] : [h.length, 64, 0.28];
  const rows = Array.from({ length: Math.ceil(count / cols) }, (_, i) => h.slice(i * cols, (i + 1) * cols));
  const tip = (value, i, j) => `feature ${i * cols + j}: ${fixed(value)}`;
  const size = { cell, tall: cell, digits: -1, stroke: "none" };
  const drawn = matrix("h", rows, { kind: "signed", ...size, tip });
  const said = (longest, after) =>
    column(
      { gap: 0.2, align: "start" },
      text("read", `“${tail(read, longest)} …”`),
      text("read/name", after, "muted"),
    );
  if (alone) {
    const name = text("h/name", `h: ${count} numbers, norm ${fixed(norm, 1)}`, "bold");
    return column(said(48, "after 30 blocks and the last norm:"), name, drawn);
  }
  const sizes = text("h/norm", `norm ${fixed(norm, 1)}`, "muted");
  const name = column({ gap: 0 }, text("h/name", "h", "bold large"), sizes);
  return row({ gap: 0.6 }, name, drawn, said(24, "after 30 blocks"));
}

/** What each token's logit comes from, the logits, and the probabilities; the last row is all others. */
function words(numbers, { step, reached }, isAimed) {
  const { words: names, rows, cosines, vocab, norm, logits, gradient, moved, target } = numbers;
  const { probabilities: shares } = numbers;
  const moving = step === "gradient";
  const count = logits.length;
  const factors = rows.map((each, i) => `${fixed(each)} · ${fixed(cosines[i], 3)}`);
  const pushes = names.map(
    (_, i) => `${fixed(shares[i])} − ${isAimed && i === target ? 1 : 0} = ${fixed(gradient[i])}`,
  );
  const product = (i) =>
    `“${names[i]}”: ${fixed(norm)} · ${fixed(rows[i])} · ${fixed(cosines[i], 4)} = ${fixed(logits[i])}`;
  const first = moving
    ? { head: "p − y", values: pushes }
    : { head: "‖row of W‖ · cosine", values: [...factors, `${grouped(vocab - count)} tokens`] };
  const logit = {
    ...{ head: "logits", values: [...logits, null], bar: 5 },
    said: (i) => (i < count ? `${fixed(logits[i])}${moving ? ` → ${fixed(moved.logits[i])}` : ""}` : ""),
    fill: (i) => signedOf((logits[i] ?? 0) / 4),
    tip: (i) => (i < count ? product(i) : undefined),
  };
  const share = {
    ...{ head: "p", values: shares, digits: 3, bar: 5, most: 1 },
    fill: (i) => (isAimed && i === target ? "primary" : "muted"),
    tip: (i) => `p(${names[i]}) = ${fixed(shares[i], 4)}`,
  };
  const after = { head: "p after the step", values: moved.probabilities, digits: 3 };
  const blue = () => ({ fill: "primary" });
  const aim = (i) => ({ label: `Target: ${names[i]}`, pressed: i === target, patch: { target: i } });
  const press = (i) => (i < count ? aim(i) : undefined);
  const columns = [first, logit, reached("probabilities") && share, moving && { ...after, more: blue }];
  const aimed = isAimed ? { tall: 1.55, lit: target, press } : { lit: -1 };
  return list(
    "word",
    names.map((name) => cut(name, 10)),
    columns,
    { about: "The likeliest tokens", ...aimed },
  );
}

/** −log p against p, where the target is. */
function loss({ probability, loss: value, moved, words: names, target }, moving) {
  const points = Array.from({ length: 60 }, (_, i) => (MOST * (59 - i)) / 59).map((y) => [Math.exp(-y), y]);
  const ticks = { x: [0, 1], y: [] };
  const look = { x: [0, 1], y: [0, MOST], ticks, names: ["p", "−log p"], wide: 12, high: 4.6 };
  const drawn = plot("plot", look, ({ at, graph }) => [
    graph("plot/curve", "/muted 2", points),
    circle("plot/dot", at(probability, Math.min(MOST, value)), 0.4, "primary"),
    ...(moving
      ? [circle("plot/moved", at(moved.probability, Math.min(MOST, moved.loss)), 0.4, "background/primary 2")]
      : []),
  ]);
  const sum = `loss = −log ${fixed(probability, 3)} = ${fixed(value, 3)}`;
  const said = text("loss", sum, "bold large", { tip: `−log p(${names[target]})` });
  const later = moving && text("loss/moved", `after the step ${fixed(moved.loss, 3)}`, "primary");
  return row(column(said, later), drawn);
}
