// Encoder and decoder: a date is read at once and written a character at a time.

import { arc, box, column, framed, row, text, wire, wired } from "../scene/layout.js";
import { choice, field, slider } from "../scene/controls.js";
import { fixed, grouped, percent } from "../scene/numbers.js";
import { list } from "../scene/list.js";
import { matrix } from "../scene/matrix.js";
import { tokens } from "../scene/tokens.js";

/** @import {Figure} from "../types" */

const LEAST = 0.01; // weights below it get no line
const LAYERS = {
  encoder: ["self-attention", "feed-forward"],
  decoder: ["masked attention", "cross-attention", "feed-forward"],
};
const WORDS = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired."]; // of the recording

/** @type {Figure} */
export const figure = {
  controls: ({ step, reached, board }) => [
    step === "grows" && field("sentence", "English", 80),
    step === "spoken" && choice("word", "Word", { ...WORDS }),
    step === "whole" && choice("network", "Network", { dates: "one block each", six: "six, as in 2017" }),
    !board && step !== "cost" && field("date", "A date", 24),
    !board && !reached("whole") && choice("head", "Head", ["0", "1", "2", "3"]),
    !board &&
      reached("write") &&
      step !== "cost" &&
      slider("written", "Characters written", [0, 10, 1], { plays: true }),
    step === "cost" && slider("length", "Tokens n", [2, 2048, 1], { log: true }),
    step === "cost" && slider("width", "Width d", [16, 1024, 1], { log: true }),
  ],

  picture(numbers, moment) {
    const { step, reached } = moment;
    if (step === "cost") return costs(numbers);
    if (step === "align") return alignment(numbers);
    if (isStacked(moment)) return sixBlocks(numbers);
    if (step === "whole" || step === "inside") return towers(numbers, moment);
    return reached("cross") ? crossing(numbers, moment) : encoding(numbers);
  },

  describe({ source, target, written, now, most, iso, cost, at, self, stacks, six }, moment) {
    const { step } = moment;
    if (isStacked(moment))
      return `Six encoder blocks of ${grouped(six.encoder)} parameters each, one above the other, and six decoder blocks of ${grouped(six.decoder)}. The output of the last encoder block goes to the cross-attention of every decoder block.`;
    if (step === "cost")
      return `Multiplications of one layer for ${cost.length} tokens of width ${cost.width}: ${cost.scores} for the scores, ${cost.sums} for the weighted sums, ${cost.projections} for the projections.`;
    const read = `The encoder has read ${source.join("")}.`;
    if (step === "whole" || step === "inside") {
      const said = (name) =>
        LAYERS[name]
          .map(
            (layer, i) =>
              `${layer} adds ${fixed(stacks[name].adds[i], 1)}, then ${fixed(stacks[name].stream[i + 1], 1)}`,
          )
          .join("; ");
      return `The whole transformer, as norms of vectors. Encoder, at ${most.token}: ${fixed(stacks.encoder.stream[0], 1)}; ${said("encoder")}. Its output goes to the cross-attention. Decoder, where ${now} is written: ${fixed(stacks.decoder.stream[0], 1)}; ${said("decoder")}. Predicted: ${stacks.guesses.join("")}, ${stacks.correct} of ${stacks.count} right.`;
    }
    if (step === "encode")
      return `${read} The character ${source[at]} gives itself a weight of ${fixed(self[at])}.`;
    const done = target.slice(1, written + 1).join("");
    if (step === "align")
      return `${read} Cross-attention of every character of ${iso}, as a grid of weights.`;
    return `${read} The decoder has written ${done || "nothing"}; next it writes ${now}, and attends most to ${most.token} at position ${most.at}, with a weight of ${fixed(most.weight)}.`;
  },
};

/** Whether the figure is the plan of the first transformer. */
const isStacked = ({ step, inputs }) => step === "whole" && inputs.network === "six";

/** The characters that are read, and their states. */
function reader({ source: read }, chosen, press, marked) {
  const cell = Math.min(2.1, 36 / read.length - 0.3);
  const letters = (i) => (read[i] === "␣" ? { fill: "muted" } : {});
  const words = (i) => `background/key ${i === marked ? 3 : 1.4}`;
  return column(
    { gap: 3.4 },
    column(
      { gap: 0.3 },
      text("source/name", "read by the encoder, all at once", "muted small"),
      tokens("s", read, { chosen, press, letters, cell }),
    ),
    tokens(
      "e",
      read.map(() => ""),
      { words, cell },
    ),
  );
}

const thick = (weight, by) => ({ width: 1 + by * weight, opacity: 0.35 + 0.5 * weight });

