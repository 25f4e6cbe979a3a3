// Query, key, value: a token fans out into three vectors; arrows of queries and keys to drag; and the five matrix
// products for all tokens.

import {
  bracketed,
  circle,
  columnOf,
  fixed,
  joined,
  line,
  list as listed,
  nth,
  replaced,
  rowOf,
  typed,
  writtenSum,
} from "../../web/scene/marks.js";
import { column, lines, row, text, wire, wired } from "../../web/scene/layout.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { nameOf, plane } from "./plane.js";
import { tokens } from "../../web/scene/tokens.js";

const GRAIN = 10; // positions of an arrow's head per unit
const ROLES = { query: "what it looks for", key: "what it can be matched on", value: "what it passes on" };

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const { tokens: names, word } = numbers;
  const patch = (i) => ({ word: i, dq: [0, 0] });
  const press = (i) => ({ label: `Follow ${names[i]}`, pressed: i === word, patch: patch(i) });
  const chips = tokens("chip", names, { chosen: word, press, cell: 5.6 });
  const above = row(text("chips", "Token", "muted"), chips);
  return column({ gap: 1.2 }, above, ({ roles, five }[moment.step] ?? vectors)(numbers, moment));
}

const pair = (values) => `(${listed(values)})`;
const upright = (values) => values.map((value) => [value]);

/** x of one token, three matrices, three vectors. */
function roles(numbers, { inputs }) {
  const { word, token, tokens: names, x } = numbers;
  const rows = Object.entries(ROLES).map(([term, role]) => {
    const name = term[0];
    const [weights, values] = [numbers[`w${name}`], numbers[name][word]];
    const label = (i, j) => `Matrix of ${term === "query" ? "queries" : `${term}s`}, row ${i}, column ${j}`;
    const edit = (i, j) => typed(inputs, `w${name}`, 3 * i + j, label(i, j), weights[i][j]);
    const tip = (_, i) => `${name}[${i}] = ${writtenSum(weights[i], x[word])}`;
    const of = (i) => [...rowOf(`w${name}`, i, 3), ...columnOf("x", 0, 3)];
    const projection = matrix(`w${name}`, weights, { title: `W_{${name.toUpperCase()}}`, term, edit });
    const title = `${term} ${name}_{${token}}`;
    const result = matrix(name, upright(values), { title, term, tip, of, cell: 4 });
    const said = text(`${name}/role`, role, "muted small");
    return row({ gap: 6 }, projection, column({ gap: 0 }, result, said));
  });
  const edit = (i) => typed(inputs, "x", 3 * word + i, `${names[word]}, feature ${i}`, x[word][i]);
  const look = { title: `x_{${token}}`, about: `x of ${token}`, edit, cell: 3.6 };
  const band = (key, from, to, term) => wire(key, from, to, `/${term} 20 flat runs`, { opacity: 0.3 });
  const bands = Object.keys(ROLES).flatMap((term) => [
    band(`${term[0]}/in`, "x/1.0", `w${term[0]}/0.0`, term),
    band(`${term[0]}/out`, `w${term[0]}/0.2`, `${term[0]}/0.0`, term),
  ]);
  const all = column({ gap: 0.6, align: "start" }, ...rows);
  return wired(row({ gap: 6 }, matrix("x", upright(x[word]), look), all), ...bands);
}

/** The query and the keys as arrows, then what follows from them. */
function vectors(numbers, moment) {
  const { tokens: names, query, keys } = numbers;
  const scored = moment.reached("score");
  const drawn = plane("plane", scored ? 17 : 22, [query, ...keys], (to, range) => [
    ...(scored ? feet(numbers, to, range) : []),
    ...arrows(numbers, moment, to, range),
  ]);
  if (!scored) return drawn;
  const sums = names.map((name, i) => `q·k_{${name}} = ${writtenSum(query, keys[i])}`);
  const beside = column(moment.reached("output") && mixture(numbers), scoreList(numbers, moment));
  return row({ gap: 2 }, column(drawn, lines("sum", sums)), beside);
}

/** Each arrow with its name, and a head to drag. */
function arrows({ token, tokens: names, query, keys, q, k, word }, { inputs }, to, range) {
  const arrow = (term, key, at, each, vector, from) => {
    const [short, label] = [term[0], `${term === "query" ? "Query" : "Key"} of ${each}`];
    return { term, key, at, vector, from, label, input: `d${short}`, name: `${short}_{${each}}` };
  };
  const given = names.map((each, i) => arrow("key", `key${i}`, 2 * i, each, keys[i], k[i]));
  const all = [...given.reverse(), arrow("query", "query", 0, token, query, q[word])];
  const head = ({ key, label, vector, from, input, at, term }) => {
    const round = (value) => Math.round(Math.min(range, Math.max(-range, value)) * GRAIN) / GRAIN;
    const moved = (values) => {
      const [a, b] = values.map((value, i) => Number((round(value) - from[i]).toFixed(4)));
      return { [input]: replaced(replaced(inputs[input], at, a), at + 1, b) };
    };
    const move = (x, y) => moved(to.from(x, y));
    const nudge = (dx, dy) => moved([vector[0] + dx / GRAIN, vector[1] - dy / GRAIN]);
    const handle = { label, value: pair(vector), move, nudge };
    return circle(`${key}/head`, to(vector), 0.67, term, { opacity: 0.3, handle });
  };
  const shaft = ({ key, vector, term }) =>
    line(key, [...to([0, 0]), ...to(vector)], `/${term} ${term === "query" ? 4 : 3} arrow`);
  const labels = all.map(({ key, vector, name, term }) => nameOf(key, to, vector, name, term, range));
  return [...all.map(shaft), ...labels, ...all.map(head)];
}

