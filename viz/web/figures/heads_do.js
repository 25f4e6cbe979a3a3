// What heads do: arrows above a repeated text, the maps of four heads below it, and a key to hide.

import { arc, column, framed, free, row, text, wired } from "../scene/layout.js";
import { circle, line, say } from "../scene/marks.js";
import { choice, field } from "../scene/controls.js";
import { fixed } from "../scene/numbers.js";
import { list } from "../scene/list.js";
import { matrix } from "../scene/matrix.js";
import { tokens } from "../scene/tokens.js";

/** @import {Figure} from "../types" */

const LEAST = 0.1; // weight of an arrow that is shown
const SIDE = 8; // of a map
const PREVIOUS = 0; // the previous-token head among those of SmolLM2
const REPEATED = ["induction", "ablate", "sink"];

/** @type {Figure} */
export const figure = {
  controls: ({ step }) => [
    step === "previous" && field("text", "Letters and digits", 12),
    REPEATED.includes(step) && field("words", "Text", 60),
    step === "hide" && field("sentence", "Words", 40),
    step === "hide" && choice("reader", "Layer · head", { 0: "0 · 0", 1: "0 · 1", 2: "1 · 0", 3: "1 · 1" }),
  ],

  picture(numbers, moment) {
    if (moment.step === "hide") return hiding(numbers.reads);
    const read = wired(
      column({ gap: 7.5 }, text("arrows/name", titleOf(numbers, moment), "bold"), words(numbers, moment)),
      ...arrows(numbers, moment),
    );
    return column({ gap: 1 }, read, maps(numbers, moment), losses(numbers, moment));
  },

  describe(numbers, moment) {
    const { tokens: read, query, reads, tests, best, names, controls } = numbers;
    const { step } = moment;
    const all = (values) => names.map((name, i) => `${name} ${said(values[i])}`).join("; ");
    if (step === "hide")
      return `Keys of “${reads.tokens.at(-1)}” in head ${reads.head} of layer ${reads.layer}, with weight and change when hidden: ${reads.tokens.map((token, i) => `${token} ${fixed(reads.weights[i])}, ${fixed(reads.changes[i])}`).join("; ")}.`;
    if (step === "ablate") {
      const without = tests.slice(1);
      const others = ` Loss: ${all(without.map(({ loss }) => loss))}; without each of ${controls.losses.length} other heads ${fixed(controls.losses[0])} to ${fixed(controls.losses.at(-1) ?? 0)}.`;
      return `Share of next tokens predicted right without a head: ${all(without.map(({ accuracy }) => accuracy))}.${others} Here “${now(numbers, moment).best[query].token}” is predicted after “${read[query]}”.`;
    }
    if (step === "induction")
      return `From “${read[query]}” at position ${query} an arrow leads to the key with the most weight in ${names[numbers.followed[step]]}. Predicted next: “${best[query].token}”.`;
    return `Maps of four heads on ${read.join(" ")}. ${step === "sink" ? "Mean weight on the first token" : "Mean weight on the token before"}: ${all(under(numbers, moment).values)}.`;
  },
};

const said = (value) => (value === null ? "–" : fixed(value));

/** The network as the step shows it: whole, or with a head ablated. */
const now = (numbers, { step }) => (step === "ablate" && numbers.changed) || numbers;

/** Whether one token is followed. */
const isSingle = ({ step }) => step === "induction" || step === "ablate";

function titleOf({ names, followed }, moment) {
  const arrow = isSingle(moment)
    ? "arrow from a token to its key"
    : moment.step === "sink"
      ? "arrows to the first token"
      : "arrows from each token to its keys";
  return `${names[followed[moment.step]]}: ${arrow}`;
}

