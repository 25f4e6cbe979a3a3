// Vision transformer: patches lift off the picture into a sequence, and the class token attends to them.

import { box, column, free, grid, lines, overlaid, row, text, wire, wired } from "../scene/layout.js";
import { rect, say } from "../scene/marks.js";
import { choice, slider } from "../scene/controls.js";
import { fixed, percent, power } from "../scene/numbers.js";
import { heatmap } from "../scene/matrix.js";
import { list } from "../scene/list.js";

/** @import {Figure} from "../types" */

const VEIL = "#000000"; // over patches of less weight, in both modes: brighter is more
const LAYERS = { x: "input", norm: "LN", attention: "attention", "feed-forward": "MLP", "+": "add" };
const LEAST = 0.4; // weights below it, as a share of the largest, get no line
const STEPS = ["cut", "sequence", "class", "positions", "shuffle", "block", "attention"]; // with a photo

/** @type {Figure} */
export const figure = {
  controls: ({ step, reached, board }) => [
    (STEPS.includes(step) || (board && !reached("answer"))) &&
      choice("photo", "Photo", { flower: "flower", china: "temple" }),
    step === "answer" &&
      choice("picture", "Picture", { "a-star": "star", "a-heart": "heart", "a-moon": "moon" }),
    reached("shuffle") &&
      !board &&
      choice("shuffle", "Shuffle", {
        none: "nothing",
        tokens: "tokens with positions",
        patches: "patches alone",
      }),
    (step === "block" || step === "attention") && slider("layer", "Layer", [0, 11, 1]),
    step === "attention" && slider("head", "Head", [0, 5, 1]),
    (step === "answer" || step === "frames") && choice("layer", "Layer", ["0", "1", "2", "3"]),
    step === "answer" && choice("head", "Head", ["0", "1", "2", "3"]),
    step === "frames" && slider("head", "Head", [0, 5, 1]),
    step === "frames" && slider("position", "Token", [0, 200, 1]),
  ],

  picture(numbers, moment) {
    if (moment.step === "block") return block(numbers);
    if (moment.reached("attention")) return attention(numbers, moment);
    return moment.reached("sequence") ? sequence(numbers, moment) : cuts(numbers);
  },

  describe({ count, tokens, side, patch, answer, largest, changed, cosine, block: one }, { step, inputs }) {
    const what = `A picture of ${side} by ${side} pixels, cut into ${count} patches of ${patch} by ${patch}`;
    if (step === "cut") return `${what}.`;
    if (step === "sequence") return `${what}, which stand in a sequence, row by row.`;
    if (step === "class" || step === "positions")
      return `A sequence of ${tokens} tokens: the class token and ${count} patches.`;
    if (step === "shuffle")
      return `The sequence, with ${inputs.shuffle} shuffled. The class token's last vector has a cosine of ${fixed(cosine, 4)} with the one in order; its numbers change by at most ${small(changed)}.`;
    if (step === "block")
      return `Block ${one.layer}, pre-norm: the norm of the class token's vector after each step: ${one.names.map((name, i) => `${LAYERS[name]} ${fixed(one.class[i], 1)}`).join(", ")}.`;
    return `The weights of the class token over the picture in layer ${inputs.layer}, head ${inputs.head}: at most ${fixed(largest)} for one patch.${answer ? ` The answer is ${answer.name}, ${percent(answer.share)}.` : ""}`;
  },
};

const small = (change) => (change && change < 0.001 ? power(change, 1) : fixed(change, change ? 3 : 0));

/** Patches in lines of so many places. @type {(key: string, hrefs: string[], places: number[], each: number, cell: [number, number], size: number, more?: (i: number, x: number, y: number) => any[]) => any} */
const patches = (key, hrefs, places, each, [wide, high], size, more = () => []) =>
  free(each * wide, Math.ceil(hrefs.length / each) * high, (left, top) =>
    hrefs.flatMap((href, i) => {
      const [x, y] = [left + (places[i] % each) * wide, top + Math.floor(places[i] / each) * high];
      return [
        { key: `${key}${i}`, kind: /** @type {const} */ ("image"), href, x, y, w: size, h: size },
        ...more(i, x, y),
      ];
    }),
  );

