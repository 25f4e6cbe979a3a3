// The head layer: a vector, a logit for each word, probabilities, the loss and where it pushes.

import { choice, field, slider } from "../scene/controls.js";
import { column, row, text } from "../scene/layout.js";
import { circle, cut, line, path, rect, say, signedOf } from "../scene/marks.js";
import { fixed, grouped, list as listed, writtenSum } from "../scene/numbers.js";
import { list } from "../scene/list.js";
import { plot } from "../scene/plot.js";

/** @import {Figure} from "../types" */

const LIMIT = 3; // largest number of h
const MOST = 5; // of −log p
const NETWORKS = { smollm2: "SmolLM2: 49,152 tokens", words: "four words, to drag" };

/** @type {Figure} */
export const figure = {
  controls: ({ step, board, inputs }) => [
    !board && choice("network", "Network", NETWORKS, true),
    !board && inputs.network === "smollm2" && field("text", "Text", 80),
    step === "smooth" && choice("smoothing", "Smoothing", { 0: "none", 0.1: "0.1", 0.3: "0.3" }),
    step === "gradient" && slider("rate", "Step size η", [0, 4, 0.1]),
    step === "temperature" && slider("temperature", "Temperature T", [0.2, 5, 0.01], { log: true }),
  ],

  picture(numbers, moment) {
    const { step, reached } = moment;
    const isModel = numbers.network === "smollm2";
    const alone = !reached("logits");
    const above = isModel ? vector(numbers, alone) : dragged(moment.inputs.h, alone);
    if (alone) return above;
    const isAimed = reached("loss") && step !== "temperature";
    return column(
      { gap: 0.9 },
      above,
      words(numbers, moment, isModel),
      isAimed && loss(numbers, step === "gradient"),
    );
  },

  describe(
    { words: names, h, norm, logits, probabilities, gradient, target, loss: value, moved, sampled },
    { step, reached },
  ) {
    const pairs = (each) => each.map((share, i) => `${names[i]} ${fixed(share, 3)}`).join(", ");
    if (step === "temperature") return `Probabilities at the chosen temperature: ${pairs(sampled)}.`;
    if (step === "gradient")
      return `The gradient for each logit: ${pairs(gradient)}. A step against it changes the loss from ${fixed(value, 3)} to ${fixed(moved.loss, 3)}.`;
    if (step === "loss")
      return `The target ${names[target]} has probability ${fixed(probabilities[target], 3)}; the loss is ${fixed(value, 3)}.`;
    if (reached("probabilities")) return `Probabilities: ${pairs(probabilities)}.`;
    if (reached("logits")) return `Logits: ${pairs(logits)}.`;
    if (h.length > 3) return `The last vector h has ${h.length} numbers and norm ${fixed(norm)}.`;
    return `The last vector h has the numbers ${listed(h)}.`;
  },
};

/** The end of a text. */
const tail = (string, longest) =>
  string.length > longest ? `… ${string.slice(-longest + 2).trimStart()}` : string;

