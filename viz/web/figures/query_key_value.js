// Query, key, value: a token fans out into three vectors; arrows of queries and keys to drag; and the
// five matrix products for all tokens.

import { bracketed, columnOf, fixed, matrix, replaced, rowOf, writtenSum } from "../story/marks.js";

/** @import {Figure, Ink, Mark, Patch, Term} from "../types" */

/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {string} token that attends
 * @property {number} word its position
 * @property {number[][]} x
 * @property {number[][]} wq
 * @property {number[][]} wk
 * @property {number[][]} wv
 * @property {number[][]} q of every token
 * @property {number[][]} k
 * @property {number[][]} v
 * @property {number[][]} all_scores
 * @property {number[][]} all_weights
 * @property {number[][]} all_outputs
 * @property {number[]} query as the reader has moved it
 * @property {number[][]} keys as the reader has moved them
 * @property {number[][]} terms of each q·k
 * @property {number[]} products
 * @property {number[]} scores
 * @property {number[]} exponentials
 * @property {number} total
 * @property {number[]} weights
 * @property {number[][]} contributions
 * @property {number[]} output
 */

/** @typedef {{x: number, y: number, unit: number, range: number}} Plane its origin in the picture, and its scale */

const [WIDTH, HEIGHT] = [560, 440];
const LEAST = 3; // range of a plane
const GRAIN = 10; // positions of an arrow's head per unit
/** @type {readonly {name: "q" | "k" | "v", term: Term, role: string, y: number}[]} */
const ROLES = [
  { name: "q", term: "query", role: "what it looks for", y: 84 },
  { name: "k", term: "key", role: "what it can be matched on", y: 214 },
  { name: "v", term: "value", role: "what it passes on", y: 344 },
];

/** @typedef {import("../types").Moment<typeof STEPS[number]>} Moment */

const STEPS = /** @type {const} */ (["roles", "plane", "score", "weights", "output", "five", "columns"]);

/** @type {Figure<typeof STEPS[number]>} */
export const figure = {
  steps: STEPS,
  size: [WIDTH, HEIGHT],

  marks(/** @type {Numbers} */ numbers, moment) {
    const scene = moment.step === "roles" ? roles : moment.step === "five" ? five : vectors;
    return [...chips(numbers, moment), ...scene(numbers, moment)];
  },

  describe(/** @type {Numbers} */ numbers, { step, reached }) {
    const { token, tokens, query, keys, scores, weights, output, word, q, k, v } = numbers;
    if (step === "five") return `X gives Q, K and V; Q times K transposed gives the scores; the weights times V give an output for each of ${list(tokens)}.`;
    if (step === "roles") return `The token ${token} becomes a query ${pair(q[word])}, a key ${pair(k[word])} and a value ${pair(v[word])}.`;
    const drawn = `The query of ${token} is ${pair(query)}; the keys are ${tokens.map((name, i) => `${name} ${pair(keys[i])}`).join(", ")}.`;
    const each = (/** @type {number[]} */ values) => tokens.map((name, i) => `${name} ${fixed(values[i])}`).join(", ");
    if (!reached("score")) return drawn;
    if (!reached("weights")) return `${drawn} Scores: ${each(scores)}.`;
    return `${drawn} Weights: ${each(weights)}.${reached("output") ? ` Output: ${pair(output)}.` : ""}`;
  },

  tables(/** @type {Numbers} */ numbers) {
    const { tokens, token, products, scores, exponentials, weights, q, k, v, all_scores, all_weights, all_outputs } = numbers;
    const features = ["feature 0", "feature 1"];
    return [
      { title: `The query of ${token}`, rows: tokens, cols: ["q·k", "q·k / √2", "exp", "weight"], values: tokens.map((_, i) => [products[i], scores[i], exponentials[i], weights[i]]) },
      ...[["Q", q], ["K", k], ["V", v]].map(([title, values]) => ({ title: String(title), rows: tokens, cols: features, values: /** @type {number[][]} */ (values) })),
      { title: "Q Kᵀ / √2", rows: tokens, cols: tokens, values: all_scores },
      { title: "Weights", rows: tokens, cols: tokens, values: all_weights },
      { title: "Output", rows: tokens, cols: features, values: all_outputs },
    ];
  },
};

