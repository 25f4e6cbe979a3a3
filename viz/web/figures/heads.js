// Many heads: a band of numbers that splits into heads, attends in each, and joins again.

import { bars, plot } from "../scene/plot.js";
import { box, column, framed, grid, lines, overlaid, row, text, wire, wired } from "../scene/layout.js";
import { line, rect } from "../scene/marks.js";
import { bracketed, fixed, grouped, list as listed } from "../scene/numbers.js";
import { choice, field, slider } from "../scene/controls.js";
import { heatmap, matrix } from "../scene/matrix.js";
import { list } from "../scene/list.js";
import { tokens } from "../scene/tokens.js";

/** @import {Figure} from "../types" */

const CELL = 2.3;
const PANELS = {
  parameters: "Parameters",
  projections: "Multiplications: projections",
  products: "Multiplications: q·k and weights·v",
  exponentials: "Exponentials; weights to store",
};
const WAITING = text("wait", "MiniLM is reading the sentence …", "muted");

/** @type {Figure} */
export const figure = {
  controls: ({ step, reached, board }) => [
    (step === "deep" || (reached("trained") && !board)) && field("sentence", "Sentence", 80),
    step === "trained" &&
      choice("among", "Habits of weights on", { all: "all tokens", words: "words alone" }),
    reached("split") &&
      !reached("trained") &&
      !board &&
      choice("heads", "Heads", ["1", "2", "3", "4", "6", "12"]),
    reached("trained") && !board && slider("layer", "Layer", [0, 5, 1]),
    step === "cell" && slider("head", "Head", [0, 11, 1]),
  ],

  asks({ step }) {
    if (step === "cell") return { trained: "cell", element: 0 }; // which element is read is asked of no one
    return step === "trained" ? { trained: "yes" } : {};
  },

  picture(numbers, moment) {
    if (moment.step === "trained") return trained(numbers.trained, moment);
    if (moment.step === "cell") return opened(numbers, moment);
    return moment.step === "cost" ? costs(numbers) : layer(numbers, moment);
  },

  describe(numbers, { step, reached }) {
    const { words, token, count, width, head, weights, joined, out, costs: all, trained: read } = numbers;
    if (step === "trained" && read)
      return `Weights of the 12 heads of layer ${read.layer} of MiniLM on ${read.tokens.join(" ")}. Closest habits: ${read.names.map((name, i) => `head ${i} ${name}`).join(", ")}.`;
    if (step === "cell" && numbers.cell) {
      const { asks, asked, sum, score, weight, products } = numbers.cell;
      return `The ${products.length} products of the query of ${asks} and the key of ${asked} sum to ${fixed(sum)}: a score of ${fixed(score)}, and a weight of ${fixed(weight, 4)}.`;
    }
    if (step === "cost" || step === "trained" || step === "cell") {
      const now = all[String(count)];
      return `With ${count} heads: ${now.parameters} parameters, ${now.projections} and ${now.products} multiplications, ${now.exponentials} exponentials.`;
    }
    const shares = weights[head][token].map((each, j) => `${words[j]} ${fixed(each)}`).join(", ");
    if (reached("join"))
      return `The outputs of ${count} heads, joined to ${joined.length} numbers, become ${out.length} numbers by W O: ${listed(out)}.`;
    if (reached("maps"))
      return `${count} maps of weights among ${words.length} words. In head ${head}, ${words[token]} attends to: ${shares}.`;
    if (reached("split"))
      return `Query, key and value of ${words[token]}, ${count * width} numbers each, cut into ${count} heads of ${width}.`;
    return `The word ${words[token]} as ${numbers.x.length} numbers, and its query, key and value of ${numbers.q.length} numbers each.`;
  },
};

/** A vector as a row of cells, or the part of it that a head has. */
function band(name, values, look, from = 0) {
  const tip = (value, _, i) => `${name}, feature ${from + i}: ${fixed(value, 3)}`;
  return matrix(`${name}${from}`, [values], {
    kind: "signed",
    most: 3,
    cell: CELL,
    digits: 1,
    stroke: look.term,
    tip,
    about: name,
    ...look,
  });
}

