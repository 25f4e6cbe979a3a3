// Self-attention by hand: a film and a viewer, then two words, with every sum written out.

import { column, grid, lines, row, text, wire, wired } from "../../web/scene/layout.js";
import {
  bracketed,
  circle,
  columnOf,
  fixed,
  line,
  nth,
  rect,
  rowOf,
  say,
  signedOf,
  typed,
  writtenSum,
} from "../../web/scene/marks.js";
import { matrix } from "../../web/scene/matrix.js";
import { plot } from "../../web/scene/plot.js";

const TASTES = ["romance", "action", "comedy"];
const WORDS = ["word 0", "word 1"];
const FEATURES = ["feature 0", "feature 1", "feature 2"];

/** What is drawn at a step. */
export function picture(numbers, moment) {
  if (!moment.reached("scores")) return ratings(numbers, moment);
  const below = moment.reached("mix") ? mixture(numbers) : sums(numbers, moment);
  return column({ gap: 1.6 }, scores(numbers, moment), below);
}

/** What a film offers, what a viewer likes, and the sum of the products. */
function ratings({ film, viewer, products, match }, { inputs, reached }) {
  const cells = { cell: 7, tall: 2.4, cols: TASTES };
  const given = (name, term, values) => {
    const edit = (_, i) => typed(inputs, name, i, `${name}, ${TASTES[i]}`, values[i]);
    return matrix(name, [values], { ...cells, term, edit, rows: [`${name} `], about: `The ${name}` });
  };
  const tip = (value, _, i) =>
    `${TASTES[i]}: ${bracketed(fixed(film[i]))} · ${bracketed(fixed(viewer[i]))} = ${fixed(value)}`;
  const of = (_, i) => [`film/0.${i}`, `viewer/0.${i}`];
  const sum = { ...cells, rows: ["product"], kind: "signed", tip, of, about: "The products" };
  const written = products.map((value) => bracketed(fixed(value))).join(" + ");
  return column(
    given("film", "key", film),
    given("viewer", "query", viewer),
    ...(reached("match")
      ? [matrix("product", [products], sum), waterfall(film, viewer, products, match)]
      : []),
    reached("match") && text("sum/text", `viewer · film = ${written} = ${fixed(match)}`, "bold large"),
  );
}

/** The products as bars, each from the end of the one before. */
function waterfall(film, viewer, products, match) {
  const far = Math.max(1.5, ...products.map(Math.abs)) * 1.2;
  const look = { x: [-far, far], y: [0, 3.4], ticks: { x: [[0, "0"]], y: [] }, wide: 30, high: 5 };
  const tip = `Viewer · film = ${writtenSum(film, viewer)}`;
  return plot("sum", look, ({ x, y }) => [
    line("zero", [x(0), y(0), x(0), y(3.4)], "/muted 1 dashed"),
    ...products.flatMap((value, i) => {
      const before = products.slice(0, i).reduce((sum, each) => sum + each, 0);
      const [from, to, top] = [x(before), x(before + value), y(3.3 - i)];
      const box = [Math.min(from, to), top, Math.abs(to - from), 1.1];
      return [
        rect(`bar${i}`, box, "/line", { fill: signedOf(0.6 * Math.sign(value)) }),
        say(`bar${i}/name`, [x(-far), top + 0.55], `${i ? "then" : "first"} ${TASTES[i]}`, "muted start"),
      ];
    }),
    circle("sum", [x(match), y(0)], 0.45, "text", { tip, of: rowOf("product", 0, 3) }),
  ]);
}

