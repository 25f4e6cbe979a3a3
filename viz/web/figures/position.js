// Positions as clock hands: each pair of features is a hand, each hand turns at its own speed.

import { choice, field, slider } from "../scene/controls.js";
import { bracketed, fixed, list as listed, typed } from "../scene/numbers.js";
import { column, free, lines, row, text, wire, wired } from "../scene/layout.js";
import { circle, line } from "../scene/marks.js";
import { list } from "../scene/list.js";
import { matrix } from "../scene/matrix.js";
import { plot } from "../scene/plot.js";

/** @import {Figure} from "../types" */

const LAST_FIRST = 17; // position of the first of three words, at most
const PAIR = 3.9; // width of a hand's two features

/** @type {Figure} */
export const figure = {
  controls: ({ step, reached, board }) => [
    step === "speeds" && field("sentence", "Text", 80),
    step === "order" && choice("added", "Positions", { no: "none", yes: "added" }),
    step === "order" && choice("mask", "Mask", ["none", "causal"]),
    step === "add" && slider("first", "Position of the first word", [0, LAST_FIRST, 1]),
    !board &&
      step !== "order" &&
      step !== "add" &&
      step !== "length" &&
      slider("position", "Position", [0, 19, 1]),
    !board && reached("distance") && !reached("alibi") && slider("other", "Other position", [0, 19, 1]),
    step === "length" && slider("far", "Position", [0, 5000, 1]),
  ],

  picture(numbers, moment) {
    const { position, other, dots, dot, moved_dot: moved, rates, row: hands, far, far_row: away } = numbers;
    if (moment.step === "order") return order(numbers);
    if (moment.step === "add") return sums(numbers, moment);
    if (moment.step === "rotary") return rotary(numbers);
    if (moment.step === "alibi") return alibi(numbers);
    if (moment.step === "length")
      return column(
        { gap: 1.4 },
        clocks(rates, [{ key: "h", row: away }]),
        text("clock/note", `position ${far}`, "bold"),
        schemes(away, far),
      );
    const first = { key: "h", row: hands, input: "position", at: position };
    if (moment.step !== "distance") return table(numbers, moment, first);
    const second = { key: "o", row: numbers.other_row, input: "other", at: other, colour: "primary" };
    const curve = [...dots.slice(1).reverse(), ...dots];
    return column(
      clocks(rates, [second, first]),
      row(
        text("clock/note", `position ${position}`, "bold"),
        text("clock/other", `other position ${other}`, "bold primary"),
      ),
      readout("dot product", dot, moved, position, other),
      offsets(curve, other - position, [0, 8], "dot product by offset, other − position"),
    );
  },

  describe(numbers, { step }) {
    const { order: words, position, other, row: hands, dot, moved_dot: moved, rotary: turned } = numbers;
    const { alibi: heads, far, far_row: away, small } = numbers;
    if (step === "order")
      return `Self-attention on “${words.words.join(" ")}” and on “${words.turned.join(" ")}”: ${words.words.map((word, i) => `${word} moves by ${fixed(words.moved[i])}`).join(", ")}.`;
    if (step === "add")
      return `Embeddings of ${small.tokens.map((word, i) => `${word}: ${listed(small.embeddings[i])}, plus position ${small.first + i}: ${listed(small.positions[i])}, is ${listed(small.sums[i])}`).join("; ")}.`;
    if (step === "distance")
      return `The dot product of positions ${position} and ${other} is ${fixed(dot)}; five positions later it is ${fixed(moved)}.`;
    if (step === "rotary")
      return `A query turned by position ${position} and a key turned by position ${other}: their dot product is ${fixed(turned.score)}; five positions later it is ${fixed(turned.moved_score)}.`;
    if (step === "alibi")
      return `ALiBi for the query at position ${position}, where all scores are equal: the steepest of ${heads.slopes.length} heads gives itself ${fixed(heads.weights[0][position] ?? 0)}, the flattest ${fixed(heads.weights[heads.slopes.length - 1][position] ?? 0)}.`;
    if (step === "length") return `The row of position ${far}: ${listed(away)}.`;
    return `${step === "hand" ? "One clock hand" : "Eight clock hands"} at position ${position}. The row of the table: ${listed(hands)}.`;
  },
};

