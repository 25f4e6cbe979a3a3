// Scale and softmax: dot products spread as the width grows, and the softmax saturates.

import { bars, plot } from "../scene/plot.js";
import { choice, field, slider } from "../scene/controls.js";
import { column, grid, lines, row, text } from "../scene/layout.js";
import { circle, line, rect, say } from "../scene/marks.js";
import { fixed, list as listed } from "../scene/numbers.js";
import { formatted } from "../story/prose.js";
import { list } from "../scene/list.js";
import { describeWidths, threeWidths } from "./scale_widths.js";

/** @import {Figure} from "../types" */

const WIDEST = 512;
const LOG = { log: true };
const SCORES = { dot: "dot product", bilinear: "bilinear", additive: "additive" };
const FORMULAS = ["q·k", "q^{T} M k", "v^{T} tanh(W q + U k)"];

/** @type {Figure} */
export const figure = {
  controls: ({ step }) => [
    step === "spread" && field("sentence", "Text", 80),
    !["widths", "spread"].includes(step) && slider("width", "Width d", [1, WIDEST, 1], LOG),
    step === "widths" && choice("scoring", "Score", SCORES),
    step === "widths" && choice("key_width", "Width of a key", ["1", "2", "3"]),
    step === "temperature" && slider("temperature", "Temperature T", [0.1, 10, 0.01], LOG),
    step === "half" && slider("size", "Numbers of q, k", [0.5, 200, 0.1], LOG),
  ],

  picture(numbers, moment) {
    const { reached, step } = moment;
    if (reached("half")) return halves(numbers);
    if (step === "others") return others(numbers);
    if (step === "widths") return threeWidths(numbers.widths, moment);
    if (reached("softmax"))
      return column({ gap: 1.2 }, keys(numbers, moment), reached("slope") && slopes(numbers, moment));
    return reached("walk") ? walks(numbers) : spread(numbers);
  },

  describe(numbers, { reached, step }) {
    const { width, variance, weights, scaled_weights, tempered_weights, half_product, late, early, exact } =
      numbers;
    if (reached("half"))
      return `In float16 q·k is ${spoken(half_product)}, divided afterwards ${spoken(late)}, divided before ${spoken(early)}; exactly ${spoken(exact)}.`;
    if (step === "others")
      return `Standard deviation of unscaled scores at width ${width}: ${numbers.others.map(({ name, deviation }) => `${name} ${fixed(deviation)}`).join(", ")}.`;
    if (step === "widths") return describeWidths(numbers.widths);
    if (reached("temperature"))
      return `Weights of the scaled scores divided by the temperature: ${listed(tempered_weights)}.`;
    if (reached("scaled"))
      return `Weights at width ${width} without the scale: ${listed(weights)}; with it: ${listed(scaled_weights)}.`;
    if (reached("softmax"))
      return `Weights of eight keys at width ${width}, without a scale: ${listed(weights)}.`;
    return `Dot products of random vectors of width ${width}: their variance is ${fixed(variance)}.`;
  },
};

const long = (value) => formatted(value, Math.abs(value) < 100 ? ",.2f" : ",.0f");

const spoken = (value) => (value === null ? "infinite" : long(value));

/** The distribution of q·k. */
function spread({ width, root, variance, deviation, histogram }) {
  const half = histogram.length / 2;
  const shape = histogram.flatMap((share, i) => [i - half, i + 1 - half].map((x) => [x, share]));
  const look = { x: [-half, half], y: [-0.1, 1], ticks: { y: [] }, wide: 34, high: 17 };
  const drawn = plot("histogram", look, ({ at, graph }) => [
    graph("shares", "muted", [[-half, 0], ...shape, [half, 0]], { opacity: 0.45 }),
    ...[-1, 1].map((side) =>
      line(
        `deviation${side}`,
        [...at(0, -0.06), ...at(side * Math.min(half, deviation), -0.06)],
        "/text 3 arrow",
      ),
    ),
  ]);
  const said = [
    `standard deviation ${fixed(deviation)}: about √d = ${fixed(root)}`,
    `variance ${fixed(variance)}: about d = ${width}`,
  ];
  return column(
    text("head", `4,000 dot products q·k of random vectors, d = ${width}`, "bold"),
    drawn,
    lines("spread", said),
  );
}

