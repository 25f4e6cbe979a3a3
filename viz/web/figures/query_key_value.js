// Query, key, value: a token fans out into three vectors; arrows of queries and keys to drag; and the five matrix
// products for all tokens.

import {
  bracketed,
  columnOf,
  fixed,
  list as listed,
  nth,
  replaced,
  rowOf,
  typed,
  writtenSum,
} from "../scene/numbers.js";
import { column, free, lines, row, text, wire, wired } from "../scene/layout.js";
import { circle, joined, line, rect, say } from "../scene/marks.js";
import { list } from "../scene/list.js";
import { matrix } from "../scene/matrix.js";
import { tokens } from "../scene/tokens.js";

/** @import {Figure} from "../types" */

const LEAST = 3; // range of a plane
const GRAIN = 10; // positions of an arrow's head per unit
const ROLES = { query: "what it looks for", key: "what it can be matched on", value: "what it passes on" };

/** @type {Figure} */
export const figure = {
  picture(numbers, moment) {
    const { tokens: names, word } = numbers;
    const press = (i) => ({
      label: `Follow ${names[i]}`,
      pressed: i === word,
      patch: { word: i, dq: [0, 0] },
    });
    const chips = row(
      text("chips", "Token", "muted"),
      tokens("chip", names, { chosen: word, press, cell: 5.6 }),
    );
    const draw = { roles, five }[moment.step] ?? vectors;
    return column({ gap: 1.2 }, chips, draw(numbers, moment));
  },

  describe({ token, tokens: names, query, keys, scores, weights, output, word, q, k, v }, { step, reached }) {
    if (step === "five")
      return `X gives Q, K and V; Q times K transposed gives the scores; the weights times V give an output for each of ${names.slice(0, -1).join(", ")} and ${names.at(-1)}.`;
    if (step === "roles")
      return `The token ${token} becomes a query ${pair(q[word])}, a key ${pair(k[word])} and a value ${pair(v[word])}.`;
    const drawn = `The query of ${token} is ${pair(query)}; the keys are ${names.map((name, i) => `${name} ${pair(keys[i])}`).join(", ")}.`;
    const each = (values) => names.map((name, i) => `${name} ${fixed(values[i])}`).join(", ");
    if (!reached("score")) return drawn;
    if (!reached("weights")) return `${drawn} Scores: ${each(scores)}.`;
    return `${drawn} Weights: ${each(weights)}.${reached("output") ? ` Output: ${pair(output)}.` : ""}`;
  },
};

const pair = (values) => `(${listed(values)})`;

/** x of one token, three matrices, three vectors. */
function roles(numbers, { inputs }) {
  const { word, token, tokens: names, x } = numbers;
  const rows = Object.entries(ROLES).map(([term, role]) => {
    const name = term[0];
    const [weights, vector] = [numbers[`w${name}`], numbers[name][word]];
    const label = (i, j) => `Matrix of ${term === "query" ? "queries" : `${term}s`}, row ${i}, column ${j}`;
    const edit = (i, j) => typed(inputs, `w${name}`, 3 * i + j, label(i, j), weights[i][j]);
    const tip = (_, i) => `${name}[${i}] = ${writtenSum(weights[i], x[word])}`;
    const of = (i) => [...rowOf(`w${name}`, i, 3), ...columnOf("x", 0, 3)];
    const projection = matrix(`w${name}`, weights, { title: `W_{${name.toUpperCase()}}`, term, edit });
    const result = matrix(
      name,
      vector.map((value) => [value]),
      { title: `${term} ${name}_{${token}}`, term, tip, of, cell: 4 },
    );
    return [projection, column({ gap: 0 }, result, text(`${name}/role`, role, "muted small"))];
  });
  const edit = (i) => typed(inputs, "x", 3 * word + i, `${names[word]}, feature ${i}`, x[word][i]);
  const given = matrix(
    "x",
    x[word].map((value) => [value]),
    { title: `x_{${token}}`, about: `x of ${token}`, edit, cell: 3.6 },
  );
  const bands = Object.keys(ROLES).flatMap((term) => {
    const [name, look] = [term[0], { opacity: 0.3 }];
    return [
      wire(`${name}/in`, "x/1.0", `w${name}/0.0`, `/${term} 20 flat runs`, look),
      wire(`${name}/out`, `w${name}/0.2`, `${name}/0.0`, `/${term} 20 flat runs`, look),
    ];
  });
  return wired(row({ gap: 6 }, given, rowsOf(rows)), ...bands);
}

const rowsOf = (rows) => column({ gap: 0.6, align: "start" }, ...rows.map(([a, b]) => row({ gap: 6 }, a, b)));