/** The words as queries at the left, as keys above, and their dot products where they meet; their softmax. */
function scores(numbers, { inputs, reached }) {
  const { x, row: at, scores: products, exponentials, shifts, sums: totals, weights } = numbers;
  const digits = Math.max(...x.flat().map(Math.abs)) < 10 ? 4 : 2;
  const edit = (i, j) => typed(inputs, "x", 3 * i + j, `${WORDS[i]}, ${FEATURES[j]}`, x[i][j]);
  const lit = (i) => i === at;
  const turned = FEATURES.map((_, j) => nth(x, j));
  const queries = {
    ...{ title: "X: queries", term: "query", rows: WORDS, digits, edit, lit },
    follow: (i) => ({ label: `Follow ${WORDS[i]}`, pressed: lit(i), patch: { row: i } }),
  };
  const meeting = {
    ...{ title: "scores X Xᵀ", cols: WORDS, digits, lit },
    tip: (_, i, j) => `${WORDS[i]} · ${WORDS[j]} = ${writtenSum(x[i], x[j], 4)}`,
    of: (i, j) => [...rowOf("X", i, 3), ...columnOf("T", j, 3)],
  };
  const shares = {
    ...{ title: "weights", term: "weight", kind: "weights", digits: 4, lit, cols: WORDS },
    tip: (share, i, j) =>
      `exp(${exponent(products[i][j], shifts[i])}) / ${fixed(totals[i], 4)} = ${fixed(exponentials[i][j], 4)} / ${fixed(totals[i], 4)} = ${fixed(share, 4)}`,
    of: (i) => rowOf("S", i, 2),
  };
  const keys = matrix("T", turned, { title: "Xᵀ: keys", term: "key", digits, edit: (j, i) => edit(i, j) });
  const beside = reached("softmax")
    ? matrix("A", weights, shares)
    : lines("hint", ["rows: who asks", "columns: who is asked"], "muted");
  const all = grid(2, [
    [null, keys, null],
    [matrix("X", x, queries), matrix("S", products, meeting), beside],
  ]);
  return wired(all, reached("softmax") && wire("softmax", "S/0.1", "A/0.0", "/muted 2 arrow"));
}

const exponent = (score, shift) => `${fixed(score, 4)}${shift ? ` − ${bracketed(fixed(shift, 4))}` : ""}`;

/** The followed row, written out. */
function sums({ x, row: at, scores: products, exponentials, shifts, sums: totals, weights }, { reached }) {
  const shares = exponentials[at].map((each) => fixed(each, 4));
  const written = WORDS.map((name, j) => `${WORDS[at]} · ${name} = ${writtenSum(x[at], x[j], 4)}`);
  const softmax = WORDS.map(
    (_, j) =>
      `exp(${exponent(products[at][j], shifts[at])}) / (${shares.join(" + ")}) = ${shares[j]} / ${fixed(totals[at], 4)} = ${fixed(weights[at][j], 4)}`,
  );
  return column(
    { align: "start" },
    lines("sum", written),
    reached("softmax") && lines("share", softmax, "weight"),
  );
}

/** The output, and for each feature where it lies between the words. */
function mixture({ x, row: at, weights, outputs }) {
  const sum = (i, j) => writtenSum(weights[i], nth(x, j), 4);
  const word = (i, j) => `${WORDS[i]}, ${FEATURES[j]}: ${fixed(x[i][j], 4)}`;
  const title = `between the words: the output of ${WORDS[at]}`;
  const low = Math.min(0, ...x.flat());
  const look = { x: [low, Math.max(...x.flat(), 1e-6)], y: [0, 3], ticks: { y: [] }, wide: 12, high: 6 };
  const between = plot("between", look, ({ x: across, y }) =>
    FEATURES.flatMap((name, j) => {
      const [down, tip] = [y(2.5 - j), `${name}: ${sum(at, j)}`];
      const [a, b] = x.map((each) => across(each[j]));
      return [
        say(`line${j}/name`, [across(low) - 0.6, down], name, "muted end"),
        line(`line${j}/span`, [a, down, b, down], "/value 6", { opacity: 0.25, tip }),
        ...[a, b].flatMap((end, i) => [
          circle(`dot${j}.${i}`, [end, down], 0.65, "background/value 2", { tip: word(i, j) }),
          say(`dot${j}.${i}/name`, [end, down], String(i), "value", { size: 0.9 }),
        ]),
        circle(`out${j}`, [across(outputs[at][j]), down], 0.4, "output/background 1", { tip }),
      ];
    }),
  );
  const output = {
    ...{ title: "Y = weights · X", term: "output", rows: WORDS, digits: 4, lit: (i) => i === at },
    tip: (_, i, j) => `${WORDS[i]}, ${FEATURES[j]}: ${sum(i, j)}`,
    of: (i, j) => [...rowOf("A", i, 2), ...columnOf("X", j, 2)],
  };
  return row({ gap: 5.5 }, matrix("Y", outputs, output), column(text("lines/head", title, "muted"), between));
}
