// Scale and softmax: dot products spread as the width grows, and the softmax saturates.

import { plot } from "../../web/scene/plot.js";
import { circle, fixed } from "../../web/scene/marks.js";
import { column, row } from "../../web/scene/layout.js";
import { list } from "../../web/scene/list.js";

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const below = moment.reached("slope") && slopes(numbers, moment);
  return column({ gap: 1.2 }, keys(numbers, moment), below);
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
  const labels = tempered ? ["○ T = 1", "● with T"] : [two ? "○ without √d" : "without √d", "● with √d"];
  const largest = kinds.map((kind) => Math.max(...numbers[`${kind}slopes`]));
  const mean = { head: "mean of 500", values: [numbers.mean_slope, numbers.mean_scaled_slope], digits: 3 };
  const columns = [{ head: "largest slope", values: largest, digits: 3 }, !tempered && mean];
  return row(drawn, list("facts", labels.slice(0, kinds.length), columns));
}