const CELLS = { kind: "signed", most: 1, digits: -1 };

/** Three words in two orders, after one self-attention. */
function order({ order: { words, turned, before, after, moved } }) {
  const side = (key, names, values) =>
    names.map((word) => {
      const i = words.indexOf(word);
      const cells = matrix(`${key}/${word}`, [values[i]], {
        ...CELLS,
        cell: 1.7,
        tip: (value, _, j) => `${word}, feature ${j}: ${fixed(value, 4)}`,
      });
      const said =
        key === "b" &&
        text(`m${word}`, `moved by ${fixed(moved[i])}`, moved[i] > 1e-4 ? "bold primary" : "muted");
      return column(text(`${key}${word}`, word, "bold large"), cells, said);
    });
  const wires = words.map((word) => wire(`l${word}`, `a/${word}/0.3`, `b${word}`, "/muted 2"));
  const part = column({ gap: 5 }, row(...side("a", words, before)), row(...side("b", turned, after)));
  return column(
    { gap: 2 },
    wired(part, ...wires),
    text("order/note", "each word after one self-attention: the first six of its 16 features", "muted"),
  );
}

/** A clock with its hands; those with an input can be turned. */
function clock(key, radius, hands, tip) {
  return free(2 * radius + 0.6, 2 * radius + 0.6, (left, top) => {
    const [x, y] = [left + radius + 0.3, top + radius + 0.3];
    return [
      circle(`c${key}`, [x, y], radius, "surface/line 1.5", { tip }),
      ...hands.flatMap(({ key: name, pair: [sine, cosine], colour = "text", handle }) => {
        const end = [x + radius * sine, y - radius * cosine];
        const look = `background/${colour} 2`;
        const tipped = handle && { ...handle, move: (px, py) => handle.turn(Math.atan2(px - x, y - py)) };
        return [
          line(name, [x, y, ...end], `/${colour} 3`),
          ...(tipped
            ? [circle(`${name}/tip`, end, Math.max(0.4, 0.09 * radius), look, { handle: tipped })]
            : []),
        ];
      }),
    ];
  });
}

/** The position whose hand stands nearest to an angle; of equals the one nearest to where it was. */
function nearest(angle, rate, now) {
  const apart = (p) => 1 - Math.cos(p * rate - angle) + 1e-3 * Math.abs(p - now) * rate;
  return Array.from({ length: 20 }, (_, p) => p).reduce((best, p) => (apart(p) < apart(best) ? p : best), 0);
}

/** A clock for each pair of features, with the hands of one or two positions. */
function clocks(rates, positions, radius = 1.6) {
  const one = (rate, j) => {
    const hands = positions.map(({ key, row: values, input, at, colour }) => {
      const handle = input && {
        ...{
          label: `${input === "other" ? "Other position" : "Position"}, hand ${j}`,
          value: `position ${at}`,
          now: at,
        },
        turn: (angle) => ({ [input]: nearest(angle, rate, at) }),
        nudge: (dx, dy) => ({ [input]: Math.min(19, Math.max(0, at + (dx || -dy))) }),
      };
      return { key: `${key}${j}`, pair: values.slice(2 * j, 2 * j + 2), colour, handle };
    });
    const [sine, cosine] = positions[positions.length - 1].row.slice(2 * j);
    const tip = `pair ${j}: the hand turns by ${fixed(rate, 4)} for each position; sin ${fixed(sine, 4)}, cos ${fixed(cosine, 4)}`;
    return column({ gap: 0 }, text(`c${j}/name`, String(j), "muted small"), clock(j, radius, hands, tip));
  };
  return row({ gap: PAIR - 2 * radius - 0.6 }, ...rates.map(one));
}