/** @type {(names: string[]) => string} */
const list = (names) => `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** @type {(values: number[]) => string} */
const pair = (values) => `(${values.map((value) => fixed(value)).join(", ")})`;

/** The token that attends, to choose. */
function chips({ tokens, word }, { ink }) {
  /** @type {Mark[]} */
  const marks = [{ key: "chips", kind: "text", x: 14, y: 20, text: "Token", size: 14, anchor: "start", fill: ink.muted }];
  tokens.forEach((name, i) => {
    const [chosen, x] = [i === word, 68 + i * 92];
    marks.push(
      {
        ...{ key: `chip${i}`, kind: "rect", x, y: 4, w: 84, h: 32, r: 16, width: chosen ? 2.5 : 1 },
        ...{ fill: chosen ? ink.surface : ink.background, stroke: chosen ? ink.primary : ink.line },
        press: { label: `Follow ${name}`, pressed: chosen, patch: { word: i, dq: [0, 0] } },
      },
      { key: `chip${i}/text`, kind: "text", x: x + 42, y: 20, text: name, size: 15, bold: chosen },
    );
  });
  return marks;
}

/** x of one token, three matrices, three vectors. */
function roles(numbers, { ink, inputs }) {
  const { word, token, tokens, x } = numbers;
  const [xAt, xTop, xTall] = [22, 198, 32];
  const middle = xTop + 1.5 * xTall;
  /** @type {Mark[][]} */
  const [bands, marks] = [[], []];
  for (const { name, term, role, y } of ROLES) {
    const colour = ink.term[term];
    const input = `w${name}`;
    const [matrixOf, vector] = [numbers[/** @type {"wq" | "wk" | "wv"} */ (input)], numbers[name][word]];
    const across = { kind: /** @type {const} */ ("curve"), term };
    bands.push(
      { ...across, key: `${name}/in`, x: xAt + 60, y: middle, x2: 172, y2: y + 30, stroke: colour, width: 22, opacity: 0.28 },
      { ...across, key: `${name}/in/run`, x: xAt + 60, y: middle, x2: 172, y2: y + 30, stroke: colour, width: 2, opacity: 0.9, flow: true },
      { ...across, key: `${name}/out`, x: 306, y: y + 30, x2: 420, y2: y + 30, stroke: colour, width: 22, opacity: 0.28 },
      { ...across, key: `${name}/out/run`, x: 306, y: y + 30, x2: 420, y2: y + 30, stroke: colour, width: 2, opacity: 0.9, flow: true },
    );
    const cells = { tall: 30, size: 13.5, term, fill: () => ink.background, stroke: colour };
    marks.push(
      ...matrix(input, matrixOf, {
        ...{ x: 174, y, cell: 44, title: `W_{${name.toUpperCase()}}`, ...cells },
        edit: (i, j) => ({ label: `Matrix of ${term === "query" ? "queries" : `${term}s`}, row ${i}, column ${j}`, value: matrixOf[i][j], apply: (value) => ({ [input]: replaced(inputs[input], 3 * i + j, value) }) }),
      }, ink),
      ...matrix(name, vector.map((value) => [value]), {
        ...{ x: 424, y, cell: 66, title: `${term} ${name}_{${token}}`, ...cells },
        tip: (_, i) => `${name}[${i}] = ${writtenSum(matrixOf[i], x[word])}`,
        of: (i) => [...rowOf(input, i, x[word].length), ...columnOf("x", 0, x[word].length)],
      }, ink),
      { key: `${name}/role`, kind: "text", x: 457, y: y + 74, text: role, size: 13, fill: ink.muted },
    );
  }
  const column = matrix("x", x[word].map((value) => [value]), {
    ...{ x: xAt, y: xTop, cell: 60, tall: xTall, title: `x_{${token}}`, size: 14, fill: () => ink.surface, stroke: ink.muted },
    edit: (i) => ({ label: `${tokens[word]}, feature ${i}`, value: x[word][i], apply: (value) => ({ x: replaced(inputs.x, 3 * word + i, value) }) }),
  }, ink);
  return [...bands, ...marks, ...column];
}

/** The query and the keys as arrows, then what follows from them. */
function vectors(numbers, moment) {
  const { reached } = moment;
  const [x, y, half] = reached("score") ? [169, 203, 155] : [280, 240, 192];
  const plane = planeAt(x, y, half, [numbers.query, ...numbers.keys]);
  return [
    ...axes("plane", plane, moment.ink),
    ...(reached("score") ? feet(numbers, plane, moment.ink) : []),
    ...arrows(numbers, plane, moment),
    ...(reached("score") ? rows(numbers, moment) : []),
    ...(reached("output") ? mixture(numbers, moment) : []),
  ];
}

/** @type {(x: number, y: number, half: number, points: number[][]) => Plane} */
function planeAt(x, y, half, points) {
  const range = Math.max(LEAST, Math.ceil(Math.max(...points.flat().map(Math.abs))));
  return { x, y, unit: half / range, range };
}

/** @type {(plane: Plane, vector: number[]) => [number, number]} */
const spot = ({ x, y, unit }, [a, b]) => [x + a * unit, y - b * unit];

/** @type {(key: string, plane: Plane, ink: Ink) => Mark[]} */
function axes(key, { x, y, unit, range }, ink) {
  const half = unit * range;
  /** @type {Mark[]} */
  const marks = [{ key: `${key}/frame`, kind: "rect", x: x - half, y: y - half, w: 2 * half, h: 2 * half, r: 6, fill: ink.background, stroke: ink.line }];
  for (let at = 1 - range; at < range && range <= 2 * LEAST; at += 1) {
    const [width, stroke] = [at ? 0.7 : 1.4, at ? ink.line : ink.muted];
    marks.push(
      { key: `${key}/up${at}`, kind: "line", x: x + at * unit, y: y - half, y2: y + half, stroke, width },
      { key: `${key}/across${at}`, kind: "line", x: x - half, y: y + at * unit, x2: x + half, stroke, width },
    );
  }
  return marks;
}

/** @type {(name: string, plane: Plane, vector: number[], text: string, fill: string, term: Term) => Mark} */
function label(name, plane, vector, text, fill, term) {
  const [x, y] = spot(plane, vector);
  const half = plane.unit * plane.range;
  const far = Math.hypot(...vector) || 1;
  const wide = 3.7 * text.replace(/[_{}]/g, "").length + 4;
  const within = (/** @type {number} */ at, /** @type {number} */ middle, /** @type {number} */ edge) => Math.min(middle + half - edge, Math.max(middle - half + edge, at));
  const flat = Math.abs(vector[1]) < 0.4 * far;
  const [across, down] = [x + ((wide + 12) * vector[0]) / far, y - (flat ? 24 * (vector[1] < 0 ? -1 : 1) : (22 * vector[1]) / far)];
  const [toX, up] = [within(across, plane.x, wide), vector[1] < 0 ? -16 : 16];
  const toY = within(down - (!flat && Math.abs(toX - across) > 8 ? up : 0), plane.y, 10);
  return { key: `${name}/label`, kind: "text", x: toX, y: toY, text, size: 14, bold: true, fill, term };
}

function arrows({ token, tokens, query, keys, q, k, word }, plane, { ink, inputs }) {
  const held = [
    { name: "query", caption: `q_{${token}}`, vector: query, from: q[word], input: "dq", at: 0, term: /** @type {Term} */ ("query") },
    ...tokens.map((each, i) => ({ name: `key${i}`, caption: `k_{${each}}`, vector: keys[i], from: k[i], input: "dk", at: 2 * i, term: /** @type {Term} */ ("key") })),
  ].reverse();
  /** @type {Mark[][]} */
  const [shafts, heads, labels] = [[], [], []];
  for (const { name, caption, vector, from, input, at, term } of held) {
    const colour = ink.term[term];
    const [x2, y2] = spot(plane, vector);
    /** @type {(a: number, b: number) => Patch} */
    const to = (a, b) => {
      const [moveA, moveB] = [a, b].map((value, i) => {
        const near = Math.round(Math.min(plane.range, Math.max(-plane.range, value)) * GRAIN) / GRAIN;
        return Number((near - from[i]).toFixed(4));
      });
      return { [input]: replaced(replaced(inputs[input], at, moveA), at + 1, moveB) };
    };
    shafts.push({ key: name, kind: "arrow", x: plane.x, y: plane.y, x2, y2, stroke: colour, width: term === "query" ? 4 : 3, term });
    heads.push({
      ...{ key: `${name}/head`, kind: "circle", x: x2, y: y2, r: 10, fill: colour, stroke: colour, width: 1, opacity: 0.3, term },
      handle: {
        label: name === "query" ? `Query of ${token}` : `Key of ${tokens[at / 2]}`,
        value: pair(vector),
        move: (x, y) => to((x - plane.x) / plane.unit, (plane.y - y) / plane.unit),
        nudge: (dx, dy) => to(vector[0] + dx / GRAIN, vector[1] - dy / GRAIN),
      },
    });
    labels.push(label(name, plane, vector, caption, colour, term));
  }
  return [...shafts, ...labels, ...heads];
}

/** The line of the query, and where each key meets it at a right angle. */
function feet({ query, keys, products }, plane, ink) {
  const far = query[0] ** 2 + query[1] ** 2;
  if (far < 1e-6) return [];
  const reach = plane.range / Math.max(Math.abs(query[0]), Math.abs(query[1]));
  const [x, y] = spot(plane, query.map((value) => -value * reach));
  const [x2, y2] = spot(plane, query.map((value) => value * reach));
  /** @type {Mark[]} */
  const marks = [{ key: "feet/line", kind: "line", x, y, x2, y2, stroke: ink.term.query, width: 1, opacity: 0.5, term: "query" }];
  keys.forEach((key, i) => {
    const foot = query.map((value) => (value * products[i]) / far);
    const [a, b] = spot(plane, key);
    const [a2, b2] = spot(plane, foot);
    const inside = foot.every((value) => Math.abs(value) <= plane.range);
    if (inside) marks.push({ key: `feet/${i}`, kind: "line", x: a, y: b, x2: a2, y2: b2, stroke: ink.muted, width: 1.4, dash: "4 4" });
  });
  return marks;
}

/** Scores and weights, and the sums written out. */
function rows(numbers, { ink, reached }) {
  const { tokens, query, keys, scores, weights, exponentials, total } = numbers;
  const [weighted, mixed] = [reached("weights"), reached("output")];
  /** @type {Mark[]} */
  const marks = [];
  if (!mixed) marks.push({ key: "score/head", kind: "text", x: 552, y: 62, text: "score q·k / √2", size: 13, anchor: "end", fill: ink.muted });
  tokens.forEach((name, i) => {
    const y = mixed ? 296 + 27 * i : 98 + 80 * i;
    const sum = `q·k_{${name}} = ${writtenSum(query, keys[i])}`;
    marks.push(
      { key: `row${i}`, kind: "text", x: 344, y, text: `k_{${name}}`, size: 15, bold: true, anchor: "start", fill: ink.term.key, term: "key" },
      { key: `sum${i}`, kind: "text", x: 16, y: 380 + 22 * i, text: sum, size: 14, anchor: "start" },
    );
    if (!mixed) marks.push({ key: `score${i}`, kind: "text", x: 552, y, text: fixed(scores[i]), size: 17, anchor: "end" });
    if (!weighted) return;
    const [x, down, wide] = mixed ? [412, y - 9, 86] : [344, y + 18, 154];
    const tip = `weight = exp(${fixed(scores[i])}) / ${fixed(total)} = ${fixed(exponentials[i])} / ${fixed(total)} = ${fixed(weights[i], 4)}`;
    marks.push(
      { key: `weight${i}/track`, kind: "rect", x, y: down, w: wide, h: 18, r: 3, fill: ink.surface, stroke: ink.line, tip },
      { key: `weight${i}`, kind: "rect", x, y: down, w: wide * weights[i], h: 18, r: 3, fill: ink.term.weight, term: "weight", tip },
      { key: `weight${i}/text`, kind: "text", x: 552, y: down + 9, text: fixed(weights[i]), size: 15, bold: true, anchor: "end", fill: ink.term.weight, term: "weight" },
    );
  });
  return marks;
}

/** The values as arrows, and their weighted sum. */
function mixture({ tokens, v, weights, contributions, output }, { ink }) {
  const plane = planeAt(452, 160, 92, v);
  const colour = ink.term.value;
  /** @type {Mark[]} */
  const marks = [
    { key: "values/head", kind: "text", x: 552, y: 56, text: "values, and their weighted sum", size: 13, anchor: "end", fill: ink.muted },
    ...axes("values", plane, ink),
    { key: "values/hull", kind: "path", d: `M${v.map((each) => spot(plane, each).join(" ")).join("L")}Z`, fill: colour, opacity: 0.1, term: "value" },
  ];
  let from = [0, 0];
  tokens.forEach((name, i) => {
    const [x2, y2] = spot(plane, v[i]);
    const [x, y] = spot(plane, from);
    from = from.map((value, feature) => value + contributions[i][feature]);
    const [toX, toY] = spot(plane, from);
    marks.push(
      { key: `value${i}`, kind: "arrow", x: plane.x, y: plane.y, x2, y2, stroke: colour, width: 2, opacity: 0.65, term: "value" },
      { key: `part${i}`, kind: "line", x, y, x2: toX, y2: toY, stroke: colour, width: 7, opacity: 0.4, term: "value", tip: `${fixed(weights[i])} · v ${name} = ${fixed(weights[i])} · ${pair(v[i])} = ${pair(contributions[i])}` },
      label(`value${i}`, plane, v[i], `v_{${name}}`, colour, "value"),
    );
  });
  const [x2, y2] = spot(plane, output);
  const tip = `${tokens.map((_, i) => `${fixed(weights[i])}·${pair(v[i])}`).join(" + ")} = ${pair(output)}`;
  marks.push(
    { key: "output", kind: "arrow", x: plane.x, y: plane.y, x2, y2, stroke: ink.term.output, width: 4, term: "output", tip },
    { key: "output/text", kind: "text", x: 552, y: 268, text: `output ${pair(output)}`, size: 15, bold: true, anchor: "end", fill: ink.term.output, term: "output", tip },
  );
  return marks;
}

/** All tokens at once: five matrix products. */
function five(numbers, { ink, inputs }) {
  const { tokens, word, x, q, k, v, all_scores, all_weights, all_outputs } = numbers;
  const { value, weight, output } = ink.term;
  const most = Math.max(0.01, ...all_scores.flat().map(Math.abs));
  const cells = { cell: 34, tall: 26, size: 13, digits: 1 };
  const plain = { ...cells, fill: () => ink.background, lit: (/** @type {number} */ i) => i === word };
  /** @type {(key: string, from: [number, number], to: [number, number], stroke: string, term?: Term) => Mark} */
  const band = (key, [fromX, fromY], [toX, toY], stroke, term) => ({ key: `five/${key}`, kind: "curve", x: fromX, y: fromY, x2: toX, y2: toY, stroke, width: 13, opacity: 0.28, term });
  const [xMiddle, tops] = [239, [84, 204, 330]];
  /** @type {Mark[]} */
  const marks = ROLES.flatMap(({ name, term }, i) => [
    band(name, [172, xMiddle], [230, tops[i] + 39], ink.term[term], term),
    ...badge(i + 1, 201, (xMiddle + tops[i] + 39) / 2, ink),
  ]);
  marks.push(
    band("qs", [302, 123], [344, 112], ink.term.query, "query"),
    band("ks", [302, 243], [344, 138], ink.term.key, "key"),
    ...badge(4, 323, 158, ink),
    band("av", [450, 268], [474, 344], weight, "weight"),
    band("vo", [302, 369], [474, 369], value, "value"),
    ...badge(5, 420, 356, ink),
    { key: "five/softmax", kind: "arrow", x: 397, y: 168, x2: 397, y2: 206, stroke: ink.muted, width: 2 },
    { key: "five/softmax/text", kind: "text", x: 406, y: 184, text: "softmax, row by row", size: 13, anchor: "start", fill: ink.muted },
    ...matrix("X", x, {
      ...{ x: 68, y: 200, title: "X", ...plain, rows: tokens },
      edit: (i, j) => ({ label: `${tokens[i]}, feature ${j}`, value: x[i][j], apply: (changed) => ({ x: replaced(inputs.x, 3 * i + j, changed) }) }),
    }, ink),
  );
  ROLES.forEach(({ name, term }, i) => {
    const projection = numbers[/** @type {"wq" | "wk" | "wv"} */ (`w${name}`)];
    const title = `${name.toUpperCase()} = X W_{${name.toUpperCase()}}ᵀ`;
    const tip = (/** @type {number} */ _, /** @type {number} */ row, /** @type {number} */ col) => `${name} of ${tokens[row]} [${col}] = ${writtenSum(projection[col], x[row])}`;
    marks.push(...matrix(name.toUpperCase(), numbers[name], { ...plain, x: 232, y: tops[i], title, term, stroke: ink.term[term], tip, of: (row) => rowOf("X", row, x[row].length) }, ink));
  });
  marks.push(
    ...matrix("S", all_scores, {
      ...{ x: 346, y: 84, title: "Q Kᵀ / √2", ...plain, fill: (score) => ink.signed(score / most) },
      tip: (score, i, j) => `${tokens[i]} with ${tokens[j]}: (${writtenSum(q[i], k[j])}) / √2 = ${fixed(score)}`,
      of: (i, j) => [...rowOf("Q", i, q[i].length), ...rowOf("K", j, k[j].length)],
    }, ink),
    ...matrix("A", all_weights, {
      ...{ x: 346, y: 230, ...plain, digits: 2, term: "weight", fill: (share) => ink.weight(share) },
      tip: (share, i, j) => `${tokens[i]} gives ${tokens[j]} the weight exp(${bracketed(fixed(all_scores[i][j]))}) / the row's sum = ${fixed(share, 4)}`,
      of: (i) => rowOf("S", i, all_scores[i].length),
    }, ink),
    { key: "A/name", kind: "text", x: 456, y: 240, text: "weights", size: 15, bold: true, anchor: "start", fill: weight, term: "weight" },
    ...matrix("O", all_outputs, {
      ...{ x: 476, y: 330, title: "output", ...plain, term: "output", stroke: output },
      tip: (_, i, j) => `output of ${tokens[i]} [${j}] = ${writtenSum(all_weights[i], v.map((each) => each[j]))}`,
      of: (i, j) => [...rowOf("A", i, v.length), ...columnOf("V", j, v.length)],
    }, ink),
  );
  return marks;
}

/** @type {(number: number, x: number, y: number, ink: Ink) => Mark[]} */
function badge(number, x, y, ink) {
  return [
    { key: `badge${number}`, kind: "circle", x, y, r: 12, fill: ink.text, stroke: ink.background, width: 2 },
    { key: `badge${number}/text`, kind: "text", x, y, text: String(number), size: 14, bold: true, fill: ink.background },
  ];
}