function layer(numbers, { reached }) {
  const { words, token, count, width, head, weights, x, q, k, v, joined, out } = numbers;
  const [mapped, joining] = [reached("maps"), reached("join")];
  const look = mapped ? { digits: -1, tall: 1.1 } : { tall: 2.2 };
  const all = { query: q, key: k, value: v };
  const bands = (from, to) =>
    Object.entries(all).map(([term, values]) =>
      band(term[0], values.slice(from, to), { ...look, term, rows: from ? [] : [term[0]] }, from),
    );
  const headOf = (each) => {
    const name = text(`h${each}/name`, width > 1 ? `head ${each}` : String(each), "bold small");
    const inside = framed(
      `h${each}`,
      column({ gap: 0.2, align: "end" }, ...bands(each * width, (each + 1) * width)),
      `/head${each} 2.5`,
    );
    if (!mapped) return column({ gap: 0.2 }, inside, name);
    const tip = (weight, i, j) => `Head ${each}: “${words[i]}” gives “${words[j]}” ${fixed(weight, 3)}`;
    const lit = (i) => i === token;
    const map = matrix(`map${each}`, weights[each], {
      kind: "weights",
      digits: -1,
      cell: Math.min(1.2, (CELL * width) / words.length),
      term: "weight",
      tip,
      lit,
    });
    const chosen = !joining && each === head;
    const press = { label: `Head ${each}`, pressed: chosen, patch: { head: each } };
    return column(
      { gap: 0.2 },
      inside,
      name,
      framed(`map${each}/frame`, map, `/head${each} ${chosen ? 4 : 2}`, { press }),
    );
  };
  const heads = Array.from({ length: count }, (_, each) => each);
  const press = (j) => ({ label: `Follow “${words[j]}”`, pressed: j === token, patch: { token: j } });
  const part = column(
    { gap: mapped ? 0.9 : 1.6 },
    tokens("word", words, { chosen: token, press, cell: 7 }),
    band("x", x, { ...look, rows: ["x"] }),
    reached("split")
      ? row({ gap: Math.min(1, 3 / count), align: "start" }, ...heads.map(headOf))
      : column(...bands(0, x.length)),
    mapped && !joining && reading(numbers),
    joining &&
      band("joined", joined, {
        ...look,
        rows: ["joined"],
        more: (_, i) => ({ stroke: `head${Math.floor(i / width)}`, width: 2 }),
      }),
    joining && box("mix", "W^{O}: every number from all heads", "surface/line", {}, [CELL * x.length, 1.8]),
    joining && band("out", out, { ...look, rows: ["out"], term: "output" }),
  );
  const middle = Math.floor(x.length / 2);
  return wired(
    part,
    ...heads.map(
      (each) =>
        joining &&
        wire(
          `map${each}/run`,
          `map${each}/frame`,
          `joined0/0.${each * width + Math.floor(width / 2)}`,
          `/head${each} 2.5 runs`,
        ),
    ),
    joining && wire("mix/in", `joined0/0.${middle}`, "mix", "/muted 2"),
    joining && wire("mix/out", "mix", `out0/0.${middle}`, "/muted 2"),
  );
}

/** The row of the followed word in the chosen head. */
function reading({ words, token, head, scores, weights }) {
  const score = { head: "score", values: scores[head][token] };
  const weight = { head: "weight", values: weights[head][token], bar: 11, most: 1, term: "weight" };
  return list(
    "read",
    words.map((word) => `“${word}”`),
    [score, weight],
    { head: `“${words[token]}” in head ${head}`, about: `Head ${head}`, tall: 1.6 },
  );
}

function costs({ costs: all, count }) {
  const counts = Object.keys(all);
  const panels = Object.entries(PANELS).map(([name, title], panel) => {
    const press = (i) => ({
      label: `${counts[i]} heads`,
      pressed: Number(counts[i]) === count,
      patch: { heads: counts[i] },
    });
    const values = counts.map((each) => all[each][name]);
    const look = {
      title,
      name: "heads",
      labels: counts,
      chosen: counts.indexOf(String(count)),
      said: (i) => grouped(values[i]),
    };
    return bars(`cost/${name}/`, values, { ...look, wide: 17, press: panel ? undefined : press });
  });
  return grid(1, [panels.slice(0, 2), panels.slice(2)]);
}

/** A map with the names of its tokens. */
const named = (names, weights, tip) =>
  matrix("big", weights, {
    kind: "weights",
    digits: -1,
    cell: Math.min(1.3, 17 / names.length),
    rows: names,
    cols: names,
    tip,
  });

