// Scale and softmax: dot products spread as the width grows, and the softmax saturates.

import { plot } from "../../web/scene/plot.js";
import { circle, fixed, line } from "../../web/scene/marks.js";
import { column, lines, row, text } from "../../web/scene/layout.js";
import { list } from "../../web/scene/list.js";

const WIDEST = 512;

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const { reached } = moment;
  if (reached("softmax"))
    return column({ gap: 1.2 }, keys(numbers, moment), reached("slope") && slopes(numbers, moment));
  return reached("walk") ? walks(numbers) : spread(numbers);
}

/** The distribution of q·k. */
function spread({ width, root, variance, deviation, histogram }) {
  const half = histogram.length / 2;
  const shape = histogram.flatMap((share, i) => [i - half, i + 1 - half].map((x) => [x, share]));
  const look = { x: [-half, half], y: [-0.1, 1], ticks: { y: [] }, wide: 34, high: 17 };
  const drawn = plot("histogram", look, ({ at, graph }) => {
    const arrow = (side) => {
      const end = at(side * Math.min(half, deviation), -0.06);
      return line(`deviation${side}`, [...at(0, -0.06), ...end], "/text 3 arrow");
    };
    const points = [[-half, 0], ...shape, [half, 0]];
    return [graph("shares", "muted", points, { opacity: 0.45 }), arrow(-1), arrow(1)];
  });
  const said = [
    `standard deviation ${fixed(deviation)}: about √d = ${fixed(root)}`,
    `variance ${fixed(variance)}: about d = ${width}`,
  ];
  const head = `4,000 dot products q·k of random vectors, d = ${width}`;
  return column(text("head", head, "bold"), drawn, lines("spread", said));
}

/** Eight dot products as features are added, one product at a time. */
function walks({ width, root, scores, walks: paths }) {
  const range = Math.max(40, 10 * Math.ceil(Math.max(...paths.flat().map(Math.abs)) / 10));
  const every = WIDEST / (paths[0].length - 1);
  const [x, ticks] = [[1, WIDEST], { x: [1, WIDEST] }];
  const look = { x, y: [-range, range], ticks, names: ["features", ""], wide: 32, high: 20 };
  const roots = (sign) =>
    Array.from({ length: 129 }, (_, i) => [Math.max(1, 4 * i), sign * Math.sqrt(4 * i)]);
  const walk = (points) => points.map((value, j) => [Math.max(1, j * every), value]);
  const drawn = plot("walks", look, ({ at, graph }) => {
    const dot = (value, i) => {
      const tip = `Key ${i}: the sum of the first ${width} products is ${fixed(value)}`;
      return circle(`now${i}`, at(width, value), 0.33, "text/background 1", { tip });
    };
    return [
      ...[1, -1].map((sign) => graph(`root${sign}`, "/text 2 dashed", roots(sign))),
      ...paths.map((points, i) => graph(`walk${i}`, "/muted 1.4", walk(points))),
      line("cursor", [...at(width, -range), ...at(width, range)], "/primary 2"),
      ...scores.map(dot),
    ];
  });
  const title = "one query, eight keys: q·k as features are added";
  return column(text("head", title, "bold"), drawn, text("root/name", `dashed: ±√d, here ±${fixed(root)}`));
}

/** The kinds of scores that a step compares, by the beginnings of their names. */
const kindsOf = (reached) =>
  reached("temperature") ? ["scaled_", "tempered_"] : reached("scaled") ? ["", "scaled_"] : [""];

/** Scores and weights of one query, and beside them those that are scaled. */
function keys(numbers, { reached, inputs }) {
  const kinds = kindsOf(reached);
  const two = kinds.length > 1;
  const heads = {
    "": "q·k",
    scaled_: "q·k / √d",
    tempered_: `over T = ${fixed(Number(inputs.temperature))}`,
  };
  const weight = { head: "weight", digits: 3, bar: two ? 4.5 : 8, most: 1, term: "weight" };
  const columns = kinds.flatMap((kind) => [
    { head: heads[kind], values: numbers[`${kind}scores`], bar: two ? 0 : 9 },
    { ...weight, values: numbers[`${kind}weights`] },
  ]);
  const names = numbers.scores.map((_, i) => `k_{${i}}`);
  return list("key", names, columns, { about: "One query with 8 keys", term: "key", tall: 1.65 });
}

/** The slope of a weight against the weight, and where the eight keys are on it. */
function slopes(numbers, { reached }) {
  const [kinds, tempered] = [kindsOf(reached), reached("temperature")];
  const two = kinds.length > 1;
  const [ticks, names] = [{ x: [0, 1], y: [0.25] }, ["weight α", "slope α (1 − α)"]];
  const look = { x: [0, 1], y: [0, 0.25], ticks, names, wide: 17, high: 5.5 };
  const curve = Array.from({ length: 41 }, (_, i) => [i / 40, (i / 40) * (1 - i / 40)]);
  const dots = (kind, n, at) =>
    numbers[`${kind}weights`].map((share, i) => {
      const slope = numbers[`${kind}slopes`][i];
      const tip = `Key ${i}: ${fixed(share, 4)} · (1 − ${fixed(share, 4)}) = ${fixed(slope, 4)}`;
      const look_ = two && n === 0 ? "background/weight 1.6" : "weight";
      return circle(`slope${kind}${i}`, at(share, slope), 0.36, look_, { tip });
    });
  const drawn = plot("slope", look, ({ at, graph }) => [
    graph("slope/curve", "/muted 2", curve),
    ...kinds.flatMap((kind, n) => dots(kind, n, at)),
  ]);
  const labels = tempered ? ["○ T = 1", "● with T"] : ["○ without √d", "● with √d"];
  const facts = (title, values) =>
    two
      ? list(title, [title, ...labels], [{ values: ["", ...values], digits: 3 }], { tall: 1.4 })
      : list(title, [title], [{ values: values.slice(0, 1), digits: 3 }], { tall: 1.4 });
  const largest = kinds.map((kind) => Math.max(...numbers[`${kind}slopes`]));
  const means = !tempered && facts("mean of 500 queries", [numbers.mean_slope, numbers.mean_scaled_slope]);
  return row(drawn, column({ gap: 0, align: "end" }, facts("largest slope", largest), means));
}
