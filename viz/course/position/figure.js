// Positions as clock hands: each pair of features is a hand, and each turns at its own speed.

import { bracketed, circle, fixed, line, typed } from "../../web/scene/marks.js";
import { column, free, lines, row, text, wire, wired } from "../../web/scene/layout.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { plot } from "../../web/scene/plot.js";

const CELLS = { kind: "signed", most: 1, digits: -1 };
const PAIR = 3.9; // width of a hand's two features

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const draw = { order, add: sums, distance, rotary, length };
  return (draw[moment.step] ?? table)(numbers, moment);
}

/** Three words in two orders, after one self-attention. */
function order({ order: { words, turned, before, after, moved } }) {
  const vector = (key, word, values) => {
    const tip = (value, _, j) => `${word}, feature ${j}: ${fixed(value, 4)}`;
    return matrix(`${key}/${word}`, [values], { ...CELLS, cell: 1.7, tip });
  };
  const side = (key, names, values, isMoved) =>
    names.map((word) => {
      const i = words.indexOf(word);
      const look = moved[i] > 1e-4 ? "bold primary" : "muted";
      const far = isMoved && text(`m${word}`, `moved by ${fixed(moved[i])}`, look);
      return column(text(`${key}${word}`, word, "bold large"), vector(key, word, values[i]), far);
    });
  const wires = words.map((word) => wire(`l${word}`, `a/${word}/0.3`, `b${word}`, "/muted 2"));
  const rows = [row(...side("a", words, before, false)), row(...side("b", turned, after, true))];
  const said = "each word after one self-attention: the first six of its 16 features";
  return column({ gap: 2 }, wired(column({ gap: 5 }, ...rows), ...wires), text("order/note", said, "muted"));
}

const note = (position) => text("clock/note", `position ${position}`, "bold");

/** The row of a position, as hands and in the table. */
function table({ table: values, position, rates, row: here }, { step }) {
  const hands = handsOf("h", here);
  const look = {
    ...{ ...CELLS, about: "The table", cell: PAIR / 2, tall: 0.95, lit: (p) => p === position },
    rows: values.map((_, p) => (p % 5 === 0 || p === position ? String(p) : "")),
    tip: (value, p, i) => `P at position ${p}, feature ${i}: ${fixed(value, 4)}`,
    more: (p) => ({ opacity: p === position ? 1 : 0.55 }),
  };
  if (step !== "hand") {
    const above = [clocks(rates, [hands]), row(note(position))];
    return column({ align: "end", gap: 0.4 }, ...above, matrix("t", values, look));
  }
  const pairs = values.map((each) => each.slice(0, 2));
  const said = [`sine = across = ${fixed(here[0], 3)}`, `cosine = up = ${fixed(here[1], 3)}`];
  const first = clocks(rates.slice(0, 1), [hands], 8);
  const left = column(note(position), matrix("t", pairs, look));
  return row({ gap: 4 }, left, column(first, lines("hand", said)));
}

/** Words of four features: their embeddings, the rows of their positions with two hands each, and the sums. */
function sums({ small: { tokens, first, rates, embeddings, positions, sums: added } }, { inputs }) {
  const words = tokens.map((word, t) => {
    const at = first + t;
    const feature = (i) => `${word}, feature ${i} of the embedding`;
    const [x, p, z] = [embeddings[t], positions[t], added[t]];
    const cells = (key, values, look) =>
      matrix(`${key}${t}`, [values], { kind: "signed", most: 1, cell: 2.5, tall: 2.1, ...look });
    const hands = handsOf(`h${t}.`, p).map((hand, j) =>
      clock(`${t}.${j}`, 1.7, [hand], `This hand turns by ${String(rates[j])} radians for each position`),
    );
    const turned = (i) => `${i % 2 ? "cos" : "sin"}(${at} · ${String(rates[i >> 1])}) = ${fixed(p[i], 4)}`;
    const of = (_, i) => [`x${t}/0.${i}`, `p${t}/0.${i}`];
    const sum = (i) => `${bracketed(fixed(x[i]))} + ${bracketed(fixed(p[i], 4))} = ${fixed(z[i], 4)}`;
    return column(
      { gap: 0.5 },
      text(`word${t}`, word, "bold large"),
      text(`x${t}/name`, "embedding", "muted"),
      cells("x", x, {
        about: word,
        edit: (_, i) => typed(inputs, "embeddings", 4 * t + i, feature(i), x[i]),
        tip: (value, _, i) => `${feature(i)}: ${fixed(value)}`,
      }),
      text(`plus${t}`, "+", "bold large muted"),
      row({ gap: 1 }, ...hands),
      text(`p${t}/name`, `position ${at}`, "bold"),
      cells("p", p, { about: `position ${at}`, tip: (_, __, i) => turned(i) }),
      text(`equals${t}`, "=", "bold large muted"),
      cells("z", z, { about: "sum", tip: (_, __, i) => sum(i), of }),
      text(`z${t}/name`, "what the network reads", "muted"),
    );
  });
  return row(...words);
}