/** Arcs from queries to keys, as thick as their weights; for an induction head the token before the key, too. */
function arrows(numbers, moment) {
  const { tokens: read, query, names, followed } = numbers;
  const head = followed[moment.step];
  const weights = now(numbers, moment).weights[head];
  const single = isSingle(moment);
  const isShown = (i, j) =>
    weights[i][j] >= LEAST && (single ? i === query : i !== j) && !(moment.step === "sink" && j > 0);
  const look = (i, j) => ({
    ...{ width: 0.8 + 3.2 * weights[i][j], opacity: 0.35 + 0.65 * weights[i][j] },
    tip: `${names[head]}: “${read[i]}” gives “${read[j]}” ${fixed(weights[i][j], 3)}`,
  });
  const arcs = read.flatMap((_, i) =>
    read.flatMap((__, j) =>
      isShown(i, j) ? [arc(`a${i}.${j}`, `t${i}`, `t${j}`, "/weight", look(i, j))] : [],
    ),
  );
  const key = weights[query].indexOf(Math.max(...weights[query]));
  const note = moment.step === "induction" && key ? numbers.weights[PREVIOUS][key][key - 1] : 0;
  if (note < LEAST) return arcs;
  const tip = `${names[PREVIOUS]}: “${read[key]}” gives “${read[key - 1]}”, the token before it, ${fixed(note, 3)}`;
  return [...arcs, arc("note", `t${key}`, `t${key - 1}`, "/muted 1.6", { tip })];
}

/** The text, and what is predicted after each token. */
function words(numbers, moment) {
  const { tokens: read, query } = numbers;
  const cell = Math.min(4, 36.5 / read.length - 0.3);
  const single = isSingle(moment);
  const press = (i) =>
    single && { label: `Follow “${read[i]}” at position ${i}`, pressed: i === query, patch: { query: i } };
  const chosen = (i) => single && i === query;
  const given = tokens("t", read, {
    cell,
    press,
    words: (i) => (chosen(i) ? "surface/query 2.5" : "background/line 1"),
    letters: (i) => ({ bold: chosen(i) }),
  });
  if (!moment.reached("induction") || moment.step === "sink") return given;
  const { best } = now(numbers, moment);
  const letters = (i) => ({
    ...{
      term: "output",
      fill: "output",
      bold: read[i + 1] === best[i].token,
      opacity: 0.5 + 0.5 * best[i].share,
    },
    tip: `After “${read[i]}” the likeliest is “${best[i].token}”, ${fixed(best[i].share, 3)}`,
  });
  const next = best.map(({ token }, i) => (read[i] === "begin" ? "" : token));
  return column(
    { gap: 0.1, align: "start" },
    given,
    text("p/name", "predicts", "output small"),
    tokens("p", next, { cell, words: () => "none", letters }),
  );
}

/** What stands under the maps. */
function under({ roles, tests }, { step }) {
  if (step === "ablate")
    return {
      values: tests.slice(1).map(({ accuracy }) => accuracy),
      name: `next token right without the head; with all: ${fixed(tests[0].accuracy)}`,
    };
  if (step === "sink") return { values: roles.first, name: "mean weight on the first token" };
  if (step === "induction")
    return { values: roles.induction, name: "mean weight on what followed last time" };
  return { values: roles.previous, name: "mean weight on the token before" };
}

function maps(numbers, moment) {
  const { tokens: read, query, ablated, names, followed } = numbers;
  const { step } = moment;
  const { weights } = now(numbers, moment);
  const { values, name } = under(numbers, moment);
  const ablating = step === "ablate";
  const all = names.map((title, head) => {
    const gone = ablating && ablated === String(head);
    const chosen = ablating ? gone : head === followed[step];
    const masked = weights[head].map((each, i) => each.map((weight, j) => (j > i ? null : weight)));
    const lit = (i, j) => (isSingle(moment) && i === query) || (step === "sink" && j === 0);
    const more = () => (gone ? { opacity: 0.25 } : {});
    const map = matrix(`m${head}`, masked, {
      kind: "weights",
      digits: -1,
      cell: SIDE / read.length,
      tall: SIDE / read.length,
      lit,
      more,
      about: `Weights: ${title}`,
    });
    const patch = pressing(step, head, gone);
    const press = { label: ablating ? `Ablate ${title}` : title, pressed: chosen, patch };
    const measured = {
      values: [values[head] ?? 0],
      bar: SIDE - 3,
      most: 1,
      term: ablating ? "" : "weight",
      said: () => said(values[head]),
    };
    return column(
      { gap: 0.2 },
      text(`m${head}/name`, title, chosen ? "bold small" : "small"),
      framed(`m${head}/frame`, map, chosen ? "/primary 3" : "/line 1", { press }),
      list(`m${head}/value`, [""], [measured]),
    );
  });
  return column({ gap: 0.2 }, row({ gap: 0.8 }, ...all), text("under", name, "small"));
}