/** The query and the keys as arrows, then what follows from them. */
function vectors(numbers, moment) {
  const { tokens: names, query, keys, products } = numbers;
  const scored = moment.reached("score");
  const drawn = plane("plane", scored ? 17 : 22, [query, ...keys], (to, range) => [
    ...(scored ? feet(query, keys, products, to, range) : []),
    ...arrows(numbers, moment, to, range),
  ]);
  if (!scored) return drawn;
  const sums = names.map((name, i) => `q·k_{${name}} = ${writtenSum(query, keys[i])}`);
  const beside = column(moment.reached("output") && mixture(numbers), scoreList(numbers, moment));
  return row({ gap: 2 }, column(drawn, lines("sum", sums)), beside);
}

/** A plane from −range to range. @type {(key: string, side: number, points: number[][], draw: (to: any, range: number) => any[]) => import("../scene/layout.js").Part} */
const plane = (key, side, points, draw) =>
  free(side, side, (x, y) => {
    const range = Math.max(LEAST, Math.ceil(Math.max(...points.flat().map(Math.abs))));
    const unit = side / 2 / range;
    const to = ([a, b]) => [x + side / 2 + a * unit, y + side / 2 - b * unit];
    to.from = (px, py) => [(px - x - side / 2) / unit, (y + side / 2 - py) / unit];
    const marks = range > 2 * LEAST ? [] : Array.from({ length: 2 * range - 1 }, (_, i) => i + 1 - range);
    const rule = (at) => (at ? "/line 0.7" : "/muted 1.4");
    return [
      rect(`${key}/frame`, [x, y, side, side], "background/line", { r: 0.4 }),
      ...marks.map((at) => line(`${key}/up${at}`, [...to([at, -range]), ...to([at, range])], rule(at))),
      ...marks.map((at) => line(`${key}/across${at}`, [...to([-range, at]), ...to([range, at])], rule(at))),
      ...draw(to, range),
    ];
  });

/** The name of an arrow, beyond its head. */
function nameOf(key, to, vector, name, term, range) {
  const far = Math.hypot(...vector) || 1;
  const beyond = vector.map((value) => value + (0.2 * range * value) / far);
  return say(
    `${key}/label`,
    to(beyond.map((value) => Math.min(0.9 * range, Math.max(-0.92 * range, value)))),
    name,
    `${term} bold`,
    { size: 0.94 },
  );
}

function arrows({ token, tokens: names, query, keys, q, k, word }, { inputs }, to, range) {
  const all = [
    {
      key: "query",
      name: `q_{${token}}`,
      label: `Query of ${token}`,
      vector: query,
      from: q[word],
      input: "dq",
      at: 0,
      term: "query",
    },
    ...names.map((each, i) => ({
      key: `key${i}`,
      name: `k_{${each}}`,
      label: `Key of ${each}`,
      vector: keys[i],
      from: k[i],
      input: "dk",
      at: 2 * i,
      term: "key",
    })),
  ].reverse();
  const heads = all.map(({ key, label, vector, from, input, at, term }) => {
    const moved = (values) => {
      const [a, b] = values.map((value, i) =>
        Number((Math.round(Math.min(range, Math.max(-range, value)) * GRAIN) / GRAIN - from[i]).toFixed(4)),
      );
      return { [input]: replaced(replaced(inputs[input], at, a), at + 1, b) };
    };
    const move = (x, y) => moved(to.from(x, y));
    const nudge = (dx, dy) => moved([vector[0] + dx / GRAIN, vector[1] - dy / GRAIN]);
    return circle(`${key}/head`, to(vector), 0.67, term, {
      opacity: 0.3,
      handle: { label, value: pair(vector), move, nudge },
    });
  });
  const shafts = all.map(({ key, vector, term }) =>
    line(key, [...to([0, 0]), ...to(vector)], `/${term} ${term === "query" ? 4 : 3} arrow`),
  );
  return [
    ...shafts,
    ...all.map(({ key, vector, name, term }) => nameOf(key, to, vector, name, term, range)),
    ...heads,
  ];
}

/** The line of the query, and where each key meets it at a right angle. */
function feet(query, keys, products, to, range) {
  const far = query[0] ** 2 + query[1] ** 2;
  if (far < 1e-6) return [];
  const end = query.map((value) => (value * range) / Math.max(...query.map(Math.abs)));
  const meets = keys.map((_, i) => query.map((value) => (value * products[i]) / far));
  const inside = (foot) => foot.every((value) => Math.abs(value) <= range);
  return [
    line("feet/line", [...to(end.map((value) => -value)), ...to(end)], "/query 1", { opacity: 0.5 }),
    ...meets.flatMap((foot, i) =>
      inside(foot) ? [line(`feet/${i}`, [...to(keys[i]), ...to(foot)], "/muted 1.4 dashed")] : [],
    ),
  ];
}

function scoreList({ tokens: names, token, scores: values, weights, exponentials, total }, { reached }) {
  const tip = (i) =>
    `weight = exp(${fixed(values[i])}) / ${fixed(total)} = ${fixed(exponentials[i])} / ${fixed(total)} = ${fixed(weights[i], 4)}`;
  const weight = { head: "weight", values: weights, bar: 5, most: 1, term: "weight", tip };
  const rows = names.map((name) => `k_{${name}}`);
  const tall = reached("output") ? 1.6 : 2.6;
  return list("row", rows, [{ head: "q·k / √2", values }, reached("weights") && weight], {
    about: `The query of ${token}`,
    term: "key",
    tall,
  });
}

