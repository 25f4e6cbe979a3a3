// The way from the first token to the last: through every state, through layers of windows, or at once.

import { plot } from "../../web/scene/plot.js";
import { arc, column, text, wire, wired } from "../../web/scene/layout.js";
import { circle, fixed, line, percent, power, weightOf } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";
import { tokens } from "../../web/scene/tokens.js";

const WORDS = "Keys near the old cabinet that stood in the dark back hall".split(" "); // more have no room
const LEAST = 0.01; // smaller ratios are written as powers of ten

/** What is drawn at a step. */
export function picture(numbers, { step }) {
  return { sentence, recurrence, convolution, attention }[step](numbers);
}

/** A sentence with arrows from one word to the words that it looks at, and the first of these. */
function sentence({ reads: { words, weights, at } }) {
  const arrow = (weight, i) => {
    const look = { width: 0.8 + 12 * weight, opacity: 0.3 + 0.7 * weight };
    return weight >= LEAST && i !== at && arc(`look${i}`, `w${at}`, `w${i}`, "/weight", look);
  };
  const first = range(words.length)
    .sort((a, b) => weights[b] - weights[a])
    .slice(0, 5);
  const values = first.map((i) => weights[i]);
  const shares = { values, said: (n) => percent(values[n]), bar: 14, most: 1, term: "weight" };
  const title = text("title", `“${words[at]}” looks at`, "bold");
  const read = column({ gap: 7 }, title, tokens("w", words, { chosen: at }));
  const names = first.map((i) => words[i]);
  const below = list("first", names, [shares], { about: "Weights" });
  return column({ gap: 2 }, wired(read, ...weights.map(arrow)), below);
}

/** A positive number, in powers of ten where it is small. */
const short = (value) => (value >= LEAST || value === 0 ? fixed(value, 3) : power(value, 1));

const range = (count) => Array.from({ length: count }, (_, i) => i);

/** How many hops there are, what is above the tokens, and the tokens. */
function above(n, count, unit, name, drawn, note) {
  const cell = 36 / n - 0.3;
  const isEnd = (i) => i === 0 || i === n - 1;
  const words = (i) => (isEnd(i) ? "surface/primary 2.5" : "surface/muted 1");
  const read = tokens("t", range(n).map(String), { cell, words });
  const letters = (i) => ({ size: 0.8, fill: isEnd(i) ? "text" : "muted" });
  const below = { cell, words: () => "none", letters };
  const said = n <= WORDS.length && tokens("word", WORDS.slice(0, n), below);
  return column(
    text("title", `${count} ${unit}${count === 1 ? "" : "s"}`, "bold primary", { size: 1.6 }),
    text("title/name", name, "muted"),
    note && text("state/name", note, "muted small"),
    column({ gap: drawn.h > 3 ? 0.4 : 6 }, drawn, column({ gap: 0 }, read, said)),
  );
}

/** States or outputs above the tokens. */
function states(n, more) {
  const words = (i) => (i === n - 1 ? "background/primary 2.5" : "background/muted 1");
  return tokens("state", Array(n).fill(""), { cell: 36 / n - 0.3, words, more });
}

function recurrence({ tokens: n, count, hops, kept }) {
  const tip = (t) => `After token ${t}, the first token counts ${short(kept[t])} times as much as at first`;
  const all = states(n, (t) => ({ fill: weightOf(kept[t]), tip: tip(t) }));
  const note = "states h: a stronger colour keeps more of the first token";
  const name = `recurrence: from state to state, 0 to ${n - 1}`;
  const part = above(n, count.recurrence, "hop", name, all, note);
  const into = (i) => wire(`in${i}`, `t${i}`, `state${i}`, i ? "/line arrow" : "/primary 2.5 arrow");
  const path = hops.recurrence;
  const steps = path.slice(1).map((to, i) => arc(`hop${i}`, `state${path[i]}`, `state${to}`, "/primary 2"));
  return wired(part, ...range(n).map(into), ...steps);
}

function attention({ tokens: n, count }) {
  const part = above(n, count.attention, "hop", `attention: 0 to ${n - 1}`, states(n), "outputs");
  const link = (i) => wire(`hop${i}`, `t${i}`, `state${n - 1}`, i ? "/muted 1" : "/primary 3 runs");
  return wired(part, ...range(n).map(link).reverse());
}

function convolution({ tokens: n, kernel, count, hops, seen }) {
  const [layers, path, half] = [count.convolution, hops.convolution, kernel >> 1];
  const ticks = { x: [], y: [] };
  const look = { x: [0, n], y: [0, layers + 0.2], ticks, wide: 35.7, high: Math.min(13, 4 * layers) };
  const drawn = plot("layers", look, ({ at }) => {
    const place = (i, layer) => at(i + 0.5, layer);
    const link = (key, from, to, i, words, more) =>
      line(key, [...place(from, i), ...place(to, i + 1)], words, more);
    const fans = path.slice(1).flatMap((to, i) => {
      const from = range(n).filter((each) => Math.abs(each - to) <= half && each !== path[i]);
      const fan = from.map((each) => link(`fan${i}.${each}`, each, to, i, "/line 1"));
      return [...fan, link(`hop${i}`, path[i], to, i, "/primary 3", { flow: true })];
    });
    const dot = (layer, i) => {
      const counts = layer + 1 === layers ? i === n - 1 : seen[layer + 1][i];
      const words = path[layer + 1] === i ? "primary/primary" : counts ? "muted/muted" : "background/line";
      return circle(`dot${layer}.${i}`, place(i, layer + 1), Math.min(0.6, 4 / layers, 9 / n), words);
    };
    return [...fans, ...range(layers).flatMap((layer) => range(n).map((i) => dot(layer, i)))];
  });
  return above(n, layers, "layer", `convolution, window of ${kernel}: 0 to ${n - 1}`, drawn);
}
