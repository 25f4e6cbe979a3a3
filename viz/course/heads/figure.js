// Many heads: a band of numbers that splits into heads, attends in each, and joins again; and the maps of MiniLM.

import { box, column, framed, grid, row, text, wire, wired } from "../../web/scene/layout.js";
import { fixed } from "../../web/scene/marks.js";
import { heatmap, matrix } from "../../web/scene/matrix.js";
import { list } from "../../web/scene/list.js";
import { tokens } from "../../web/scene/tokens.js";

const CELL = 2.3;

/** What is drawn at a step. */
export function picture(numbers, moment) {
  if (moment.step !== "trained") return layer(numbers, moment);
  return numbers.trained
    ? trained(numbers, moment)
    : text("wait", "MiniLM is reading the sentence …", "muted");
}

/** A vector as a row of cells, or the part of it that a head has. */
function band(name, values, look, from = 0) {
  const tip = (value, _, i) => `${name}, feature ${from + i}: ${fixed(value, 3)}`;
  const cells = { kind: "signed", most: 3, cell: CELL, digits: 1, stroke: look.term };
  return matrix(`${name}${from}`, [values], { ...cells, tip, about: name, ...look });
}

function layer(numbers, { reached }) {
  const { words, token, count, width, head, weights, x, q, k, v, joined, out } = numbers;
  const [mapped, joining] = [reached("maps"), reached("join")];
  const look = mapped ? { digits: -1, tall: 1.1 } : { tall: 2.2 };
  const named = Object.entries({ query: q, key: k, value: v });
  const bands = (from, to) =>
    named.map(([term, values]) =>
      band(term[0], values.slice(from, to), { ...look, term, rows: from ? [] : [term[0]] }, from),
    );
  const headOf = (each) => {
    const name = text(`h${each}/name`, width > 1 ? `head ${each}` : String(each), "bold small");
    const parts = column({ gap: 0.2, align: "end" }, ...bands(each * width, (each + 1) * width));
    const inside = framed(`h${each}`, parts, `/head${each} 2.5`);
    if (!mapped) return column({ gap: 0.2 }, inside, name);
    const tip = (weight, i, j) => `Head ${each}: “${words[i]}” gives “${words[j]}” ${fixed(weight, 3)}`;
    const cell = Math.min(1.2, (CELL * width) / words.length);
    const cells = { kind: "weights", digits: -1, cell, term: "weight", tip, lit: (i) => i === token };
    const chosen = !joining && each === head;
    const press = { label: `Head ${each}`, pressed: chosen, patch: { head: each } };
    const map = matrix(`map${each}`, weights[each], cells);
    const frame = framed(`map${each}/frame`, map, `/head${each} ${chosen ? 4 : 2}`, { press });
    return column({ gap: 0.2 }, inside, name, frame);
  };
  const heads = Array.from({ length: count }, (_, each) => each);
  const press = (j) => ({ label: `Follow “${words[j]}”`, pressed: j === token, patch: { token: j } });
  const coloured = (_, i) => ({ stroke: `head${Math.floor(i / width)}`, width: 2 });
  const middle = Math.floor(x.length / 2);
  const mix = "W^{O}: every number from all heads";
  const split = row({ gap: Math.min(1, 3 / count), align: "start" }, ...heads.map(headOf));
  const part = column(
    { gap: mapped ? 0.9 : 1.6 },
    tokens("word", words, { chosen: token, press, cell: 7 }),
    band("x", x, { ...look, rows: ["x"] }),
    reached("split") ? split : column(...bands(0, x.length)),
    mapped && !joining && reading(numbers),
    joining && band("joined", joined, { ...look, rows: ["joined"], more: coloured }),
    joining && box("mix", mix, "surface/line", {}, [CELL * x.length, 1.8]),
    joining && band("out", out, { ...look, rows: ["out"], term: "output" }),
  );
  if (!joining) return part;
  const to = (each) => `joined0/0.${each * width + Math.floor(width / 2)}`;
  return wired(
    part,
    ...heads.map((each) => wire(`map${each}/run`, `map${each}/frame`, to(each), `/head${each} 2.5 runs`)),
    wire("mix/in", `joined0/0.${middle}`, "mix", "/muted 2"),
    wire("mix/out", "mix", `out0/0.${middle}`, "/muted 2"),
  );
}

/** The row of the followed word in the chosen head. */
function reading({ words, token, head, scores, weights }) {
  const score = { head: "score", values: scores[head][token] };
  const weight = { head: "weight", values: weights[head][token], bar: 11, most: 1, term: "weight" };
  const look = { head: `“${words[token]}” in head ${head}`, about: `Head ${head}`, tall: 1.6 };
  const names = words.map((word) => `“${word}”`);
  return list("read", names, [score, weight], look);
}

/** The maps of a layer, one of them large. */
function trained({ trained: read }, { inputs }) {
  const head = Number(inputs.head);
  const { tokens: names, weights, names: habits, layer: depth, scores } = read;
  const small = weights.map((each, i) => {
    const chosen = i === head;
    const press = { label: `Head ${i}: ${habits[i]}`, pressed: chosen, patch: { head: i } };
    const name = text(`small${i}/name`, `${i} ${habits[i]}`, chosen ? "bold small" : "muted small");
    const frame = chosen ? "/primary 3" : "/line";
    const map = heatmap(`small${i}`, each, 3.8);
    return column({ gap: 0 }, name, framed(`small${i}/frame`, map, frame, { press }));
  });
  const tip = (weight, i, j) => `“${names[i]}” gives “${names[j]}” ${fixed(weight, 3)}`;
  const title = `layer ${depth}, head ${head}: ${habits[head]}, ${fixed(scores[head])}`;
  const rows = [0, 3, 6, 9].map((from) => small.slice(from, from + 3));
  const cell = Math.min(1.3, 17 / names.length);
  const map = matrix("big", weights[head], {
    kind: "weights",
    digits: -1,
    cell,
    rows: names,
    cols: names,
    tip,
  });
  return row({ gap: 1 }, grid(0.4, rows), column(map, text("big/title", title, "bold")));
}
