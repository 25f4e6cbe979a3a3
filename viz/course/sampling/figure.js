// Sampling: bars that temperature moves and a line cuts off; then a cache that grows by a column.

import { column, lines, overlaid, row, text, wire, wired } from "../../web/scene/layout.js";
import { fixed, grouped, line, nth } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";

/** What is drawn at a step. */
export const picture = (numbers, moment) =>
  moment.step === "cache" ? cache(numbers) : shares(numbers, moment);

/** The likeliest words, and the line of top-k. */
function shares({ words, logits, plain, warm, drawn, others, together, count }, { reached, inputs }) {
  const [warmed, cut] = [reached("temperature"), reached("cut")];
  const before = [...plain, others.plain];
  const heated = [...warm, others.warm];
  const left = [...drawn, others.drawn];
  const isGone = (i) => cut && left[i] === 0;
  const values = !warmed ? before : heated.map((share, i) => (cut && !isGone(i) ? left[i] : share));
  const tip = (i) => {
    if (i === words.length) return `${grouped(count - i)} words together: ${fixed(values[i], 4)}`;
    const after = cut ? `, ${isGone(i) ? "cut off" : fixed(left[i], 4)} after the cut` : "";
    return `z = ${fixed(logits[i])}: ${fixed(plain[i], 4)} at T = 1, ${fixed(warm[i], 4)} at T = ${fixed(Number(inputs.temperature))}${after}`;
  };
  const share = {
    ...{ head: cut ? "drawn from" : "probability of the next word", values, digits: 3, tip },
    ...{ bar: 16, most: 1, term: "output" },
    more: (i) => (isGone(i) ? { fill: "line" } : {}),
    said: (i) => (isGone(i) ? "cut off" : fixed(values[i], 3)),
  };
  const columns = [
    share,
    warmed && { head: "T = 1", values: before, digits: 3 },
    cut && { head: "together", values: [...together, ""], digits: 3 },
  ];
  const more = (i) => (i === words.length || isGone(i) ? { fill: "muted" } : {});
  const rest = `${grouped(count - words.length)} others`;
  const part = list("b", [...words, rest], columns, { about: "The next word", more, tall: 1.9 });
  if (!cut || !inputs.k) return part;
  return overlaid(part, (at) => {
    const { x, y, h } = at(`b${Number(inputs.k) - 1}`);
    const low = y + h / 2 + 0.95;
    return [line("cut", [x, low, x + part.w, low], "/primary 2")];
  });
}

/** Keys and values of the tokens, a column each; the query of the last one takes its shares of them. */
function cache({ tokens, keys, values, query, weights, small }) {
  const last = tokens.length - 1;
  const cells = { kind: "signed", most: 3, digits: -1, cell: Math.min(2.6, 29 / tokens.length), tall: 0.95 };
  const named = (term, vectors, cols, name = `${term}s`) => {
    const ofQuery = term === "query";
    const tip = (value, i, j) => {
      const token = ofQuery ? last : j;
      const source = token < last ? ", from the cache" : "";
      return `${term} of “${tokens[token]}”, feature ${i}: ${fixed(value, 3)}${source}`;
    };
    const look = { ...cells, stroke: term, tip, lit: (_, j) => !ofQuery && j === last, cols };
    const turned = query.map((_, i) => nth(vectors, i));
    const title = text(`${term}/name`, name, `${term} bold`);
    return row({ gap: 0.6 }, title, matrix(term[0], turned, { ...look, about: ofQuery ? "" : name }));
  };
  const counts = [
    `without a cache: ${grouped(small.without)} multiplications`,
    `with it: ${grouped(small.with)}`,
  ];
  const title = last === 1 ? "1 token cached, 1 computed" : `${last} tokens cached, 1 computed`;
  const part = column(
    { align: "end" },
    row(text("cache/title", title, "bold")),
    named("key", keys, tokens),
    named("value", values, []),
    column({ gap: 2.4 }, text("space", ""), named("query", [query], [], "query")),
    lines("small", counts),
  );
  const share = (weight, i) => {
    const tip = `“${tokens[last]}” gives “${tokens[i]}” ${fixed(weight, 3)}`;
    const look = { width: 0.6 + 7 * weight, opacity: 0.25 + 0.7 * weight, tip };
    return wire(`w${i}`, "q/0.0", `v/${query.length - 1}.${i}`, "/weight", look);
  };
  return wired(part, ...weights.map(share));
}
