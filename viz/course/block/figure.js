// The residual stream of a language model; a layer norm, a small block and untrained stacks.

import { bracketed, fixed, typed } from "../../web/scene/numbers.js";
import { bars, plot } from "../../web/scene/plot.js";
import { column, grid, row, text, wire, wired } from "../../web/scene/layout.js";
import { line, path, rect } from "../../web/scene/marks.js";
import { modelPicture } from "./model.js";
import { matrix } from "../../web/scene/matrix.js";

const NAMES = {
  x: "input x",
  attention: "self-attention",
  "feed-forward": "feed-forward",
  norm: "layer norm",
  "+": "add",
};
const CELLS = { kind: "signed", most: 2, cell: 3.6 };
const FEATURES = [0, 1, 2, 3];

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const draw = { layernorm: normed, encoder: small, norm: stack }[moment.step] ?? modelPicture;
  return draw(numbers, moment);
}

function stack({ stack: { norm, sizes, gradient } }) {
  const labels = sizes.map((_, i) => (i ? String(i) : "input"));
  const bar = (i) => ({ tip: `After ${i} blocks: ${fixed(sizes[i], 3)}` });
  const look = { labels, name: "after block", said: (i) => fixed(sizes[i]), bar, wide: 32, high: 12 };
  return column(
    { gap: 1.2 },
    text("stack/title", `Eight untrained blocks, ${norm}-norm`, "bold large"),
    text("stack/what", "root mean square of the stream", "muted"),
    bars("s", sizes, look),
    text("stack/gradient", `gradient of the last block: ${fixed(gradient, 3)}`, "bold"),
  );
}

/** The number of a word's feature, to be typed. */
const edited = ({ inputs }, word, w, f, value) =>
  typed(inputs, "x", 4 * w + f, `${word}, feature ${f}`, value);

/** Two words before and after a layer norm: bars, the mean as a line, one deviation to either side as a band. */
function normed({ normed: one }, moment) {
  const { words, rows, means, deviations, plain, out, gain, shift } = one;
  const panel = (key, w, values, mean, deviation, look) => {
    const most = Math.max(2, ...values.map(Math.abs), Math.abs(mean) + deviation);
    const axes = { x: [0, 4], y: [-most, most], ticks: { x: [], y: [] }, wide: 14.4, high: 5 };
    const drawn = plot(`${key}/plot`, axes, ({ x, y }) => {
      const band = [x(0), y(mean + deviation), x(4) - x(0), y(-deviation) - y(deviation)];
      const bar = (value, i) => [x(i + 0.3), y(Math.max(0, value)), 1.4, Math.abs(y(value) - y(0))];
      return [
        rect(`${key}/band`, band, "line", { opacity: 0.55 }),
        ...values.map((value, i) => rect(`${key}/bar${i}`, bar(value, i), "muted")),
        line(`${key}/mean`, [x(0), y(mean), x(4), y(mean)], "/primary 2.5"),
      ];
    });
    const cells = matrix(key, [values], { ...CELLS, about: `${words[w]}: ${key}`, ...look });
    const moments = `mean ${fixed(mean)} · deviation ${fixed(deviation)}`;
    return column({ gap: 0.3 }, drawn, cells, text(`${key}/said`, moments, "primary bold"));
  };
  const [g, s] = [gain, shift].map((value) => bracketed(fixed(value)));
  const halves = words.map((word, w) => {
    const [mean, deviation] = [means[w], deviations[w]];
    const sum = (_, __, i) =>
      `${g} · (${fixed(rows[w][i])} − ${bracketed(fixed(mean))}) / ${fixed(deviation)} + ${s} = ${g} · ${bracketed(fixed(plain[w][i], 3))} + ${s} = ${fixed(out[w][i], 3)}`;
    const of = () => FEATURES.map((j) => `a${w}/0.${j}`);
    const edit = (_, i) => edited(moment, word, w, i, rows[w][i]);
    const tip = (value, _, i) => `a${i} = ${fixed(value)}: press to change it`;
    return column(
      { gap: 0.6 },
      text(`ln/word${w}`, word, "bold large"),
      panel(`a${w}`, w, rows[w], mean, deviation, { tip, edit }),
      text(`ln/name${w}`, "↓ layer norm", "muted"),
      panel(`y${w}`, w, out[w], one.out_means[w], one.out_deviations[w], { tip: sum, of }),
    );
  });
  return row({ gap: 3 }, ...halves);
}

