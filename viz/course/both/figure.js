// Encoder and decoder: a date is read at once and written a character at a time.

import { arc, column, row, text, wire, wired } from "../../web/scene/layout.js";
import { fixed, percent } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { tokens } from "../../web/scene/tokens.js";

const LEAST = 0.01; // weights below it get no line

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const draw = { encode: encoding, align: alignment };
  return (draw[moment.step] ?? crossing)(numbers, moment);
}

/** The characters that are read, and their states. */
function reader({ source }, chosen, press, marked) {
  const cell = Math.min(2.1, 36 / source.length - 0.3);
  const letters = (i) => (source[i] === "␣" ? { fill: "muted" } : {});
  const words = (i) => `background/key ${i === marked ? 3 : 1.4}`;
  const name = text("source/name", "read by the encoder, all at once", "muted small");
  const read = column({ gap: 0.3 }, name, tokens("s", source, { chosen, press, letters, cell }));
  return column({ gap: 3.4 }, read, tokens("e", Array(source.length).fill(""), { words, cell }));
}

/** Lines as thick as weights: `line` makes one from its place and its look. */
const weighted = (weights, by, tip, line) =>
  weights.map((weight, i) => {
    const look = { width: 1 + by * weight, opacity: 0.35 + 0.5 * weight, tip: tip(i, fixed(weight, 4)) };
    return weight >= LEAST && line(i, look);
  });

function encoding(numbers) {
  const { source, self, at } = numbers;
  const press = (i) => ({ label: `Character ${i}: ${source[i]}`, pressed: i === at, patch: { at: i } });
  const tip = (i, weight) => `“${source[at]}” gives “${source[i]}” a weight of ${weight}`;
  const line = (i, look) => wire(`self${i}`, `s${i}`, `e${at}`, "/weight", look);
  return wired(reader(numbers, at, press, at), ...weighted(self, 9, tip, line));
}

/** What is written, and where the character being written looks. */
function crossing(numbers, { step, reached }) {
  const { source, target, written, cross, causal, best, now, most } = numbers;
  const done = [...target.slice(0, written + 1), now];
  const [writes, kinds] = [reached("write"), step === "kinds"];
  const isNow = (i) => i === written + 1;
  const write = { label: `Write “${now}”`, patch: { written: written + 1 } };
  const press = (i) => isNow(i) && writes && written < target.length - 1 && write;
  const words = (i) =>
    isNow(i) ? "background/output 2.5" : i === written ? "surface/query 2.5" : "surface/line 1";
  const asks = "This position asks: its query is compared with the keys of all characters read";
  const more = (i) => ({ tip: i === written ? asks : undefined });
  const cell = Math.min(2.7, 36 / done.length - 0.3);
  const states = column(reader(numbers, most.at), text("states/name", "keys and values", "key small"));
  const both = "below: the target on itself · above: the target on the source";
  const name = text("target/name", "written by the decoder, one at a time", "muted small");
  const part = column(
    { gap: 1 },
    column({ gap: 7 }, states, tokens("t", done, { words, press, more, cell })),
    kinds && column({ gap: 3 }, text("space", ""), text("own/name", both, "muted small")),
    row(name, text("most", `weight ${fixed(most.weight)}`, "weight bold")),
    writes && !kinds && chances("best", best, "Next character", 1.5),
  );
  const tip = (i, weight) => `While “${now}” is written, “${source[i]}” has a weight of ${weight}`;
  const self = (i, weight) => `“${target[written]}” gives “${target[i]}” a weight of ${weight}`;
  const up = (i, look) => wire(`c${i}`, `t${written}`, `e${i}`, "/weight", look);
  const below = (i, look) => arc(`own${i}`, `t${written}`, `t${i}`, "/weight below", look);
  const ups = weighted(cross[written], 11, tip, up);
  return wired(part, ...ups, ...(kinds ? weighted(causal, 6, self, below) : []));
}

/** The likeliest tokens with their probabilities. */
function chances(key, best, about, tall) {
  const values = best.map(({ share }) => share);
  const share = { values, said: (i) => percent(values[i]), bar: 4, most: 1, term: "output" };
  return list(
    key,
    best.map(({ token }) => token),
    [share],
    { about, tall },
  );
}

/** Rows: the character being written; columns: the characters read. */
function alignment({ source, chosen, cross }) {
  const tip = (weight, i, j) =>
    `While “${chosen[i]}” is written, “${source[j]}” has a weight of ${fixed(weight, 4)}`;
  return matrix("a", cross, {
    ...{ title: "written ↓  read →", about: "Cross-attention", term: "weight", kind: "weights", digits: -1 },
    ...{ rows: chosen, cols: source, cell: Math.min(2.1, 32 / source.length), tall: 1.8, tip },
  });
}
