// The way from the first token to the last: through every state, through layers of windows, or at once.

import { bars, plot } from "../../web/scene/plot.js";
import { arc, column, row, text, wire, wired } from "../../web/scene/layout.js";
import { circle, line, weightOf } from "../../web/scene/marks.js";
import { fixed, grouped, percent, power } from "../../web/scene/numbers.js";
import { list } from "../../web/scene/list.js";
import { tokens } from "../../web/scene/tokens.js";

/** @import {Figure} from "../../web/types" */

const KINDS = ["recurrence", "convolution", "attention"];
const FORMULAS = ["n · d^{2}", "k · n · d^{2}", "n^{2} · d"];
const WORDS = "Keys near the old cabinet that stood in the dark back hall".split(" "); // more have no room
const LEAST = 0.01; // smaller ratios are written as powers of ten

/** @type {Figure} */
export const figure = {
  picture(numbers, { step }) {
    const draw = { sentence, cost: costs, influence, recurrence, convolution, attention }[step] ?? influence;
    return draw(numbers);
  },
};

/** A sentence with arrows from one word to the words that it looks at, and the first of these. */
function sentence({ reads: { words, weights, at } }) {
  const look = (i) => ({ width: 0.8 + 12 * weights[i], opacity: 0.3 + 0.7 * weights[i] });
  const arcs = words.flatMap((_, i) =>
    weights[i] < LEAST || i === at ? [] : [arc(`look${i}`, `w${at}`, `w${i}`, "/weight", look(i))],
  );
  const first = range(words.length)
    .sort((a, b) => weights[b] - weights[a])
    .slice(0, 5);
  const shares = {
    values: first.map((i) => weights[i]),
    said: (n) => percent(weights[first[n]]),
    ...{ bar: 14, most: 1, term: "weight" },
  };
  return column(
    { gap: 2 },
    wired(
      column(
        { gap: 7 },
        text("title", `“${words[at]}” looks at`, "bold"),
        tokens("w", words, { chosen: at }),
      ),
      ...arcs,
    ),
    list(
      "first",
      first.map((i) => words[i]),
      [shares],
      { about: "Weights" },
    ),
  );
}

/** A positive number, in powers of ten where it is small. */
const short = (value) => (value >= LEAST || value === 0 ? fixed(value, 3) : power(value, 1));

const range = (count) => Array.from({ length: count }, (_, i) => i);

/** How many hops there are, what is above the tokens, and the tokens. */
function above(n, count, unit, name, drawn, note) {
  const cell = 36 / n - 0.3;
  const isEnd = (i) => i === 0 || i === n - 1;
  const read = tokens("t", range(n).map(String), {
    cell,
    words: (i) => (isEnd(i) ? "surface/primary 2.5" : "surface/muted 1"),
  });
  const letters = (i) => ({ size: 0.8, fill: isEnd(i) ? "text" : "muted" });
  const words =
    n <= WORDS.length && tokens("word", WORDS.slice(0, n), { cell, words: () => "none", letters });
  const title = text("title", `${count} ${unit}${count === 1 ? "" : "s"}`, "bold primary", { size: 1.6 });
  const figures = column({ gap: drawn.h > 3 ? 0.4 : 6 }, drawn, column({ gap: 0 }, read, words));
  return column(
    title,
    text("title/name", name, "muted"),
    note && text("state/name", note, "muted small"),
    figures,
  );
}

/** States or outputs above the tokens. */
const states = (n, more) =>
  tokens(
    "state",
    range(n).map(() => ""),
    {
      cell: 36 / n - 0.3,
      words: (i) => (i === n - 1 ? "background/primary 2.5" : "background/muted 1"),
      more,
    },
  );