function encoding(numbers) {
  const { source: read, self, at } = numbers;
  const press = (i) => ({ label: `Character ${i}: ${read[i]}`, pressed: i === at, patch: { at: i } });
  const tip = (i) => `“${read[at]}” gives “${read[i]}” a weight of ${fixed(self[i], 4)}`;
  const wires = self.map(
    (weight, i) =>
      weight >= LEAST && wire(`self${i}`, `s${i}`, `e${at}`, "/weight", { ...thick(weight, 9), tip: tip(i) }),
  );
  return wired(reader(numbers, at, press, at), ...wires);
}

/** What is written, and where the character being written looks. */
function crossing(numbers, { step, reached }) {
  const { source: read, target, written, cross, causal, best, now, most } = numbers;
  const done = [...target.slice(0, written + 1), now];
  const isNow = (i) => i === written + 1;
  const write = { label: `Write “${now}”`, patch: { written: written + 1 } };
  const press = (i) => isNow(i) && reached("write") && written < target.length - 1 && write;
  const words = (i) =>
    isNow(i) ? "background/output 2.5" : i === written ? "surface/query 2.5" : "surface/line 1";
  const asks = "This position asks: its query is compared with the keys of all characters read";
  const more = (i) => ({ tip: i === written ? asks : undefined });
  const kinds = step === "kinds";
  const guesses = list(
    "best",
    best.map(({ token }) => token),
    [
      {
        values: best.map(({ share }) => share),
        said: (i) => percent(best[i].share),
        bar: 4,
        most: 1,
        term: "output",
      },
    ],
    { about: "Next character", tall: 1.5 },
  );
  const part = column(
    { gap: 1 },
    column(
      { gap: 7 },
      column(reader(numbers, most.at), text("states/name", "keys and values", "key small")),
      tokens("t", done, { words, press, more, cell: Math.min(2.7, 36 / done.length - 0.3) }),
    ),
    kinds
      ? column(
          { gap: 3 },
          text("space", ""),
          text("own/name", "below: the target on itself · above: the target on the source", "muted small"),
        )
      : null,
    row(
      text("target/name", "written by the decoder, one at a time", "muted small"),
      text("most", `weight ${fixed(most.weight)}`, "weight bold"),
    ),
    reached("write") && !kinds && guesses,
  );
  const tip = (i) => `While “${now}” is written, “${read[i]}” has a weight of ${fixed(cross[written][i], 4)}`;
  const self = (i) => `“${target[written]}” gives “${target[i]}” a weight of ${fixed(causal[i], 4)}`;
  return wired(
    part,
    ...cross[written].map(
      (weight, i) =>
        weight >= LEAST &&
        wire(`c${i}`, `t${written}`, `e${i}`, "/weight", { ...thick(weight, 11), tip: tip(i) }),
    ),
    ...causal.map(
      (weight, i) =>
        kinds &&
        weight >= LEAST &&
        arc(`own${i}`, `t${written}`, `t${i}`, "/weight below", { ...thick(weight, 6), tip: self(i) }),
    ),
  );
}

/** Rows: the character being written; columns: the characters read. */
function alignment({ source: read, chosen, cross }) {
  const tip = (weight, i, j) =>
    `While “${chosen[i]}” is written, “${read[j]}” has a weight of ${fixed(weight, 4)}`;
  const cell = Math.min(2.1, 32 / read.length);
  return matrix("a", cross, {
    title: "written ↓  read →",
    about: "Cross-attention",
    kind: "weights",
    digits: -1,
    term: "weight",
    rows: chosen,
    cols: read,
    cell,
    tall: 1.8,
    tip,
  });
}

/** A tower from the bottom to the top: the stream's norm between its layers. */
function tower(name, numbers, off, press) {
  const { source: read, target, written, now, most, stacks } = numbers;
  const { stream, adds } = stacks[name];
  const what = name === "encoder" ? `“${most.token}”` : `the position of “${now}”`;
  const norm = (i) =>
    box(
      `${name}/stream${i}`,
      fixed(stream[i], 1),
      "line/line",
      { tip: `The stream of ${what} here has norm ${fixed(stream[i])}` },
      [Math.max(2.4, 0.1 * stream[i]), 1.5],
    );
  const layers = LAYERS[name].flatMap((layer, i) => {
    const gone = off[i];
    const said = `${layer}: ${gone ? "off" : `adds ${fixed(adds[i], 1)}`}`;
    return [
      box(
        `${name}/layer${i}`,
        said,
        gone ? "background/line 1.5 dashed" : "surface/text 1.5 bold",
        { press: press?.(layer, i) },
        [13.5, 2],
      ),
      norm(i + 1),
    ];
  });
  const content =
    name === "encoder" ? read.join("").replaceAll("␣", " ") : target.slice(0, written + 1).join(" ");
  const blocks = framed(
    `${name}/frame`,
    column(
      { gap: 0.55 },
      text(`${name}/name`, `${name} block`, "muted bold small"),
      ...[norm(0), ...layers].reverse(),
    ),
  );
  return column(
    { gap: 0.5 },
    blocks,
    box(`${name}/embed`, "embedding + position", "surface/line", {}, [13.5, 1.7]),
    text(`${name}/in`, content, "bold"),
  );
}

