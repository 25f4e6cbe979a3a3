// Faithfulness of a relevance: what happens to the output without its tokens, beside random orders.

import { button } from "../core/bar.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { pathOf } from "../core/sources.js";

/** @import {Curves, Options, Perturbation} from "../types" */
/** @import {State} from "./choices.js" */

/** @typedef {Record<string, string | number>} Query */

const [WIDE, TALL, EDGE] = [220, 110, 12];
const LEAST = 0.01; // of the axis: smaller drops are noise
const SVG = "http://www.w3.org/2000/svg";
const NAMES = /** @type {const} */ ([
  ["comprehensiveness", (/** @type {string} */ unit) => `without the most relevant ${unit}`, "large is faithful"],
  ["sufficiency", (/** @type {string} */ unit) => `with the most relevant ${unit} alone`, "small is faithful"],
]);

/** @param {ArrayLike<number>} values */
const mean = (values) => Array.from(values).reduce((a, b) => a + b, 0) / values.length;

/** @type {[Options["proof"], string][]} ways to test the relevance of patches */
const PROOFS = [
  ["grey", "painted grey"],
  ["drop", "left out"],
  ["deletion", "deletion"],
  ["insertion", "insertion"],
];
/** @type {Partial<Record<Options["proof"], [string, string]>>} what happens, and what patches become */
const PERTURBED = {
  deletion: [
    "Patches are greyed out one after another: a faithful relevance makes the probability fall sooner with the most relevant ones first than in random orders.",
    "grey",
  ],
  insertion: [
    "Patches are put back into the blurred picture: a faithful relevance makes the probability rise sooner with the most relevant ones first than in random orders.",
    "blurred",
  ],
};

/**
 * @param {State} state
 * @param {HTMLElement} parent
 * @param {string} slot
 * @param {boolean} [pictured] whether tokens are patches, which can be taken away in several ways
 */
export function faithful(state, parent, slot, pictured = false) {
  const unit = pictured ? "patches" : "tokens";
  const start = button(`Test by removing ${unit}`, `Faithfulness: remove the relevant ${unit}`, () =>
    state.select({ tested: state.selection.tested === "yes" ? "no" : "yes" }),
  );
  start.removeAttribute("aria-label");
  const ways = element("select", "hs-select", { "aria-label": "How patches are taken away" });
  ways.append(...PROOFS.map(([value, label]) => element("option", "", { value }, label)));
  ways.onchange = () => state.select({ proof: PROOFS[ways.selectedIndex][0] });
  const bar = element("progress", "hs-progress", { "aria-label": "Orders of removal tried" });
  const charts = element("div", "hs-curves");
  const words = element("p", "hs-sentence", { "aria-live": "polite" });
  const choice = element("div", "hs-row", {}, start, ways);
  const box = element("div", "hs-faithful", {}, choice, bar, charts, words);
  parent.append(box);
  /** @type {Curves | Perturbation | null} the first of those drawn */
  let drawn = null;

  /** @param {string} name @param {Query} more */
  const askedOf = (name, more) => {
    const { output } = state.selection;
    return { site: 0, method: name, ...(output ? { output } : {}), ...more };
  };

  /** @param {string} name @param {Query} more */
  function curves(name, more) {
    /** @type {Curves[]} */
    const list = [];
    for (let order = 0; order < (list[0]?.orders ?? 1); order++) {
      const path = pathOf("faithfulness", { ...askedOf(name, more), order });
      const answer = /** @type {Curves | {why: string} | null} */ (state.view.answer(slot, path));
      if (!answer) return { list, why: "" };
      if ("why" in answer) return { list, why: answer.why };
      list.push(answer);
    }
    return { list, why: "" };
  }

  /** @param {Curves[]} list */
  function draw(list) {
    const lines = NAMES.map(([name]) => list.map((each) => each[name]));
    const all = lines.flat(2);
    const span = spanOf(Math.min(0, ...all), Math.max(LEAST, ...all), list[0].counts, unit);
    charts.replaceChildren(
      ...NAMES.map(([name, what, good], i) => {
        const node = chart(lines[i], span);
        node.setAttribute("aria-label", `${name}: drop of the output ${what(unit)}`);
        const title = element("span", "", {}, `Drop ${what(unit)} (${good})`);
        return element("figure", "hs-curve", {}, title, node);
      }),
    );
    const report = NAMES.map(([name], i) => {
      const [mine, ...random] = lines[i].map(mean);
      const band = `${Math.min(...random).toFixed(3)} to ${Math.max(...random).toFixed(3)}`;
      return `${name} ${mine.toFixed(3)} (random orders ${band})`;
    });
    const { value, tokens, removal, read } = list[0];
    /** @type {Record<string, string>} */
    const how = { mask: "masked", drop: "left out", grey: "painted grey" };
    const [first, second] = report;
    const kept = read ? "special ones and what the decoder reads stay" : "special ones stay";
    const unlike = pictured ? `A picture whose patches are ${how[removal]} is` : "A text without tokens is";
    setText(
      words,
      `Mean over the levels: ${first}, ${second}. Output of the whole input ${value.toFixed(3)};` +
        ` ${tokens} ${unit} are ${how[removal]}${pictured ? "" : `, ${kept}`}. ${unlike} unlike those the` +
        " model knows.",
    );
  }

  /** @param {Perturbation} answer @param {Options["proof"]} proof */
  function drawPerturbed({ counts, most, least, random, score }, proof) {
    const [says, become] = PERTURBED[proof] ?? ["", ""];
    const top = Math.max(LEAST, ...most, ...least, ...random.flat());
    const node = chart([most, ...random], spanOf(0, top, counts, unit), least);
    const title = "Probability: line, the most relevant patches first; dashed, the least relevant first; band, random orders";
    node.setAttribute("aria-label", title);
    charts.replaceChildren(element("figure", "hs-curve", {}, element("span", "", {}, title), node));
    setText(
      words,
      `${says} Score ${score > 0 ? "+" : ""}${score.toFixed(4)}: half the difference of the areas under line and dashed line, above 0 is faithful. A picture with ${become} patches is unlike those the model knows.`,
    );
  }

  /** @param {string} name @param {Query} more @param {Options["proof"]} proof */
  function renderPerturbed(name, more, proof) {
    bar.hidden = true;
    const path = pathOf("perturbation", { ...askedOf(name, more), proof });
    const answer = /** @type {Perturbation | {why: string} | null} */ (state.view.answer(slot, path));
    if (answer && !("why" in answer)) {
      if (drawn !== answer) drawPerturbed(answer, proof);
      drawn = answer;
      return;
    }
    charts.replaceChildren();
    drawn = null;
    setText(words, answer ? answer.why : state.waitingFor(slot, "Changing patches"));
  }

  return {
    /**
     * @param {string} name the method
     * @param {Query} [more] what else the server is asked with
     */
    render(name, more = {}) {
      const { tested, proof } = state.selection;
      const on = tested === "yes";
      setAttribute(start, "aria-pressed", String(on));
      ways.hidden = !pictured;
      ways.value = proof;
      bar.hidden = charts.hidden = words.hidden = !on;
      if (!on) return state.view.forget(slot);
      if (pictured && PERTURBED[proof]) return renderPerturbed(name, more, proof);
      const { list, why } = curves(name, pictured ? { ...more, proof } : more);
      const count = list[0]?.orders ?? 1;
      bar.hidden = Boolean(why) || list.length === count;
      bar.max = count;
      bar.value = list.length;
      if (why) setText(words, why);
      else if (list.length === count) {
        if (drawn !== list[0]) draw(list);
        drawn = list[0];
        return;
      } else setText(words, state.waitingFor(slot, `Removing ${unit}: ${list.length} of ${count} orders`));
      charts.replaceChildren();
      drawn = null;
    },
  };
}