/** What pressing a map does. */
function pressing(step, head, gone) {
  if (step === "previous") return { head };
  if (step === "sink") return { sink: head };
  if (step === "ablate") return { ablated: gone ? "none" : String(head) };
  return { spot: head };
}

/** The loss without each head of two layers: the others as dots, and the heads of the maps by name. */
function losses({ controls, tests, names, ablated }, { step }) {
  if (step !== "ablate") return null;
  const [all, ...without] = tests.map(({ loss }) => loss);
  const most = Math.max(...controls.losses, all, ...without);
  const isNamed = (head) => ablated === String(head) || head <= PREVIOUS + 1; // others are among the dots
  const title = `Loss without one head; dots: the ${controls.losses.length} others of both layers`;
  const table = {
    title: "Loss",
    rows: ["all heads", ...names.map((name) => `without ${name}`)],
    cols: ["cross entropy"],
    values: [all, ...without].map((each) => [each]),
  };
  const drawn = free(
    35,
    3.4,
    (left, top) => {
      const [x, y] = [(loss) => left + 1 + (33 * loss) / most, top + 1.7];
      return [
        line("loss/line", [left + 1, y, left + 34, y], "/muted 1"),
        line("loss/whole", [x(all), y - 0.6, x(all), y + 0.6], "/text 2"),
        say("loss/whole/name", [x(all), y + 1.2], `all heads: ${fixed(all, 1)}`, "small"),
        say("loss/zero", [left + 1, y + 1.2], "0", "muted small"),
        ...controls.losses.map((loss, i) =>
          circle(`loss/other/${i}`, [x(loss), y], 0.27, "muted", {
            opacity: 0.55,
            tip: `without another head: ${fixed(loss)}`,
          }),
        ),
        ...without.flatMap((loss, head) => {
          if (!isNamed(head)) return [];
          const fill = ablated === String(head) ? "primary" : "text";
          const name = `${names[head]}: ${fixed(loss, 1)}`;
          return [
            circle(`loss/${head}`, [x(loss), y], 0.4, fill, {
              tip: `without ${names[head]}: ${fixed(loss)}`,
            }),
            say(`loss/${head}/name`, [Math.min(x(loss), left + 31), y - 1.2], name, `${fill} small`),
          ];
        }),
      ];
    },
    [table],
  );
  return column({ gap: 0 }, text("loss/title", title, "small"), drawn);
}

function hiding({ tokens: read, layer, head, weights, changes, key, words: next, before, after }) {
  const press = (i) => ({ label: `Hide “${read[i]}”`, pressed: i === key, patch: { hidden: i } });
  const weight = {
    head: "weight",
    values: weights,
    bar: 9,
    most: 1,
    term: "weight",
    more: (i) => ({ opacity: i === key ? 0.35 : 1 }),
  };
  const change = { head: "change when hidden", values: changes, bar: 9, most: 1, fill: () => "primary" };
  const share = (name, values) => ({ head: name, values, bar: 9, most: 1, term: "output" });
  return column(
    { gap: 1 },
    text("keys/title", `Layer ${layer}, head ${head} at “${read.at(-1)}”: press a key to hide it`, "bold"),
    list("k", read, [weight, change], { about: "A key hidden", term: "key", lit: key, press }),
    list("n", next, [share("next word", before), share(`without “${read[key]}”`, after)], {
      about: "Next word",
      term: "output",
      tall: 1.5,
    }),
  );
}