function table({ table: values, position, rates }, { step }, hands) {
  const single = step === "hand";
  const rows = values.map((_, p) => (p % 5 === 0 || p === position ? String(p) : ""));
  const look = {
    ...{ ...CELLS, rows, about: "The table", cell: PAIR / 2, tall: 0.95, lit: (p) => p === position },
    tip: (value, p, i) => `P at position ${p}, feature ${i}: ${fixed(value, 4)}`,
    more: (p) => ({ opacity: p === position ? 1 : 0.55 }),
  };
  const note = text("clock/note", `position ${position}`, "bold");
  if (!single)
    return column({ align: "end", gap: 0.4 }, clocks(rates, [hands]), row(note), matrix("t", values, look));
  const [sine, cosine] = values[position];
  const said = lines("hand", [`sine = across = ${fixed(sine, 3)}`, `cosine = up = ${fixed(cosine, 3)}`]);
  return row(
    { gap: 4 },
    column(
      note,
      matrix(
        "t",
        values.map((each) => each.slice(0, 2)),
        look,
      ),
    ),
    column(clocks(rates.slice(0, 1), [hands], 8), said),
  );
}

/** Words of four features: their embeddings, the rows of their positions with two hands each, and the sums. */
function sums({ small: { tokens, first, rates, embeddings, positions, sums: added } }, { inputs }) {
  const within = (position) => ({ first: Math.min(LAST_FIRST, Math.max(0, position)) });
  const cells = (key, values, look) =>
    matrix(key, [values], { kind: "signed", most: 1, cell: 2.5, tall: 2.1, ...look });
  const words = tokens.map((word, t) => {
    const at = first + t;
    const feature = (i) => `${word}, feature ${i} of the embedding`;
    const handle = {
      ...{ label: `Position of ${word}`, value: `position ${at}`, now: at },
      turn: (angle) => within(nearest(angle, rates[0], at) - t),
      nudge: (dx, dy) => within(first + (dx || -dy)),
    };
    const hands = rates.map((rate, j) =>
      clock(
        `${t}.${j}`,
        1.7,
        [{ key: `h${t}.${j}`, pair: positions[t].slice(2 * j, 2 * j + 2), handle: j ? undefined : handle }],
        `This hand turns by ${String(rate)} radians for each position`,
      ),
    );
    const turned = (i) =>
      `${i % 2 ? "cos" : "sin"}(${at} · ${String(rates[i >> 1])}) = ${fixed(positions[t][i], 4)}`;
    const sum = (i) =>
      `${bracketed(fixed(embeddings[t][i]))} + ${bracketed(fixed(positions[t][i], 4))} = ${fixed(added[t][i], 4)}`;
    return column(
      { gap: 0.5 },
      text(`word${t}`, word, "bold large"),
      text(`x${t}/name`, "embedding", "muted"),
      cells(`x${t}`, embeddings[t], {
        about: word,
        edit: (_, i) => typed(inputs, "embeddings", 4 * t + i, feature(i), embeddings[t][i]),
        tip: (value, _, i) => `${feature(i)}: ${fixed(value)}`,
      }),
      text(`plus${t}`, "+", "bold large muted"),
      row({ gap: 1 }, ...hands),
      text(`p${t}/name`, `position ${at}`, "bold"),
      cells(`p${t}`, positions[t], { about: `position ${at}`, tip: (_, __, i) => turned(i) }),
      text(`equals${t}`, "=", "bold large muted"),
      cells(`z${t}`, added[t], {
        about: "sum",
        tip: (_, __, i) => sum(i),
        of: (_, i) => [`x${t}/0.${i}`, `p${t}/0.${i}`],
      }),
      text(`z${t}/name`, "what the network reads", "muted"),
    );
  });
  return row(...words);
}