/** The last vector of SmolLM2 as thin bars. */
function vector({ h, norm, text: read }, alone) {
  const most = Math.max(...h.map(Math.abs));
  const look = {
    x: [0, h.length],
    y: [-most, most],
    ticks: {
      x: alone
        ? [
            [0, "feature 0"],
            [h.length, `feature ${h.length - 1}`],
          ]
        : [],
      y: [],
    },
    wide: alone ? 31 : 17,
    high: alone ? 18 : 5,
  };
  const drawn = plot("h", look, ({ x, y }) => {
    const bars = (sign) =>
      h
        .map((value, i) =>
          value * sign > 0 ? `M${x(i + 0.5).toFixed(3)} ${y(0)}V${y(value).toFixed(3)}` : "",
        )
        .join("");
    const ends = alone ? [Math.max(...h), Math.min(...h)].map((value) => h.indexOf(value)) : [];
    return [
      ...[1, -1].map((sign) =>
        path(`h/${sign}`, bars(sign), "", { stroke: signedOf(0.8 * sign), width: 0.8 * (x(1) - x(0)) * 15 }),
      ),
      line("h/zero", [x(0), y(0), x(h.length), y(0)], "/muted 1"),
      ...ends.map((at) =>
        say(
          `h/end${at}`,
          [x(at) + (at > h.length / 2 ? -0.4 : 0.4), y(0.97 * h[at])],
          `feature ${at}: ${fixed(h[at])}`,
          at > h.length / 2 ? "end" : "start",
        ),
      ),
    ];
  });
  const name = alone
    ? text("h/name", `h: ${h.length} numbers, norm ${fixed(norm, 1)}`, "bold")
    : column(
        { gap: 0 },
        text("h/name", "h", "bold large"),
        text("h/norm", `norm ${fixed(norm, 1)}`, "muted"),
      );
  const said = column(
    { gap: 0.2, align: "start" },
    text("read", `“${tail(read, alone ? 48 : 24)} …”`),
    text("read/name", alone ? "after 30 blocks and the last norm:" : "after 30 blocks", "muted"),
  );
  return alone ? column(said, name, drawn) : row({ gap: 0.6 }, name, drawn, said);
}

/** The bars of h, to be dragged. */
function dragged(h, alone) {
  const set = (i, value) => ({
    h: h.with(i, Math.round(10 * Math.min(LIMIT, Math.max(-LIMIT, value))) / 10),
  });
  const look = { x: [0, 3], y: [-LIMIT, LIMIT], ticks: { x: [], y: [] }, wide: 9, high: alone ? 22 : 7 };
  const drawn = plot("h", look, ({ x, y }) =>
    h.flatMap((value, i) => {
      const [middle, end] = [x(i + 0.5), y(value)];
      const handle = {
        ...{ label: `h, feature ${i}`, value: fixed(value), now: value },
        move: (_, down) => set(i, ((y(0) - down) * LIMIT) / (y(0) - y(LIMIT))),
        nudge: (dx, dy) => set(i, value + 0.1 * (dx || -dy)),
      };
      return [
        line(`h${i}/zero`, [x(i), y(0), x(i + 1), y(0)], "/line 1"),
        rect(`h${i}`, [middle - 0.9, Math.min(end, y(0)), 1.8, Math.abs(end - y(0))], "/muted", {
          fill: signedOf(value / LIMIT),
        }),
        circle(`h${i}/handle`, [middle, end], 0.53, "background/primary 2.5", { handle }),
        say(`h${i}/text`, [middle, y(0) + (value < 0 ? -0.8 : 0.8)], fixed(value, 1), "small"),
      ];
    }),
  );
  const said = column(
    { gap: 0.2 },
    text("read", "“The dog began to …”"),
    text("read/name", "after the last block", "muted"),
  );
  return row({ gap: 1.4 }, text("h/name", "h", "bold large"), drawn, said);
}

