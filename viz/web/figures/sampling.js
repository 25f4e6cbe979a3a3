// Sampling: bars that temperature moves and a line cuts off; then a cache that grows by a column.

import { box, column, lines, overlaid, row, text, wire, wired } from "../scene/layout.js";
import { circle, line, say } from "../scene/marks.js";
import { field, slider } from "../scene/controls.js";
import { fixed, grouped } from "../scene/numbers.js";
import { list } from "../scene/list.js";
import { matrix } from "../scene/matrix.js";
import { plot } from "../scene/plot.js";

/** @import {Figure} from "../types" */

/** @type {Figure} */
export const figure = {
  controls: ({ step }) => [
    step !== "cost" && field("start", "Start of the text", 60),
    (step === "temperature" || step === "cut") &&
      slider("temperature", "Temperature T", [0.1, 5, 0.01], { log: true }),
    step === "cut" && slider("k", "Top-k (0: all)", [0, 10, 1]),
    step === "cut" && slider("p", "Top-p", [0.05, 1, 0.05]),
    step === "cache" && slider("written", "Tokens written", [0, 10, 1], { plays: true }),
  ],

  picture(numbers, moment) {
    if (moment.step === "cost") return costs(numbers);
    return moment.step === "cache" ? cache(numbers) : shares(numbers, moment);
  },

  describe(
    { words, plain, warm, drawn, kept, count, tokens, small, length, times, without, with: cached },
    { step },
  ) {
    if (step === "cost")
      return `After ${length} tokens the next one takes ${grouped(without)} multiplications without a cache and ${grouped(cached)} with one: ${fixed(times, 1)} times fewer.`;
    if (step === "cache")
      return `Keys and values of ${tokens.length - 1} tokens are cached; only “${tokens.at(-1)}” is computed: ${grouped(small.with)} multiplications instead of ${grouped(small.without)}.`;
    const now = step === "cut" ? drawn : step === "temperature" ? warm : plain;
    const left = step === "cut" ? ` ${grouped(kept)} of ${grouped(count)} tokens can be drawn.` : "";
    return `Probabilities of the next word: ${words.map((word, i) => `${word} ${fixed(now[i], 3)}`).join(", ")}.${left}`;
  },
};

/** The likeliest words, and a line that cuts. */
function shares({ words, logits, plain, warm, drawn, others, together, count }, { reached, inputs }) {
  const [warmed, cut] = [reached("temperature"), reached("cut")];
  const rest = `${grouped(count - words.length)} others`;
  const all = {
    plain: [...plain, others.plain],
    warm: [...warm, others.warm],
    drawn: [...drawn, others.drawn],
  };
  const isGone = (i) => cut && all.drawn[i] === 0;
  const values = all.plain.map((share, i) =>
    !warmed ? share : !cut || isGone(i) ? all.warm[i] : all.drawn[i],
  );
  const after = (i) => (cut ? `, ${isGone(i) ? "cut off" : fixed(all.drawn[i], 4)} after the cut` : "");
  const tip = (i) =>
    i === words.length
      ? `${grouped(count - words.length)} words together: ${fixed(values[i], 4)}`
      : `z = ${fixed(logits[i])}: ${fixed(plain[i], 4)} at T = 1, ${fixed(warm[i], 4)} at T = ${fixed(Number(inputs.temperature))}${after(i)}`;
  const more = (i) => (isGone(i) ? { fill: "line" } : {});
  const share = {
    head: cut ? "drawn from" : "probability of the next word",
    values,
    digits: 3,
    bar: 16,
    most: 1,
    term: "output",
    tip,
    more,
  };
  const before = { head: "T = 1", values: all.plain, digits: 3 };
  const sum = { head: "together", values: [...together, ""], digits: 3 };
  const muted = (i) => (i === words.length || isGone(i) ? { fill: "muted" } : {});
  const said = { ...share, said: (i) => (isGone(i) ? "cut off" : fixed(values[i], 3)) };
  const part = list("b", [...words, rest], [said, warmed && before, cut && sum], {
    about: "The next word",
    more: muted,
    tall: 1.9,
  });
  return cut ? overlaid(part, (at) => cutLine(at, Number(inputs.k), words.length, part.w)) : part;
}

/** Where top-k cuts, with a handle. */
function cutLine(at, k, most, width) {
  const [first, second] = [at("b0"), at("b1")];
  const tall = second.y - first.y;
  const rows = k || most + 1;
  const y = first.y + first.h / 2 + (rows - 0.5) * tall;
  const to = (count) => ({ k: count > most ? 0 : Math.max(1, count) });
  const handle = {
    ...{ label: "Top-k: words that are kept", value: k ? `${k} words` : "all words", now: k },
    move: (_, down) => to(Math.round((down - first.y - first.h / 2) / tall + 0.5)),
    nudge: (dx, dy) => to(rows + dx + dy),
  };
  return [
    line("cut", [first.x, y, first.x + width, y], "/primary 2"),
    circle("cut/knob", [first.x, y], 0.6, "background/primary 3", { handle }),
  ];
}