function trained(read, { inputs }) {
  if (!read) return WAITING;
  const head = Number(inputs.head);
  const { tokens: names, weights, names: habits, layer: depth, scores } = read;
  const small = weights.map((each, i) => {
    const chosen = i === head;
    const press = { label: `Head ${i}: ${habits[i]}`, pressed: chosen, patch: { head: i } };
    const map = framed(`small${i}/frame`, heatmap(`small${i}`, each, 3.8), chosen ? "/primary 3" : "/line", {
      press,
    });
    return column(
      { gap: 0 },
      text(`small${i}/name`, `${i} ${habits[i]}`, chosen ? "bold small" : "muted small"),
      map,
    );
  });
  const tip = (weight, i, j) => `“${names[i]}” gives “${names[j]}” ${fixed(weight, 3)}`;
  const title = `layer ${depth}, head ${head}: ${habits[head]}, ${fixed(scores[head])}`;
  const rows = [0, 3, 6, 9].map((from) => small.slice(from, from + 3));
  return row(
    { gap: 1 },
    grid(0.4, rows),
    column(named(names, weights[head], tip), text("big/title", title, "bold")),
  );
}

const clamp = (value, most) => Math.min(most, Math.max(0, value));

/** A cell of a map, opened: the products of its query and key, and one of them. */
function opened({ trained: read, cell }, { inputs }) {
  if (!read || !cell) return WAITING;
  const { tokens: names, weights, head, layer: depth } = read;
  const { query, key, q, k, products, sum, score, weight } = cell;
  const [last, end] = [names.length - 1, products.length - 1];
  const at = Math.min(Number(inputs.element), end);
  const map = column(named(names, weights[head]), text("big/title", `layer ${depth}, head ${head}`, "bold"));
  const most = Math.max(0.01, ...products.map(Math.abs));
  const product = ({ x, y }) => [
    ...products.map((each, i) =>
      rect(
        `cell/bar${i}`,
        [x(i), y(Math.max(0, each)), x(0.8) - x(0), Math.abs(y(0) - y(each))],
        i === at ? "primary" : "muted",
      ),
    ),
    rect("cell/at", [x(at) - 0.05, y(most), x(1) - x(0), y(-most) - y(most)], "/primary 1.5"),
    rect("cell/pick", [x(0), y(most), x(end + 1) - x(0), y(-most) - y(most)], "none", {
      handle: {
        ...{ label: "The product that is read", now: at, taps: true },
        value: `element ${at}: ${fixed(q[at])} times ${fixed(k[at])} is ${fixed(products[at])}`,
        move: (across) => ({ element: clamp(Math.floor((across - x(0)) / (x(1) - x(0))), end) }),
        nudge: (across, down) => ({ element: clamp(at + across - down, end) }),
      },
    }),
  ];
  const range = `${products.length} products, ${fixed(Math.min(...products), 1)} to ${fixed(Math.max(...products), 1)}`;
  const part = row(
    { gap: 1.6 },
    map,
    column(
      { align: "start", gap: 0.5 },
      lines("cell/query", [`query of “${cell.asks}”`], "query bold"),
      lines("cell/key", [`key of “${cell.asked}”`], "key bold"),
      text("cell/bars", range, "muted"),
      plot(
        "cell/plot",
        { x: [0, end + 1], y: [-most, most], ticks: { x: [], y: [] }, wide: 13, high: 8 },
        product,
      ),
      text("cell/element", `element ${at}: one multiplication`, "muted"),
      text(
        "cell/product",
        `${bracketed(fixed(q[at]))} · ${bracketed(fixed(k[at]))} = ${fixed(products[at])}`,
        "bold large primary",
      ),
      lines("cell/sum", [
        `sum of all ${products.length}: ${fixed(sum)}`,
        `÷ √${products.length}: score ${fixed(score)}`,
        "softmax over the row: weight",
      ]),
      text("cell/share", fixed(weight, 4), "weight bold large"),
    ),
  );
  return overlaid(part, (place) => {
    const [first, chosen] = [place("big/0.0"), place(`big/${query}.${key}`)];
    const { x, y, w } = first;
    const side = w * names.length;
    const handle = {
      ...{
        label: "The cell that is opened",
        value: `“${cell.asks}” gives “${cell.asked}” ${fixed(weight, 3)}`,
        taps: true,
      },
      move: (across, down) => ({
        query: clamp(Math.floor((down - y) / w), last),
        key: clamp(Math.floor((across - x) / w), last),
      }),
      nudge: (across, down) => ({ query: clamp(query + down, last), key: clamp(key + across, last) }),
    };
    const right = place("cell/query0").x - 0.5;
    return [
      line("lens/upper", [chosen.x + w, chosen.y, right, place("cell/query0").y], "/primary 1.2 dashed"),
      line(
        "lens/lower",
        [chosen.x + w, chosen.y + w, right, place("cell/share").y + 1],
        "/primary 1.2 dashed",
      ),
      rect("lens/cell", [chosen.x, chosen.y, w, w], "/primary 2.5"),
      rect("lens/map", [x, y, side, side], "none", { handle }),
    ];
  });
}