/** The picture itself. */
function pictureOf({ patches: hrefs, places, cols }, side, gap, more) {
  const cell = side / cols;
  return patches("p", hrefs, places, cols, [cell, cell], cell * (1 - gap), more);
}

function cuts(numbers) {
  const { side, patch, count, flat } = numbers;
  const said = {
    [`${side} × ${side} pixels`]: "the picture",
    [`${patch} × ${patch} pixels`]: "a patch",
    [`${side}² / ${patch}² = ${count}`]: "patches",
    [`${patch} · ${patch} · 3 = ${flat}`]: "numbers in each",
  };
  const facts = Object.entries(said).map(([value, name], i) =>
    column(
      { gap: 0, align: "start" },
      text(`said${i}`, value, "bold large"),
      text(`said${i}/name`, name, "muted"),
    ),
  );
  return row({ gap: 2.4 }, pictureOf(numbers, 22, 0.05), column({ gap: 1.6, align: "start" }, ...facts));
}

/** Two rows of the picture in each line. */
function sequence(numbers, { reached, inputs, step }) {
  const { patches: hrefs, sequence: order, cols, count, similar, least, position, changed } = numbers;
  const { cosine, flat, width } = numbers;
  const each = 2 * cols;
  const cell = 34 / each;
  const isPlaced = reached("positions");
  const high = isPlaced ? 1.75 * cell : 1.15 * cell;
  const bar = (i, x, y) => {
    const source = inputs.shuffle === "patches" ? order[i] : i; // the position whose vector this token has
    const press = {
      label: `Position ${source + 1}`,
      pressed: source === position,
      patch: { position: source },
    };
    const tip = `Position ${source + 1}: cosine similarity with position ${position + 1} is ${fixed(similar[source])}`;
    const opacity = 0.07 + (0.93 * (similar[source] - least)) / (1 - least);
    return [rect(`pos${source}`, [x, y + cell, 0.87 * cell, 0.5 * cell], "text", { opacity, press, tip })];
  };
  const drawn = patches("p", hrefs, order, each, [cell, high], 0.87 * cell, isPlaced ? bar : undefined);
  const numbered = Array.from({ length: count / each }, (_, i) =>
    free(1.6, high, (x, y) => [
      say(`line${i}`, [x + 1.4, y + cell / 2], String(i * each + 1), "muted end small"),
    ]),
  );
  const shifted = `cosine of the class token's last vector with the one in order: ${fixed(cosine, 4)}`;
  const below =
    step === "shuffle"
      ? shifted
      : isPlaced
        ? `bars: similarity with the vector of position ${position + 1}, from ${fixed(least)} to 1`
        : `each patch: ${flat} numbers → ${width} by one matrix E`;
  return column(
    { align: "start" },
    step === "sequence" && ghost(numbers),
    reached("class") &&
      row({ gap: 0.4 }, text("class/name", "0", "muted small"), box("class", "c", "surface/query 2.5 bold")),
    row({ gap: 0.3 }, column({ gap: 0 }, ...numbered), drawn),
    text("below", below, step === "shuffle" ? "output bold" : "muted"),
    step === "shuffle" && text("changed", `largest change of one of its numbers: ${small(changed)}`, "muted"),
  );
}

/** Where the patches were, and the two rows that become the first line. */
function ghost({ patches: hrefs, places, cols }) {
  const cell = 8 / cols;
  const drawn = patches("ghost", hrefs, places, cols, [cell, cell], cell);
  const framed = overlaid(drawn, (at) => [
    rect("ghost/rows", [at("ghost0").x, at("ghost0").y, 8, 2 * cell], "none/primary 2"),
  ]);
  return row(
    text("ghost/what", "the picture", "muted"),
    framed,
    text("ghost/name", "its first two rows: line 1", "primary"),
  );
}