/** Eight dot products as features are added, one product at a time. */
function walks({ width, root, scores, walks: paths }) {
  const range = Math.max(40, 10 * Math.ceil(Math.max(...paths.flat().map(Math.abs)) / 10));
  const every = WIDEST / (paths[0].length - 1);
  const look = {
    x: [1, WIDEST],
    y: [-range, range],
    ticks: { x: [1, WIDEST] },
    names: ["features", ""],
    wide: 32,
    high: 20,
  };
  const roots = (sign) =>
    Array.from({ length: 129 }, (_, i) => [Math.max(1, 4 * i), sign * Math.sqrt(4 * i)]);
  const walk = (points) => points.map((value, j) => [Math.max(1, j * every), value]);
  const tip = (i) => `Key ${i}: the sum of the first ${width} products is ${fixed(scores[i])}`;
  const drawn = plot("walks", look, ({ at, graph }) => [
    ...[1, -1].map((sign) => graph(`root${sign}`, "/text 2 dashed", roots(sign))),
    ...paths.map((points, i) => graph(`walk${i}`, "/muted 1.4", walk(points))),
    line("cursor", [...at(width, -range), ...at(width, range)], "/primary 2"),
    ...scores.map((value, i) =>
      circle(`now${i}`, at(width, value), 0.33, "text/background 1", { tip: tip(i) }),
    ),
  ]);
  const title = "one query, eight keys: q·k as features are added";
  return column(text("head", title, "bold"), drawn, text("root/name", `dashed: ±√d, here ±${fixed(root)}`));
}

/** Scores and weights of one query, and beside them those that are scaled. */
function keys(numbers, { reached, inputs }) {
  const [two, tempered] = [reached("scaled"), reached("temperature")];
  const weight = { head: "weight", digits: 3, bar: two ? 4.5 : 8, most: 1, term: "weight" };
  const of = (kind, head) => [
    { head, values: numbers[`${kind}scores`], bar: two ? 0 : 9 },
    { ...weight, values: numbers[`${kind}weights`] },
  ];
  const scaled = of("scaled_", "q·k / √d");
  const columns = tempered
    ? [...scaled, ...of("tempered_", `over T = ${fixed(Number(inputs.temperature))}`)]
    : [...of("", "q·k"), ...(two ? scaled : [])];
  return list(
    "key",
    numbers.scores.map((_, i) => `k_{${i}}`),
    columns,
    { about: "One query with 8 keys", term: "key", tall: 1.65 },
  );
}

/** The slope of a weight against the weight, and where the eight keys are on it. */
function slopes(numbers, { reached }) {
  const [two, tempered] = [reached("scaled"), reached("temperature")];
  const kinds = tempered ? ["scaled_", "tempered_"] : two ? ["", "scaled_"] : [""];
  const [ticks, names] = [{ x: [0, 1], y: [0.25] }, ["weight α", "slope α (1 − α)"]];
  const look = { x: [0, 1], y: [0, 0.25], ticks, names, wide: 17, high: 5.5 };
  const curve = Array.from({ length: 41 }, (_, i) => [i / 40, (i / 40) * (1 - i / 40)]);
  const dots = (kind, hollow, at) =>
    numbers[`${kind}weights`].map((share, i) => {
      const slope = numbers[`${kind}slopes`][i];
      const tip = `Key ${i}: ${fixed(share, 4)} · (1 − ${fixed(share, 4)}) = ${fixed(slope, 4)}`;
      return circle(`slope${kind}${i}`, at(share, slope), 0.36, hollow ? "background/weight 1.6" : "weight", {
        tip,
      });
    });
  const drawn = plot("slope", look, ({ at, graph }) => [
    graph("slope/curve", "/muted 2", curve),
    ...kinds.flatMap((kind, i) => dots(kind, two && i === 0, at)),
  ]);
  const labels = tempered ? ["○ T = 1", "● with T"] : ["○ without √d", "● with √d"];
  const facts = (title, values) => {
    const rows = two ? ["", ...values] : values;
    return list(
      title,
      two ? [title, ...labels] : [title],
      [{ values: rows.slice(0, two ? 3 : 1), digits: 3 }],
      { tall: 1.4 },
    );
  };
  const largest = kinds.map((kind) => Math.max(...numbers[`${kind}slopes`]));
  const means = [numbers.mean_slope, numbers.mean_scaled_slope];
  return row(
    drawn,
    column(
      { gap: 0, align: "end" },
      facts("largest slope", largest),
      !tempered && facts("mean of 500 queries", means),
    ),
  );
}