/** The line of the query, and where each key meets it at a right angle. */
function feet({ query, keys, products }, to, range) {
  const far = query[0] ** 2 + query[1] ** 2;
  if (far < 1e-6) return [];
  const end = query.map((value) => (value * range) / Math.max(...query.map(Math.abs)));
  const ends = [...to(end.map((value) => -value)), ...to(end)];
  const foot = (key, i) => {
    const meets = query.map((value) => (value * products[i]) / far);
    const isInside = meets.every((value) => Math.abs(value) <= range);
    return isInside ? [line(`feet/${i}`, [...to(key), ...to(meets)], "/muted 1.4 dashed")] : [];
  };
  return [line("feet/line", ends, "/query 1", { opacity: 0.5 }), ...keys.flatMap(foot)];
}

function scoreList({ tokens: names, token, scores: values, weights, exponentials, total }, { reached }) {
  const tip = (i) =>
    `weight = exp(${fixed(values[i])}) / ${fixed(total)} = ${fixed(exponentials[i])} / ${fixed(total)} = ${fixed(weights[i], 4)}`;
  const weight = { head: "weight", values: weights, bar: 5, most: 1, term: "weight", tip };
  const look = { about: `The query of ${token}`, term: "key", tall: reached("output") ? 1.6 : 2.6 };
  const rows = names.map((name) => `k_{${name}}`);
  return list("row", rows, [{ head: "q·k / √2", values }, reached("weights") && weight], look);
}

/** The values as arrows, and their weighted sum. */
function mixture({ tokens: names, v, weights, contributions, output }) {
  const tip = `${names.map((_, i) => `${fixed(weights[i])}·${pair(v[i])}`).join(" + ")} = ${pair(output)}`;
  const ends = [[0, 0]];
  for (const [a, b] of contributions) ends.push([ends[ends.length - 1][0] + a, ends[ends.length - 1][1] + b]);
  const part = (to, i) => {
    const product = `${fixed(weights[i])} · ${pair(v[i])} = ${pair(contributions[i])}`;
    const look = { opacity: 0.4, tip: `${fixed(weights[i])} · v ${names[i]} = ${product}` };
    return line(`part${i}`, [...to(ends[i]), ...to(ends[i + 1])], "/value 7", look);
  };
  const drawn = plane("values", 11, v, (to, range) => [
    joined("values/hull", "value", v.map(to), { opacity: 0.1 }),
    ...v.map((each, i) =>
      line(`value${i}`, [...to([0, 0]), ...to(each)], "/value 2 arrow", { opacity: 0.65 }),
    ),
    ...v.map((_, i) => part(to, i)),
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
  const plain = { digits: 1, lit: (i) => i === word };
  const edit = (i, j) => typed(inputs, "x", 3 * i + j, `${names[i]}, feature ${j}`, x[i][j]);
  const products = Object.keys(ROLES).map((term, i) => {
    const [name, upper] = [term[0], term[0].toUpperCase()];
    const tip = (_, at, j) => `${name} of ${names[at]} [${j}] = ${writtenSum(numbers[`w${name}`][j], x[at])}`;
    const title = `${i + 1}  ${upper} = X W_{${upper}}ᵀ`;
    return matrix(upper, numbers[name], { ...plain, term, tip, title, of: (at) => rowOf("X", at, 3) });
  });
  const score = matrix("S", scored, {
    ...{ ...plain, title: "4  Q Kᵀ / √2", kind: "signed" },
    tip: (value, i, j) => `${names[i]} with ${names[j]}: (${writtenSum(q[i], k[j])}) / √2 = ${fixed(value)}`,
    of: (i, j) => [...rowOf("Q", i, 2), ...rowOf("K", j, 2)],
  });
  const weight = matrix("A", shares, {
    ...{ ...plain, title: "weights", kind: "weights", digits: 2, term: "weight" },
    tip: (share, i, j) =>
      `${names[i]} gives ${names[j]} the weight exp(${bracketed(fixed(scored[i][j]))}) / the row's sum = ${fixed(share, 4)}`,
    of: (i) => rowOf("S", i, scored[i].length),
  });
  const output = matrix("O", numbers.all_outputs, {
    ...{ ...plain, title: "5  output", term: "output" },
    tip: (_, i, j) => `output of ${names[i]} [${j}] = ${writtenSum(shares[i], nth(v, j))}`,
    of: (i, j) => [...rowOf("A", i, v.length), ...columnOf("V", j, v.length)],
  });
  const softmax = text("five/softmax", "↓ softmax, row by row", "muted small");
  const given = matrix("X", x, { ...plain, title: "X", rows: names, edit });
  const weighed = column({ gap: 0.8 }, score, softmax, weight);
  const part = row({ gap: 2.6 }, given, column({ gap: 0.8 }, ...products), weighed, output);
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
