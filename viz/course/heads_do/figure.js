// What heads do: arrows above a repeated text, and the maps of four heads below it.

import { arc, column, framed, row, text, wired } from "../../web/scene/layout.js";
import { fixed } from "../../web/scene/marks.js";
import { list } from "../../web/scene/list.js";
import { matrix } from "../../web/scene/matrix.js";
import { tokens } from "../../web/scene/tokens.js";

const LEAST = 0.1; // weight of an arrow that is shown
const SIDE = 8; // of a map
const PREVIOUS = 0; // the previous-token head among those of SmolLM2

/** What is drawn at a step. */
export function picture(numbers, moment) {
  const title = text("arrows/name", titleOf(numbers, moment), "bold");
  const read = wired(column({ gap: 7.5 }, title, words(numbers, moment)), ...arrows(numbers, moment));
  const below = moment.step === "ablate" && losses(numbers);
  return column({ gap: 1 }, read, maps(numbers, moment), below);
}

/** The network as the step shows it: whole, or with a head ablated. */
const now = (numbers, { step }) => (step === "ablate" && numbers.changed) || numbers;

/** Whether one token is followed. */
const isSingle = ({ step }) => step === "induction" || step === "ablate";

function titleOf({ names, head }, moment) {
  const arrow = isSingle(moment)
    ? "arrow from a token to its key"
    : moment.step === "sink"
      ? "arrows to the first token"
      : "arrows from each token to its keys";
  return `${names[head]}: ${arrow}`;
}

/** Arcs from queries to keys, as thick as their weights; for an induction head the token before the key, too. */
function arrows(numbers, moment) {
  const { tokens: read, query, names, head } = numbers;
  const weights = now(numbers, moment).weights[head];
  const isShown = (i, j) =>
    weights[i][j] >= LEAST &&
    (isSingle(moment) ? i === query : i !== j) &&
    !(moment.step === "sink" && j > 0);
  const arrow = (weight, i, j) => {
    const tip = `${names[head]}: “${read[i]}” gives “${read[j]}” ${fixed(weight, 3)}`;
    const look = { width: 0.8 + 3.2 * weight, opacity: 0.35 + 0.65 * weight, tip };
    return isShown(i, j) && arc(`a${i}.${j}`, `t${i}`, `t${j}`, "/weight", look);
  };
  const arcs = weights.flatMap((row_, i) => row_.map((weight, j) => arrow(weight, i, j)));
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
  const label = (i) => `Follow “${read[i]}” at position ${i}`;
  const chosen = (i) => single && i === query;
  const given = tokens("t", read, {
    cell,
    press: (i) => single && { label: label(i), pressed: i === query, patch: { query: i } },
    words: (i) => (chosen(i) ? "surface/query 2.5" : "background/line 1"),
    letters: (i) => ({ bold: chosen(i) }),
  });
  if (!moment.reached("induction") || moment.step === "sink") return given;
  const { best } = now(numbers, moment);
  const letters = (i) => {
    const { token, share } = best[i];
    const tip = `After “${read[i]}” the likeliest is “${token}”, ${fixed(share, 3)}`;
    return { term: "output", fill: "output", bold: read[i + 1] === token, opacity: 0.5 + 0.5 * share, tip };
  };
  const next = best.map(({ token }) => token);
  const predicted = tokens("p", next, { cell, words: () => "none", letters });
  return column({ gap: 0.1, align: "start" }, given, text("p/name", "predicts", "output small"), predicted);
}

/** What is measured of each head below its map, its name, and what pressing the map does. */
function measured({ roles, tests }, step, head, isGone) {
  const mean = (role, what) => ({
    value: roles[role][head],
    name: `mean weight on ${what}`,
    patch: { head },
  });
  if (step === "sink") return mean("first", "the first token");
  if (step === "induction") return mean("induction", "what followed last time");
  if (step !== "ablate") return mean("previous", "the token before");
  const name = `next token right without the head; with all: ${fixed(tests[0].accuracy)}`;
  return { value: tests[head + 1].accuracy, name, patch: { ablated: isGone ? "none" : String(head) } };
}

function maps(numbers, moment) {
  const { tokens: read, query, ablated, names, head: followed } = numbers;
  const { step } = moment;
  const { weights } = now(numbers, moment);
  const ablating = step === "ablate";
  const all = names.map((title, head) => {
    const gone = ablating && ablated === String(head);
    const chosen = ablating ? gone : head === followed;
    const { value, patch } = measured(numbers, step, head, gone);
    const masked = weights[head].map((each, i) => each.map((weight, j) => (j > i ? null : weight)));
    const lit = (i, j) => (isSingle(moment) && i === query) || (step === "sink" && j === 0);
    const side = SIDE / read.length;
    const cells = { kind: "weights", digits: -1, cell: side, tall: side, about: `Weights: ${title}` };
    const map = matrix(`m${head}`, masked, { ...cells, lit, more: () => (gone ? { opacity: 0.25 } : {}) });
    const press = { label: ablating ? `Ablate ${title}` : title, pressed: chosen, patch };
    const bar = { values: [value ?? 0], bar: SIDE - 3, most: 1, term: ablating ? "" : "weight" };
    return column(
      { gap: 0.2 },
      text(`m${head}/name`, title, chosen ? "bold small" : "small"),
      framed(`m${head}/frame`, map, chosen ? "/primary 3" : "/line 1", { press }),
      list(`m${head}/value`, [""], [{ ...bar, said: () => (value === null ? "–" : fixed(value)) }]),
    );
  });
  const under = text("under", measured(numbers, step, 0, false).name, "small");
  return column({ gap: 0.2 }, row({ gap: 0.8 }, ...all), under);
}

/** The loss without the two heads of the circuit and that which is switched off, and without others of both layers. */
function losses({ controls: { median, most }, tests, names, ablated }) {
  const heads = names.map((_, head) => head).filter((head) => head < 2 || String(head) === ablated);
  const rows = ["no head", ...heads.map((head) => names[head]), "another: middle", "at most"];
  const values = [tests[0].loss, ...heads.map((head) => tests[head + 1].loss), median, most];
  const fill = (i) => (String(heads[i - 1]) === ablated ? "primary" : "muted");
  const look = { about: "Loss with a head switched off", head: "switched off", tall: 1.15 };
  return list("loss", rows, [{ head: "loss", values, bar: 14, fill }], look);
}