function recurrence({ tokens: n, count, hops, kept }) {
  const tip = (t) => `After token ${t}, the first token counts ${short(kept[t])} times as much as at first`;
  const more = (t) => ({ fill: weightOf(kept[t]), tip: tip(t) });
  const part = above(
    n,
    count.recurrence,
    "hop",
    `recurrence: from state to state, 0 to ${n - 1}`,
    states(n, more),
    "states h: a stronger colour keeps more of the first token",
  );
  const ins = range(n).map((i) =>
    wire(`in${i}`, `t${i}`, `state${i}`, i ? "/line arrow" : "/primary 2.5 arrow"),
  );
  const path = hops.recurrence;
  const steps = path.slice(1).map((to, i) => arc(`hop${i}`, `state${path[i]}`, `state${to}`, "/primary 2"));
  return wired(part, ...ins, ...steps);
}

function attention({ tokens: n, count }) {
  const part = above(n, count.attention, "hop", `attention: 0 to ${n - 1}`, states(n), "outputs");
  const links = range(n).map((i) =>
    wire(`hop${i}`, `t${i}`, `state${n - 1}`, i ? "/muted 1" : "/primary 3 runs"),
  );
  return wired(part, ...links.reverse());
}

function convolution({ tokens: n, kernel, count, hops, seen }) {
  const layers = count.convolution;
  const path = hops.convolution;
  const half = kernel >> 1;
  const look = {
    x: [0, n],
    y: [0, layers + 0.2],
    ticks: { x: [], y: [] },
    wide: 35.7,
    high: Math.min(13, 4 * layers),
  };
  const drawn = plot("layers", look, ({ at }) => {
    const place = (i, layer) => at(i + 0.5, layer);
    const fans = path.slice(1).flatMap((to, i) => {
      const from = range(n).filter((each) => Math.abs(each - to) <= half && each !== path[i]);
      const fan = from.map((each) =>
        line(`fan${i}.${each}`, [...place(each, i), ...place(to, i + 1)], "/line 1"),
      );
      return [
        ...fan,
        line(`hop${i}`, [...place(path[i], i), ...place(to, i + 1)], "/primary 3", { flow: true }),
      ];
    });
    const dots = range(layers).flatMap((layer) =>
      range(n).map((i) => {
        const counts = layer + 1 === layers ? i === n - 1 : seen[layer + 1][i];
        const words = path[layer + 1] === i ? "primary/primary" : counts ? "muted/muted" : "background/line";
        return circle(`dot${layer}.${i}`, place(i, layer + 1), Math.min(0.6, 4 / layers, 9 / n), words);
      }),
    );
    return [...fans, ...dots];
  });
  return above(n, layers, "layer", `convolution, window of ${kernel}: 0 to ${n - 1}`, drawn);
}

function costs({ tokens: n, kernel, width, count, costs: work }) {
  const works = {
    values: KINDS.map((kind) => work[kind].work),
    said: (i) => grouped(work[KINDS[i]].work),
    bar: 9,
  };
  const steps = { values: KINDS.map((kind) => `${work[kind].steps} in sequence · path ${count[kind]}`) };
  return column(
    { gap: 1.6 },
    text("cost/title", `One layer: n = ${n}, d = ${width}, k = ${kernel}`, "bold large"),
    list("cost", KINDS, [{ values: FORMULAS }, works, steps], { about: "Hops and costs", tall: 3.4 }),
    text("cost/unit", "operations, up to a constant factor", "muted"),
  );
}

function influence({ tokens: n, influence: of }) {
  const kinds = ["recurrence", "attention"].map((kind) => {
    const { sizes, ratio } = of[kind];
    const bar = (i) => ({ fill: i ? "muted" : "primary", tip: `${kind}, token ${i}: ${short(sizes[i])}` });
    const name = row(
      text(`${kind}/name`, kind, "bold"),
      text(`${kind}/ratio`, `first token : last token = ${short(ratio)}`),
    );
    return column(
      { gap: 0.2 },
      name,
      bars(`${kind}/bar`, sizes, { labels: range(n).map(String), bar, wide: 34, high: 7 }),
    );
  });
  return column({ gap: 1.2 }, ...kinds);
}