/** The values as arrows, and their weighted sum. */
function mixture({ tokens: names, v, weights, contributions, output }) {
  const tip = `${names.map((_, i) => `${fixed(weights[i])}·${pair(v[i])}`).join(" + ")} = ${pair(output)}`;
  const ends = contributions.map((_, i) =>
    [0, 1].map((f) => contributions.slice(0, i + 1).reduce((sum, each) => sum + each[f], 0)),
  );
  const part = (i) =>
    `${fixed(weights[i])} · v ${names[i]} = ${fixed(weights[i])} · ${pair(v[i])} = ${pair(contributions[i])}`;
  const drawn = plane("values", 11, v, (to, range) => [
    joined("values/hull", "value", v.map(to), { opacity: 0.1 }),
    ...v.map((each, i) =>
      line(`value${i}`, [...to([0, 0]), ...to(each)], "/value 2 arrow", { opacity: 0.65 }),
    ),
    ...ends.map((end, i) =>
      line(`part${i}`, [...to(ends[i - 1] ?? [0, 0]), ...to(end)], "/value 7", {
        opacity: 0.4,
        tip: part(i),
      }),
    ),
    ...names.map((name, i) => nameOf(`value${i}`, to, v[i], `v_{${name}}`, "value", range)),
    line("output", [...to([0, 0]), ...to(output)], "/output 4 arrow", { tip }),
  ]);
  const title = text("values/head", "values, and their weighted sum", "muted small");
  return column(
    { gap: 0.3 },
    title,
    drawn,
    text("output/text", `output ${pair(output)}`, "output bold", { tip }),
  );
}

/** All tokens at once: five matrix products. */
function five(numbers, { inputs }) {
  const { tokens: names, word, x, q, k, v, all_scores: scored, all_weights: shares } = numbers;
  const { all_outputs: outputs } = numbers;
  const plain = { digits: 1, lit: (i) => i === word };
  const edit = (i, j) => typed(inputs, "x", 3 * i + j, `${names[i]}, feature ${j}`, x[i][j]);
  const products = Object.keys(ROLES).map((term, i) => {
    const [name, upper] = [term[0], term[0].toUpperCase()];
    const tip = (_, at, j) => `${name} of ${names[at]} [${j}] = ${writtenSum(numbers[`w${name}`][j], x[at])}`;
    const look = { ...plain, term, tip, title: `${i + 1}  ${upper} = X W_{${upper}}ᵀ` };
    return matrix(upper, numbers[name], { ...look, of: (at) => rowOf("X", at, 3) });
  });
  const score = {
    ...{ ...plain, title: "4  Q Kᵀ / √2", kind: "signed" },
    tip: (value, i, j) => `${names[i]} with ${names[j]}: (${writtenSum(q[i], k[j])}) / √2 = ${fixed(value)}`,
    of: (i, j) => [...rowOf("Q", i, 2), ...rowOf("K", j, 2)],
  };
  const weight = {
    ...{ ...plain, title: "weights", kind: "weights", digits: 2, term: "weight" },
    tip: (share, i, j) =>
      `${names[i]} gives ${names[j]} the weight exp(${bracketed(fixed(scored[i][j]))}) / the row's sum = ${fixed(share, 4)}`,
    of: (i) => rowOf("S", i, scored[i].length),
  };
  const output = {
    ...{ ...plain, title: "5  output", term: "output" },
    tip: (_, i, j) => `output of ${names[i]} [${j}] = ${writtenSum(shares[i], nth(v, j))}`,
    of: (i, j) => [...rowOf("A", i, v.length), ...columnOf("V", j, v.length)],
  };
  const part = row(
    { gap: 2.6 },
    matrix("X", x, { ...plain, title: "X", rows: names, edit }),
    column({ gap: 0.8 }, ...products),
    column(
      { gap: 0.8 },
      matrix("S", scored, score),
      text("five/softmax", "↓ softmax, row by row", "muted small"),
      matrix("A", shares, weight),
    ),
    matrix("O", outputs, output),
  );
  const band = (key, from, to, term) => wire(`five/${key}`, from, to, `/${term} 12 flat`, { opacity: 0.28 });
  const ins = Object.keys(ROLES).map((term) => band(term, "X/1.2", `${term[0].toUpperCase()}/1.0`, term));
  return wired(
    part,
    ...ins,
    band("qs", "Q/1.1", "S/1.0", "query"),
    band("ks", "K/1.1", "S/1.0", "key"),
    band("av", "A/1.2", "O/1.0", "weight"),
    band("vo", "V/1.1", "O/1.0", "value"),
  );
}