/** What each word's logit comes from, the logits, and the probabilities. */
function words(numbers, { step, reached, inputs }, isModel) {
  const {
    words: names,
    weights,
    rows = [],
    cosines = [],
    vocab,
    norm,
    gradient,
    moved,
    target,
    h,
    exponentials,
    total,
  } = numbers;
  const [sampling, moving] = [step === "temperature", step === "gradient"];
  const [logits, shares] = sampling
    ? [numbers.divided, numbers.sampled]
    : [numbers.logits, numbers.probabilities];
  const isAimed = reached("loss") && !sampling;
  const temperature = fixed(Number(inputs.temperature));
  const rest = `${grouped(vocab - names.length + 1)} tokens`;
  const factors = names.map((_, i) =>
    i < rows.length ? `${fixed(rows[i])} · ${fixed(cosines[i], 3)}` : rest,
  );
  const pushes = names.map(
    (_, i) =>
      `${fixed(numbers.probabilities[i])} − ${isAimed && i === target ? 1 : 0} = ${fixed(gradient[i])}`,
  );
  const first = moving
    ? [{ head: "p − y", values: pushes }]
    : isModel
      ? [{ head: "‖row of W‖ · cosine", values: factors }]
      : [0, 1, 2].map((j) => ({ head: j ? "" : "W", values: weights.map((each) => each[j]), digits: 1 }));
  const product = (i) => {
    if (sampling) return `${fixed(numbers.logits[i])} / ${temperature} = ${fixed(logits[i])}`;
    const sum = isModel
      ? `${fixed(norm)} · ${fixed(rows[i])} · ${fixed(cosines[i], 4)} = ${fixed(logits[i])}`
      : writtenSum(weights[i], h);
    return `“${names[i]}”: ${sum}`;
  };
  const logit = {
    ...{
      head: sampling ? "logits / T" : "logits",
      values: names.map((_, i) => logits[i] ?? null),
      bar: isModel ? 5 : 4,
    },
    said: (i) =>
      logits[i] === undefined
        ? ""
        : moving && isModel
          ? `${fixed(logits[i])} → ${fixed(moved.logits[i])}`
          : fixed(logits[i]),
    fill: (i) => signedOf((logits[i] ?? 0) / 4),
    tip: (i) => (i < logits.length ? product(i) : undefined),
    of: (i) => (sampling || moving || isModel ? [] : [0, 1, 2].flatMap((j) => [`word${i}/${j}`, `h${j}`])),
  };
  const share = {
    ...{ head: sampling ? "p at T" : "p", values: shares, digits: 3, bar: 5, most: 1 },
    fill: (i) => (isAimed && i === target ? "primary" : "muted"),
    tip: (i) =>
      sampling || isModel
        ? `p(${names[i]}) = ${fixed(shares[i], 4)}${sampling ? ` at T = ${temperature}` : ""}`
        : `exp(${fixed(logits[i])} − largest) / sum = ${fixed(exponentials[i], 3)} / ${fixed(total, 3)} = ${fixed(shares[i], 4)}`,
  };
  const after = {
    head: "p after the step",
    values: moved.probabilities,
    digits: 3,
    more: () => ({ fill: "primary" }),
  };
  const aim = (i) => ({ label: `Target: ${names[i]}`, pressed: i === target, patch: { target: i } });
  const press = (i) => (i < logits.length ? aim(i) : undefined);
  const look = {
    about: isModel ? "The likeliest tokens" : "The four words",
    tall: isAimed ? 1.55 : 1.8,
    lit: isAimed ? target : -1,
  };
  return list(
    "word",
    names.map((name) => cut(name, 10)),
    [...first, logit, reached("probabilities") && share, moving && after],
    { ...look, press: isAimed ? press : undefined },
  );
}

/** −log p against p, where the target is. */
function loss({ probability, loss: value, moved, words: names, target }, moving) {
  const points = Array.from({ length: 60 }, (_, i) => [
    Math.exp((-MOST * (59 - i)) / 59),
    (MOST * (59 - i)) / 59,
  ]);
  const look = {
    x: [0, 1],
    y: [0, MOST],
    ticks: { x: [0, 1], y: [] },
    names: ["p", "−log p"],
    wide: 12,
    high: 4.6,
  };
  const drawn = plot("plot", look, ({ at, graph }) => [
    graph("plot/curve", "/muted 2", points),
    circle("plot/dot", at(probability, Math.min(MOST, value)), 0.4, "primary"),
    ...(moving
      ? [circle("plot/moved", at(moved.probability, Math.min(MOST, moved.loss)), 0.4, "background/primary 2")]
      : []),
  ]);
  const said = text("loss", `loss = −log ${fixed(probability, 3)} = ${fixed(value, 3)}`, "bold large", {
    tip: `−log p(${names[target]})`,
  });
  return row(
    column(said, moving && text("loss/moved", `after the step ${fixed(moved.loss, 3)}`, "primary")),
    drawn,
  );
}