/** One block from the bottom to the top; beside each step the norm of every token's vector, as a small picture. */
function block({ cols, block: { layer, names, norms } }) {
  const most = Math.max(...norms.flat());
  const rows = names.map((name, i) => {
    const [first, ...others] = norms[i];
    const shades = Array.from({ length: cols }, (_, r) =>
      others.slice(r * cols, (r + 1) * cols).map((norm) => norm / most),
    );
    const said = [
      `class ${fixed(first, 1)}`,
      `${fixed(Math.min(...others), 1)} to ${fixed(Math.max(...others), 1)}`,
    ];
    const tip = `${LAYERS[name]}: the class token's vector has norm ${fixed(first)}`;
    const look = name === "+" || name === "x" ? "background/line 1.5" : "surface/text 1.5 bold";
    const named = name === "+" ? "+" : LAYERS[name];
    return [
      box(`step${i}`, named, look, {}, [7, 2]),
      box(`own${i}`, "", "background/query 2", { tip }, [1.1, 1.1]),
      heatmap(`n${i}`, shades, 3.2),
      lines(`norm${i}`, said),
    ];
  });
  const ups = names.slice(1).map((_, i) => wire(`up${i}`, `step${i}`, `step${i + 1}`, "/muted 2 arrow"));
  const skips = names.flatMap((name, i) =>
    name === "+" ? [(at) => skip(`skip${i}`, at(`step${i - 3}`), at(`step${i}`))] : [],
  );
  const scale = [
    `block ${layer}`,
    "norm of each token's vector",
    "square: class token",
    `grid: the patches, 0 to ${fixed(most, 1)}`,
  ];
  return row(
    { gap: 1.6 },
    wired(
      row(
        free(2, 1, () => []),
        grid(0.55, rows.reverse()),
      ),
      ...ups,
      ...skips,
    ),
    lines("block", scale, "muted"),
  );
}

/** The residual connection, left of what it goes around. */
function skip(key, from, to) {
  const [x, y, end] = [from.x, from.y + from.h / 2, to.y + to.h / 2];
  const d = `M${x} ${y}L${x - 1.6} ${y}L${x - 1.6} ${end}L${to.x - 0.2} ${end}m-0.4 -0.3l0.4 0.3l-0.4 0.3`;
  return [
    {
      key,
      kind: /** @type {const} */ ("path"),
      d,
      stroke: "primary",
      width: 2.2,
      tip: "The residual connection: added unchanged",
    },
  ];
}

function attention(numbers, { inputs }) {
  const { places, cols, weights, own: itself, largest, questions = [] } = numbers;
  const cell = 22 / cols;
  const veil = (i, x, y) => {
    const opacity = 0.7 * (1 - Math.sqrt(weights[i] / largest));
    return [
      rect(`w${i}`, [x, y, cell, cell], VEIL, {
        opacity,
        tip: `Patch ${places[i] + 1}: weight ${fixed(weights[i], 4)}`,
      }),
    ];
  };
  const title = `layer ${inputs.layer}, head ${inputs.head}: its weights, at most ${fixed(largest, largest < 0.01 ? 4 : 2)} for a patch`;
  const answers = questions.map(({ title: name, best }, q) => {
    const rows = best.slice(0, 2 + Number(q === 0));
    const share = {
      values: rows.map((each) => each.share),
      said: (i) => percent(rows[i].share),
      bar: 4,
      most: 1,
      term: "output",
    };
    return column(
      { gap: 0.1, align: "start" },
      text(`q${q}`, name, "bold"),
      list(
        `q${q}.`,
        rows.map((each) => each.name),
        [share],
        { about: name, tall: 1.4 },
      ),
    );
  });
  const token = row(
    { gap: 0.5 },
    box("class", "c", "surface/query 2.5 bold"),
    lines("attends", ["the class token", `to itself ${fixed(itself, 3)}`], "query"),
  );
  const part = row(
    { gap: 1.4, align: "start" },
    column(
      { align: "start", gap: 0.3 },
      text("attends/where", title, "weight small"),
      pictureOf(numbers, 22, 0, veil),
    ),
    column({ gap: 1.2, align: "start" }, token, ...answers),
  );
  const strong = weights.flatMap((weight, i) => (weight < LEAST * largest ? [] : [i]));
  const wires = strong.map((i) =>
    wire(`l${i}`, "class", `w${i}`, "/weight flat", {
      width: 1 + 10 * weights[i],
      opacity: 0.7 + 0.3 * weights[i],
    }),
  );
  return overlaid(part, (at) => wires.flatMap((each) => each(at)));
}
