// Soft dictionary: values flow to the answer, each in proportion to its weight.

import { column, row, text, wire, wired } from "../../web/scene/layout.js";
import { list } from "../../web/scene/list.js";
import { fixed } from "../../web/scene/marks.js";
import { tokens } from "../../web/scene/tokens.js";

/** What is drawn at a step. */
export function picture(numbers, { reached, inputs }) {
  const { query, keys, values, distances, similarities, total, weights, contributions, answer } = numbers;
  const [scored, weighted, flowing] = [reached("similarity"), reached("softmax"), reached("flow")];
  const exact = scored ? -1 : keys.indexOf(query);
  const temperature = fixed(Number(inputs.temperature));
  const similarity = {
    ...{ head: "similarity s", values: similarities, digits: 3 },
    tip: (i) =>
      `s(${query}, ${keys[i]}) = exp(−${distances[i]}) = ${fixed(similarities[i], 4)}: ${distances[i]} letters differ`,
  };
  const weight = {
    ...{ head: "weight α", values: weights, digits: 3, bar: 4, most: 1, term: "weight" },
    tip: (i) =>
      `α = exp(${fixed(similarities[i], 3)} / ${temperature}) / ${fixed(total, 3)} = ${fixed(weights[i], 4)}`,
    of: () => keys.map((_, j) => `k${j}/0`),
  };
  const parts = contributions.map((each) => fixed(each, 2));
  const end = flowing ? fixed(answer) : exact >= 0 ? fixed(values[exact], 0) : scored ? "?" : "no answer";
  const tip = flowing ? `${parts.join(" + ")} = ${end}` : undefined;
  const columns = [
    scored && similarity,
    weighted && weight,
    { head: "values v", values, digits: 0, term: "value" },
  ];
  const asked = tokens("query", [String(inputs.query) || "…"], { words: () => "surface/query 2" });
  const answered = tokens("answer", [end], {
    words: () => "surface/output 2",
    more: () => ({ key: "answer", tip }),
  });
  const all = row(
    { gap: 3.4 },
    column({ gap: 0.2 }, text("query/name", "query q", "query"), asked),
    list("k", keys, columns, {
      about: "The dictionary",
      head: "keys k",
      term: "key",
      tall: 3.4,
      lit: exact,
    }),
    column({ gap: 0.2 }, text("answer/name", "answer", "output bold"), answered),
  );
  const similar = (i) => ({ width: 0.8 + 5 * similarities[i], opacity: 0.2 + 0.5 * similarities[i] });
  const flows = (i) => ({
    width: Math.max(0.5, 40 * weights[i]),
    opacity: 0.45,
    tip: `${fixed(weights[i], 4)} · ${fixed(values[i], 0)} = ${parts[i]}`,
  });
  const last = Number(scored) + Number(weighted);
  return wired(
    all,
    ...keys.map((_, i) => scored && wire(`s${i}`, "query0", `k${i}`, "/query flat", similar(i))),
    ...keys.map((_, i) => flowing && wire(`f${i}`, `k${i}/${last}`, "answer", "/value flat runs", flows(i))),
  );
}
