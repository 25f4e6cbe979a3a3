// Sampling: bars that temperature moves and a line cuts off; then a cache that grows by a column.

import { box, column, lines, overlaid, row, text, wire, wired } from "../../web/scene/layout.js";
import { circle, line, say } from "../../web/scene/marks.js";
import { fixed, grouped, nth } from "../../web/scene/numbers.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { plot } from "../../web/scene/plot.js";

/** @import {Figure} from "../../web/types" */

/** @type {Figure} */
export const figure = {
  picture(numbers, moment) {
    if (moment.step === "cost") return costs(numbers);
    return moment.step === "cache" ? cache(numbers) : shares(numbers, moment);
  },
};

/** The likeliest words, and a line that cuts. */
function shares({ words, logits, plain, warm, drawn, others, together, count }, { reached, inputs }) {
  const [warmed, cut] = [reached("temperature"), reached("cut")];
  const rest = `${grouped(count - words.length)} others`;
  const [before, heated, left] = [
    [...plain, others.plain],
    [...warm, others.warm],
    [...drawn, others.drawn],
  ];
  const isGone = (i) => cut && left[i] === 0;
  const values = !warmed ? before : heated.map((share, i) => (cut && !isGone(i) ? left[i] : share));
  const tip = (i) => {
    if (i === words.length) return `${grouped(count - i)} words together: ${fixed(values[i], 4)}`;
    const after = cut ? `, ${isGone(i) ? "cut off" : fixed(left[i], 4)} after the cut` : "";
    return `z = ${fixed(logits[i])}: ${fixed(plain[i], 4)} at T = 1, ${fixed(warm[i], 4)} at T = ${fixed(Number(inputs.temperature))}${after}`;
  };
  const share = {
    ...{ head: cut ? "drawn from" : "probability of the next word", values, digits: 3, tip },
    ...{ bar: 16, most: 1, term: "output" },
    more: (i) => (isGone(i) ? { fill: "line" } : {}),
    said: (i) => (isGone(i) ? "cut off" : fixed(values[i], 3)),
  };
  const columns = [
    share,
    warmed && { head: "T = 1", values: before, digits: 3 },
    cut && { head: "together", values: [...together, ""], digits: 3 },
  ];
  const more = (i) => (i === words.length || isGone(i) ? { fill: "muted" } : {});
  const part = list("b", [...words, rest], columns, { about: "The next word", more, tall: 1.9 });
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

/** Keys and values of the tokens, a column each; the query of the last one takes its shares of them. */
function cache({ tokens, begun, following, keys, values, query, weights, small }) {
  const last = tokens.length - 1;
  const tip = (term) => (value, i, j) =>
    `${term} of “${tokens[j]}”, feature ${i}: ${fixed(value, 3)}${j < last ? ", from the cache" : ""}`;
  const cells = { kind: "signed", most: 3, digits: -1, cell: Math.min(2.6, 29 / tokens.length), tall: 0.95 };
  const look = (term) => ({ ...cells, stroke: term, tip: tip(term), lit: (_, j) => j === last });
  const name = (term, words = `${term}s`) => text(`${term}/name`, words, `${term} bold`);
  const turned = (vectors) => query.map((_, i) => nth(vectors, i));
  const named = (term, all, cols) => {
    const part = matrix(term[0], turned(all), { ...look(term), cols, about: `${term}s` });
    return row({ gap: 0.6 }, name(term), part);
  };
  const cellsOfQuery = {
    ...look("query"),
    tip: (value, i) => tip("query")(value, i, last),
    lit: () => false,
  };
  const asked = row(
    { gap: 0.6 },
    name("query", "query"),
    matrix(
      "q",
      query.map((each) => [each]),
      cellsOfQuery,
    ),
  );
  const patch = { written: tokens.length - begun + 1 };
  const write = `write “${following}”`;
  const press = { label: `Write “${following}”`, patch };
  const counts = [
    `without a cache: ${grouped(small.without)} multiplications`,
    `with it: ${grouped(small.with)}`,
  ];
  const button = following !== null && box("write", write, "surface/primary 2", { press });
  const title = last === 1 ? "1 token cached, 1 computed" : `${last} tokens cached, 1 computed`;
  const part = column(
    { align: "end" },
    row(text("cache/title", title, "bold")),
    named("key", keys, tokens),
    named("value", values, []),
    column({ gap: 2.4 }, text("space", ""), asked),
    row({ gap: 3 }, lines("small", counts), button),
  );
  const share = (weight, i) => {
    const said = `“${tokens[last]}” gives “${tokens[i]}” ${fixed(weight, 3)}`;
    const wide = { width: 0.6 + 7 * weight, opacity: 0.25 + 0.7 * weight, tip: said };
    return wire(`w${i}`, "q/0.0", `v/${query.length - 1}.${i}`, "/weight", wide);
  };
  return wired(part, ...weights.map(share));
}

/** The price of one more token, with and without a cache. */
function costs({ curve, length, without, with: cached, times, memory }) {
  const [low, high] = [curve[0].length, curve[curve.length - 1].length];
  const within = (count) => ({ length: Math.max(low, Math.min(high, Math.round(count))) });
  const look = {
    ...{ x: [low, high], y: [1e8, 1e12], log: ["x", "y"], wide: 31, high: 14 },
    ticks: {
      x: curve.filter((_, i) => i % 2).map((each) => [each.length, grouped(each.length)]),
      y: [8, 9, 10, 11, 12].map((each) => [10 ** each, `10^{${each}}`]),
    },
    ...{ names: ["tokens so far", ""], title: "multiplications for one more token" },
  };
  const points = (name) => curve.map((each) => [each.length, each[name]]);
  const draw = ({ x, at, graph }) => {
    const [side, away] = x(length) > 22 ? ["end", -0.7] : ["start", 0.7];
    const [, middle] = at(length, Math.sqrt(without * cached));
    const handle = {
      ...{ label: "Tokens so far", value: `${length} tokens`, now: length },
      move: (to) => within(low * (high / low) ** ((to - x(low)) / (x(high) - x(low)))),
      nudge: (dx, dy) => within(length * 2 ** (0.5 * (dx - dy))),
    };
    return [
      graph("plot/without", "/muted 3", points("without")),
      graph("plot/with", "/primary 3", points("with")),
      line("plot/at", [...at(length, 1e8), ...at(length, 1e12)], "/text 1.5 dashed"),
      circle("plot/at/without", at(length, without), 0.4, "muted"),
      circle("plot/at/with", at(length, cached), 0.4, "primary"),
      say("plot/times", [x(length) + away, middle], `${grouped(times, 1)} times`, `bold ${side}`),
      circle("plot/knob", at(length, 1e12), 0.65, "background/primary 3", { handle }),
    ];
  };
  const table = {
    title: "Multiplications for one more token",
    rows: curve.map((each) => `${each.length} tokens`),
    cols: ["without a cache", "with a cache", "cache in MiB"],
    values: curve.map((each) => [each.without, each.with, each.memory]),
  };
  const values = [grouped(without), grouped(cached), `${grouped(memory, 1)} MiB`];
  const more = (i) => ({ fill: ["muted", "primary", "text"][i] });
  const names = ["without a cache", "with a cache", "numbers kept, 16 bits"];
  return column(plot("plot", look, draw, [table]), list("row", names, [{ values }], { more, tall: 1.5 }));
}