/** @typedef {{counts: number[], last: number, low: number, high: number, unit: string}} Span of a chart's axes */

/** @type {(low: number, high: number, counts: number[], unit: string) => Span} */
const spanOf = (low, high, counts, unit) => ({ counts, last: Math.max(...counts), low, high, unit });

/**
 * The first line over a band of the others.
 *
 * @param {number[][]} lines
 * @param {Span} span
 * @param {number[]} [dashed] a further line
 */
function chart(lines, { counts, last, low, high, unit }, dashed) {
  /** @param {string} tag @param {Record<string, string>} attributes */
  const shape = (tag, attributes) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  /** @param {number} count */
  const x = (count) => EDGE + (count / last) * (WIDE - 2 * EDGE);
  /** @param {number} value */
  const y = (value) => TALL - EDGE - ((value - low) / (high - low || 1)) * (TALL - 2 * EDGE);
  /** @param {number[]} values */
  const points = (values) => values.map((value, i) => `${x(counts[i])},${y(value)}`);
  const [mine, ...random] = lines;
  const at = counts.map((_, i) => random.map((line) => line[i]));
  const band = [
    ...points(at.map((each) => Math.max(...each))),
    ...points(at.map((each) => Math.min(...each))).reverse(),
  ];
  const svg = shape("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img" });
  /** @param {string} text @param {Record<string, string>} attributes */
  const words = (text, attributes) => {
    const node = shape("text", attributes);
    node.textContent = text;
    return node;
  };
  const middle = { x: String(x(counts[0])), "text-anchor": "middle" };
  svg.append(
    words(String(Number(high.toPrecision(2))), { x: "2", y: "9" }),
    words("0", { x: "2", y: String(y(0) - 2) }),
    words(String(counts[0]), { ...middle, y: String(TALL - 1) }),
    words(`${last} ${unit}`, { x: String(WIDE - 2), y: String(TALL - 1), "text-anchor": "end" }),
    shape("line", { class: "hs-zero", x1: "0", x2: String(WIDE), y1: String(y(0)), y2: String(y(0)) }),
    shape("polygon", { class: "hs-band", points: band.join(" ") }),
    ...(dashed ? [shape("polyline", { class: "hs-mine hs-dashed", points: points(dashed).join(" ") })] : []),
    shape("polyline", { class: "hs-mine", points: points(mine).join(" ") }),
  );
  return svg;
}