/** Two words through one block: the vector of each after every step. */
function small({ normed: { words }, small: { order, steps, weights } }, moment) {
  const back = order === "post" ? 2 : 3; // steps from a sum to what is added to it again
  const read = order === "post" ? 0 : 1; // the step that attention reads
  const cells = (w, i) => FEATURES.map((f) => `sm${w}.${i}/0.${f}`);
  const sources = (name, w, i) => (_, f) => {
    if (name === "+") return [`sm${w}.${i - 1}/0.${f}`, `sm${w}.${i - back}/0.${f}`];
    return name === "attention" ? words.flatMap((_word, j) => cells(j, i - 1)) : i ? cells(w, i - 1) : [];
  };
  const rows = steps.map(({ name, rows: values }, i) => {
    const vectors = words.map((word, w) => {
      const before = steps[Math.max(0, i - 1)].rows[w];
      const added = (f) => (name === "+" ? steps[i - back].rows[w][f] : 0);
      const tip = (value, _, f) => said(name, value, before, f, added(f));
      const edit = i ? undefined : (_, f) => edited(moment, word, w, f, values[w][f]);
      const about = `${word}: ${NAMES[name]}`;
      const look = { ...CELLS, cell: 2.7, about, tip, edit, of: sources(name, w, i) };
      return matrix(`sm${w}.${i}`, [values[w]], look);
    });
    const isLayer = name === "attention" || name === "feed-forward";
    return [text(`step${i}`, name === "+" ? "add" : NAMES[name], isLayer ? "bold" : ""), ...vectors];
  });
  const wires = steps.flatMap(({ name }, i) =>
    words.flatMap((word, w) => {
      const up = () => wire(`sm/to${w}.${i}`, `sm${w}.${i - 1}/0.1`, `sm${w}.${i}/0.1`, "/muted 1.8 arrow");
      if (name !== "attention") return i ? [up()] : [];
      return words.map((other, j) => {
        const tip = `“${word}” gives “${other}” a weight of ${fixed(weights[w][j], 3)}`;
        const look = { width: 1 + 9 * weights[w][j], opacity: 0.7, tip };
        return wire(`sm/a${w}.${j}`, `sm${j}.${read}/0.1`, `sm${w}.${i}/0.1`, "/weight", look);
      });
    }),
  );
  const around = (i) =>
    words.map((_, w) => skip(`sm/back${w}.${i}`, `sm${w}.${i - back}/0.3`, `sm${w}.${i}/0.3`));
  const skips = steps.flatMap(({ name }, i) => (name === "+" ? around(i) : []));
  const heads = [null, ...words.map((word, w) => text(`sm/word${w}`, word, "bold large"))];
  return wired(grid(1.7, [heads, ...rows]), ...wires, ...skips);
}

/** The residual connection, right of what it goes around. */
const skip = (key, from, to) => (at) => {
  const [a, b] = [at(from), at(to)];
  const [x, y, end] = [a.x + a.w, a.y + a.h / 2, b.y + b.h / 2];
  const d = `M${x + 0.1} ${y}L${x + 0.9} ${y}L${x + 0.9} ${end}L${x + 0.2} ${end}m0.4 -0.3l-0.4 0.3l0.4 0.3`;
  const tip = "The residual connection: what went into the layer is added to what came out";
  return [path(key, d, "/primary 2", { tip })];
};

/** How a number of the block comes about. */
function said(name, value, before, at, added) {
  if (name === "+") return `${fixed(added, 3)} + ${bracketed(fixed(before[at], 3))} = ${fixed(value, 3)}`;
  if (name === "norm")
    return `${fixed(before[at], 3)}, minus the mean of these four, over their deviation: ${fixed(value, 3)}`;
  if (name === "attention") return `Values of both words, weighted, and projected: ${fixed(value, 3)}`;
  if (name === "feed-forward") return `4 → 8 → 4 features, with a ReLU between: ${fixed(value, 3)}`;
  return `Input: ${fixed(value, 3)}. Press to change it`;
}