/** What each scheme has at a position. */
function schemes(values, far) {
  const has = ["computed at any position", "512 rows: positions 0 to 511"];
  const now = [`${far}: computed`, `${far}: there is ${far < 512 ? "a" : "no"} row`];
  const names = ["Sinusoidal, rotary, ALiBi", "MiniLM's learned table"];
  const more = (i) => (i && far >= 512 ? { bold: true, fill: "primary" } : {});
  const look = { ...CELLS, cell: PAIR / 2, tall: 1.8, about: `Position ${far}` };
  const tip = (value, _, i) => `feature ${i}: ${fixed(value, 4)}`;
  const rows = list("scheme", names, [{ values: has }, { values: now, more }], { tall: 2.6 });
  return column({ gap: 1.4 }, matrix("far", [values], { ...look, tip }), rows);
}

const readout = (name, value, moved, first, second) =>
  list(
    "readout",
    [`${name} at ${first} and ${second}`, `five later: ${first + 5} and ${second + 5}`],
    [{ values: [value, moved], digits: 3 }],
    { about: name },
  );

/** A number for each offset from −19 to 19. */
function offsets(values, offset, [low, high], name) {
  const look = { x: [-19, 19], y: [low, high], names: [name, ""], wide: 32, high: 9 };
  const dot = (at) => (value, i) =>
    circle(
      `plot${i}`,
      at(i - 19, value),
      i - 19 === offset ? 0.45 : 0.23,
      i - 19 === offset ? "primary" : "muted",
      { tip: `offset ${fixed(i - 19, 0)}: ${fixed(value, 3)}` },
    );
  return plot("plot", look, ({ at }) => [
    line("plot/zero", [...at(-19, 0), ...at(19, 0)], "/muted 1"),
    ...values.map(dot(at)),
  ]);
}

function rotary({ rotary: { q, k, rates, score, moved_score: moved, scores }, position, other }) {
  const scale = 1 / Math.max(...[...q, ...k].map(([x, y]) => Math.hypot(x, y)));
  const pairs = rates.map((rate, j) => {
    const turned = (term, [a, b], at) => ({
      end: [scale * a, scale * b],
      term,
      tip: `pair ${j} of the ${term}, turned by ${fixed(at * rate, 3)}: (${fixed(a)}, ${fixed(b)})`,
    });
    const both = [turned("query", q[j], position), turned("key", k[j], other)];
    const drawn = free(6, 6, (x, y) => [
      circle(`r${j}`, [x + 3, y + 3], 3, "surface/line"),
      ...both.map(({ end: [a, b], term, tip }) =>
        line(`r${j}/${term}`, [x + 3, y + 3, x + 3 + 2.9 * a, y + 3 - 2.9 * b], `/${term} 3 arrow`, { tip }),
      ),
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

function alibi({ alibi: { slopes, bias, weights }, position }) {
  const cell = 1.55;
  const deepest = Math.max(1, slopes[0] * position);
  const look = {
    x: [-0.5, 19.5],
    y: [-deepest, 0],
    ticks: { x: [], y: [0, [-deepest, fixed(-deepest, 1)]] },
    title: "bias: −slope · distance",
    wide: 20 * cell,
    high: 7,
  };
  const cols = weights[0].map((_, key) => String(key));
  const shares = {
    ...{
      title: "weights, where all scores are equal",
      term: "weight",
      kind: "weights",
      digits: -1,
      cell,
      tall: 1.45,
      rows: slopes.map((slope) => `1/${Math.round(1 / slope)}`),
    },
    tip: (weight, head, key) =>
      weight === null
        ? "masked: after the query"
        : `Head ${head}, distance ${position - key}: bias ${fixed(bias[head][key] ?? 0, 3)}, weight ${fixed(weight, 3)}`,
  };
  const drawn = plot("alibi", look, ({ at }) =>
    slopes.map((slope, head) =>
      line(`line${head}`, [...at(position, 0), ...at(0, -slope * position)], `/head${head} 2.5`, {
        tip: `Head ${head}: slope ${slope}`,
      }),
    ),
  );
  return column(
    { gap: 0.4, align: "end" },
    drawn,
    matrix("w", weights, { ...shares, cols }),
    text("alibi/keys", "position of the key, and the slope of each head", "muted"),
  );
}