/** Three ways to score the same queries and keys: how far the scores spread, and the weights of one query. */
function others({ width, others: kinds }) {
  const rows = kinds.map(({ name, deviation, scores, weights }, i) => {
    const to = Math.min(9, 0.35 * deviation);
    const arrows = ({ at }) =>
      [-to, to].map((end) => line(`${name}/${end}`, [...at(0, 0.5), ...at(end, 0.5)], "/text 3 arrow"));
    const tip = (j) => `k_${j}: score ${fixed(scores[j])}, weight ${fixed(weights[j], 3)}`;
    const bar = (j) => ({ fill: "weight", term: "weight", tip: tip(j) });
    const labels = i === 2 ? weights.map((_, j) => `k_{${j}}`) : [];
    const title = row(
      text(`${name}/name`, name === "dot" ? "dot product" : name, "bold"),
      text(`${name}/formula`, FORMULAS[i], "muted"),
    );
    const look = { x: [-9, 9], y: [0, 1], ticks: { x: [], y: [] }, wide: 14, high: 2 };
    const said = text(`${name}/deviation`, `standard deviation ${fixed(deviation)}`);
    const shares = bars(`${name}/weight`, weights, { labels, bar, most: 1, wide: 15, high: 5 });
    return [column({ gap: 0.2 }, title, plot(`${name}/spread`, look, arrows), said), shares];
  });
  const heads = [
    text("head", `unscaled scores, d = ${width}`, "bold"),
    text("head/weights", "weights of the eight keys", "weight bold"),
  ];
  return grid(0.8, [heads, ...rows]);
}

/** One score in float16, on a logarithmic line with the largest number of the format. */
function halves({ width, size, half_product, late, early, exact, largest_half }) {
  const names = [
    "q·k, float16",
    "(q·k) / √d, divided afterwards, float16",
    "(q / ∜d)·(k / ∜d), divided before, float16",
    "the score itself, computed exactly",
  ];
  const ticks = { x: [0, 2, 4, 6, 8].map((power) => [10 ** power, power ? `10^{${power}}` : "1"]), y: [] };
  const look = { x: [0.1, 1e8], y: [-0.5, 4], log: ["x"], ticks, wide: 34, high: 21 };
  const drawn = plot("half", look, ({ x, y, at }) => [
    rect("beyond", [...at(largest_half, 4), x(1e8) - x(largest_half), y(-0.5) - y(4)], "surface"),
    line("wall", [...at(largest_half, 4), ...at(largest_half, -0.5)], "/text 3"),
    say("wall/name", [x(largest_half) - 0.4, y(4) + 0.5], "largest float16: 65,504", "bold end"),
    ...[half_product, late, early, exact].flatMap((value, i) => {
      const [left, down] = at(0.1, 3 - i);
      const end = x(Math.min(1e8, Math.max(0.1, value ?? 1e8)));
      const name = say(`half${i}/name`, [left, down - 1.5], names[i], "start");
      if (value === null)
        return [
          name,
          line(`half${i}/line`, [left, down, end, down], "/muted 2 arrow"),
          say(`half${i}/value`, [x(3e7), down - 1.2], "∞", "bold", { size: 1.6 }),
        ];
      const number = say(`half${i}/value`, [Math.min(end, x(3e7)), down + 1.2], long(value), "bold");
      return [
        name,
        line(`half${i}/line`, [left, down, end, down], "/muted 2"),
        circle(`half${i}`, [end, down], 0.45, "text"),
        number,
      ];
    }),
  ]);
  return column(text("head", `q and k: ${width} numbers each, all ${fixed(size, 1)}`, "bold"), drawn);
}