/** Encoder and decoder side by side, and above the decoder its answer. */
function towers(numbers, { step, inputs }) {
  const { target, written, now, stacks } = numbers;
  const { best, guesses, right, correct, count, off } = stacks;
  const cutting = step === "inside";
  const toggle = (i) => ({ off: inputs.off.map((each, j) => (j === i ? 1 - each : each)) });
  const press = (layer, i) => ({
    label: `${layer}: ${off[i] ? "off" : "on"}`,
    pressed: !off[i],
    patch: toggle(i),
  });
  const write = !cutting &&
    written < target.length - 1 && { label: `Write “${now}”`, patch: { written: written + 1 } };
  const likely = best.map(({ token, share }) => `${token} ${percent(share)}`);
  const answers = tokens("top", likely, { chosen: 0, press: (i) => i === 0 && write, cell: 4.4 });
  const said = cutting ? guesses : target.slice(1, written + 1);
  const title = cutting
    ? `predicted: ${correct} of ${count} right`
    : `written so far${written ? "" : ": nothing"}`;
  const words = (i) => (!cutting || right[i] ? "surface/muted 1" : "background/line 1 dashed");
  const more = (i) => ({
    tip: cutting ? `Here comes “${target[i + 1]}”; “${said[i]}” is predicted` : undefined,
  });
  const letters = tokens(
    "said",
    said.map((each) => (each.length > 1 ? "…" : each)),
    { words, more, cell: 1.6 },
  );
  const left = column(
    { gap: 1.2 },
    column({ gap: 0.3 }, text("said/name", title, "bold"), letters),
    tower("encoder", numbers, [], undefined),
  );
  const side = column(
    { gap: 0.5 },
    answers,
    box("head", "norm, linear, softmax", "surface/line", {}, [13.5, 1.7]),
    tower("decoder", numbers, off, cutting ? press : undefined),
  );
  const part = row({ gap: 4, align: "end" }, left, side);
  const keys =
    !off[1] &&
    wire("memory", "encoder/stream2", "decoder/layer1", "/key 2.5 flat runs", {
      tip: "keys and values for the cross-attention",
    });
  return wired(part, keys);
}

/** Six blocks on each side, and the way from the encoder's end to all of the decoder's. */
function sixBlocks({ source: read, target, written, six }) {
  const cells = { encoder: ["self", "MLP"], decoder: ["masked", "cross", "MLP"] };
  const side = (name, what) => {
    const wide = 11.4 / cells[name].length;
    const blocks = Array.from({ length: 6 }, (_, i) => {
      const parts = cells[name].map((part) =>
        box(`${name}/six${i}/${part}`, part, part === "cross" ? "surface/key 2" : "surface/line", {}, [
          wide,
          1.7,
        ]),
      );
      const tip = `${name} block ${i + 1}: ${grouped(six[name])} parameters`;
      return framed(
        `${name}/six${i}`,
        row({ gap: 0.2 }, text(`${name}/six${i}/number`, String(i + 1), "muted bold"), ...parts),
        "/text 1.5",
        { tip },
      );
    });
    const head = name === "decoder" && box("head", "norm, linear, softmax", "surface/line", {}, [13, 1.7]);
    return column(
      { gap: 0.5 },
      head,
      ...blocks.reverse(),
      box(`${name}/embed`, "embedding + position", "surface/line", {}, [13, 1.7]),
      text(`${name}/in`, what, "bold"),
    );
  };
  const part = row(
    { gap: 4.5, align: "end" },
    side("encoder", read.join("").replaceAll("␣", " ")),
    side("decoder", target.slice(0, written + 1).join(" ")),
  );
  const wires = [0, 1, 2, 3, 4, 5].map((i) =>
    wire(`memory${i}`, "encoder/six5", `decoder/six${i}`, "/key 2 flat"),
  );
  return column(text("memory/name", "keys and values, for all six", "key"), wired(part, ...wires));
}

/** Multiplications as bars of one scale. */
function costs({ cost }) {
  const names = ["scores  Q Kᵀ: n² · d", "weighted sums  A V: n² · d", "four projections: 4 n · d²"];
  const values = [cost.scores, cost.sums, cost.projections];
  return column(
    { gap: 1.4 },
    text("cost/title", "Multiplications of one layer of self-attention", "bold"),
    list("cost", names, [{ values, said: (i) => grouped(values[i]), bar: 12 }], {
      about: "Multiplications",
      tall: 2.6,
    }),
    text("cost/sum", `in all ${grouped(cost.total)}`, "bold"),
    text("cost/equal", `the squares overtake the projections at n = 2 d = ${grouped(cost.equal)}`, "muted"),
  );
}