/** Two positions, and the dot product of their rows by offset. */
function distance({ position, other, dots, dot, moved_dot: moved, rates, row: here, other_row: there }) {
  const hands = [handsOf("o", there, "primary"), handsOf("h", here)];
  const curve = [...dots.slice(1).reverse(), ...dots];
  return column(
    clocks(rates, hands),
    row(note(position), text("clock/other", `other position ${other}`, "bold primary")),
    readout("dot product", dot, moved, position, other),
    offsets(curve, other - position, [0, 8], "dot product by offset, other − position"),
  );
}

/** What each scheme has at a position. */
function length({ rates, far, far_row: away }) {
  const has = ["computed at any position", "512 rows: positions 0 to 511"];
  const now = [`${far}: computed`, `${far}: there is ${far < 512 ? "a" : "no"} row`];
  const more = (i) => (i && far >= 512 ? { bold: true, fill: "primary" } : {});
  const tip = (value, _, i) => `feature ${i}: ${fixed(value, 4)}`;
  const cells = { ...CELLS, cell: PAIR / 2, tall: 1.8, about: `Position ${far}`, tip };
  const names = ["Sinusoidal, rotary, ALiBi", "MiniLM's learned table"];
  const schemes = list("scheme", names, [{ values: has }, { values: now, more }], { tall: 2.6 });
  const both = column({ gap: 1.4 }, matrix("far", [away], cells), schemes);
  return column({ gap: 1.4 }, clocks(rates, [handsOf("h", away)]), note(far), both);
}

/** A number at two positions, and five positions later. */
function readout(about, value, moved, first, second) {
  const names = [`${about} at ${first} and ${second}`, `five later: ${first + 5} and ${second + 5}`];
  return list("readout", names, [{ values: [value, moved], digits: 3 }], { about });
}

/** A number for each offset from −19 to 19. */
function offsets(values, offset, y, name) {
  return plot("plot", { x: [-19, 19], y, names: [name, ""], wide: 32, high: 9 }, ({ at }) => {
    const dot = (value, i) => {
      const [size, colour] = i - 19 === offset ? [0.45, "primary"] : [0.23, "muted"];
      const tip = `offset ${fixed(i - 19, 0)}: ${fixed(value, 3)}`;
      return circle(`plot${i}`, at(i - 19, value), size, colour, { tip });
    };
    return [line("plot/zero", [...at(-19, 0), ...at(19, 0)], "/muted 1"), ...values.map(dot)];
  });
}

function rotary({ rotary: { q, k, rates, score, moved_score: moved, scores }, position, other }) {
  const scale = 2.9 / Math.max(...[...q, ...k].map(([x, y]) => Math.hypot(x, y)));
  const pairs = rates.map((rate, j) => {
    const arrow = (x, y, term, [a, b], at) => {
      const tip = `pair ${j} of the ${term}, turned by ${fixed(at * rate, 3)}: (${fixed(a)}, ${fixed(b)})`;
      return line(`r${j}/${term}`, [x, y, x + scale * a, y - scale * b], `/${term} 3 arrow`, { tip });
    };
    const drawn = free(6, 6, (x, y) => [
      circle(`r${j}`, [x + 3, y + 3], 3, "surface/line"),
      arrow(x + 3, y + 3, "query", q[j], position),
      arrow(x + 3, y + 3, "key", k[j], other),
    ]);
    return column({ gap: 0.2 }, drawn, text(`r${j}/name`, `${String(rate)} per position`, "muted small"));
  });
  const most = Math.ceil(Math.max(...scores.map(Math.abs)));
  return column(
    row({ gap: 2.4 }, ...pairs),
    row(text("turned/query", "→ query, turned", "query"), text("turned/key", "→ key, turned", "key")),
    readout("q·k", score, moved, position, other),
    offsets(scores, other - position, [-most, most], "q·k by offset, key − query"),
  );
}

/** A clock with its hands. */
const clock = (key, radius, hands, tip) =>
  free(2 * radius + 0.6, 2 * radius + 0.6, (left, top) => {
    const [x, y] = [left + radius + 0.3, top + radius + 0.3];
    const hand = ({ key: name, pair, colour = "text" }) =>
      line(name, [x, y, x + radius * pair[0], y - radius * pair[1]], `/${colour} 3`);
    return [circle(`c${key}`, [x, y], radius, "surface/line 1.5", { tip }), ...hands.map(hand)];
  });

/** A hand for each pair of features of a position. */
const handsOf = (key, values, colour) =>
  values
    .filter((_, i) => i % 2 === 0)
    .map((_, j) => ({ key: `${key}${j}`, pair: values.slice(2 * j, 2 * j + 2), colour }));

/** A clock for each pair of features, with the hands of one or two positions. */
function clocks(rates, positions, radius = 1.6) {
  const one = (rate, j) => {
    const hands = positions.map((each) => each[j]);
    const [sine, cosine] = hands[hands.length - 1].pair;
    const tip = `pair ${j}: the hand turns by ${fixed(rate, 4)} for each position; sin ${fixed(sine, 4)}, cos ${fixed(cosine, 4)}`;
    return column({ gap: 0 }, text(`c${j}/name`, String(j), "muted small"), clock(j, radius, hands, tip));
  };
  return row({ gap: PAIR - 2 * radius - 0.6 }, ...rates.map(one));
}