function cache({ tokens, begun, following, keys, values, query, weights, small }) {
  const last = tokens.length - 1;
  const features = query.map((_, i) => i);
  const turned = (each) => features.map((i) => each.map((vector) => vector[i]));
  const tip = (term) => (value, i, j) =>
    `${term} of “${tokens[j]}”, feature ${i}: ${fixed(value, 3)}${j < last ? ", from the cache" : ""}`;
  const look = (term) => ({
    kind: "signed",
    most: 3,
    digits: -1,
    cell: Math.min(2.6, 29 / tokens.length),
    tall: 0.95,
    stroke: term,
    tip: tip(term),
    lit: (_, j) => j === last,
  });
  const named = (term, all, cols) =>
    row(
      { gap: 0.6 },
      text(`${term}/name`, `${term}s`, `${term} bold`),
      matrix(term[0], turned(all), { ...look(term), cols, about: `${term}s` }),
    );
  const asked = row(
    { gap: 0.6 },
    text("query/name", "query", "query bold"),
    matrix(
      "q",
      query.map((each) => [each]),
      { ...look("query"), tip: (value, i) => tip("query")(value, i, last), lit: () => false },
    ),
  );
  const press = following !== null && {
    label: `Write “${following}”`,
    patch: { written: tokens.length - begun + 1 },
  };
  const counts = [
    `without a cache: ${grouped(small.without)} multiplications`,
    `with it: ${grouped(small.with)}`,
  ];
  const part = column(
    { align: "end" },
    row(
      text(
        "cache/title",
        last === 1 ? "1 token cached, 1 computed" : `${last} tokens cached, 1 computed`,
        "bold",
      ),
    ),
    named("key", keys, tokens),
    named("value", values, []),
    column({ gap: 2.4 }, text("space", ""), asked),
    row(
      { gap: 3 },
      lines("small", counts),
      press && box("write", `write “${following}”`, "surface/primary 2", { press }),
    ),
  );
  const share = (i) => ({
    width: 0.6 + 7 * weights[i],
    opacity: 0.25 + 0.7 * weights[i],
    tip: `“${tokens[last]}” gives “${tokens[i]}” ${fixed(weights[i], 3)}`,
  });
  return wired(
    part,
    ...weights.map((_, i) => wire(`w${i}`, "q/0.0", `v/${query.length - 1}.${i}`, "/weight", share(i))),
  );
}

function costs({ curve, length, without, with: cached, times, memory }) {
  const ends = [curve[0].length, curve[curve.length - 1].length];
  const within = (tokens) => ({ length: Math.max(ends[0], Math.min(ends[1], Math.round(tokens))) });
  const powers = [8, 9, 10, 11, 12].map((each) => [10 ** each, `10^{${each}}`]);
  const ticks = {
    x: curve.filter((_, i) => i % 2).map((each) => [each.length, grouped(each.length)]),
    y: powers,
  };
  const look = {
    x: ends,
    y: [1e8, 1e12],
    log: ["x", "y"],
    ticks,
    names: ["tokens so far", ""],
    title: "multiplications for one more token",
    wide: 31,
    high: 14,
  };
  const points = (name) => curve.map((each) => [each.length, each[name]]);
  const drawn = plot(
    "plot",
    look,
    ({ x, at, graph }) => {
      const side = x(length) > 22 ? "end" : "start";
      const handle = {
        ...{ label: "Tokens so far", value: `${length} tokens`, now: length },
        move: (to) =>
          within(ends[0] * (ends[1] / ends[0]) ** ((to - x(ends[0])) / (x(ends[1]) - x(ends[0])))),
        nudge: (dx, dy) => within(length * 2 ** (0.5 * (dx - dy))),
      };
      const said = `${grouped(times, 1)} times`;
      return [
        graph("plot/without", "/muted 3", points("without")),
        graph("plot/with", "/primary 3", points("with")),
        line("plot/at", [...at(length, 1e8), ...at(length, 1e12)], "/text 1.5 dashed"),
        circle("plot/at/without", at(length, without), 0.4, "muted"),
        circle("plot/at/with", at(length, cached), 0.4, "primary"),
        say(
          "plot/times",
          [x(length) + (side === "end" ? -0.7 : 0.7), at(length, Math.sqrt(without * cached))[1]],
          said,
          `bold ${side}`,
        ),
        circle("plot/knob", at(length, 1e12), 0.65, "background/primary 3", { handle }),
      ];
    },
    [
      {
        title: "Multiplications for one more token",
        rows: curve.map((each) => `${each.length} tokens`),
        cols: ["without a cache", "with a cache", "cache in MiB"],
        values: curve.map((each) => [each.without, each.with, each.memory]),
      },
    ],
  );
  const rows = [grouped(without), grouped(cached), `${grouped(memory, 1)} MiB`];
  const more = (i) => ({ fill: ["muted", "primary", "text"][i] });
  return column(
    drawn,
    list("row", ["without a cache", "with a cache", "numbers kept, 16 bits"], [{ values: rows }], {
      more,
      tall: 1.5,
    }),
  );
}
