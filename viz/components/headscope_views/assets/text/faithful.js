// Faithfulness of a relevance: what happens to the output without its tokens, beside random orders.

import { button } from "../core/bar.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { pathOf } from "../core/sources.js";

/** @import {Curves} from "../types" */
/** @import {TextState} from "./state.js" */

const [WIDE, TALL, EDGE] = [220, 110, 12];
const LEAST = 0.01; // of the axis: smaller drops are noise
const SVG = "http://www.w3.org/2000/svg";
const NAMES = /** @type {const} */ ([
  ["comprehensiveness", "without the most relevant tokens", "large is faithful"],
  ["sufficiency", "with the most relevant tokens alone", "small is faithful"],
]);

/** @param {ArrayLike<number>} values */
const mean = (values) => Array.from(values).reduce((a, b) => a + b, 0) / values.length;

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 * @param {string} slot
 */
export function faithful(state, parent, slot) {
  const start = button("Test by removing tokens", "Faithfulness: remove the relevant tokens", () =>
    state.select({ tested: state.selection.tested === "yes" ? "no" : "yes" }),
  );
  start.removeAttribute("aria-label");
  const bar = element("progress", "hs-progress", { "aria-label": "Orders of removal tried" });
  const charts = element("div", "hs-curves");
  const words = element("p", "hs-sentence", { "aria-live": "polite" });
  const box = element("div", "hs-faithful", {}, start, bar, charts, words);
  parent.append(box);
  /** @type {Curves | null} the first of those drawn */
  let drawn = null;

  /**
   * @param {string} name
   * @param {number} order
   */
  const pathTo = (name, order) => {
    const { output } = state.selection;
    return pathOf("faithfulness", { site: 0, method: name, order, ...(output ? { output } : {}) });
  };

  /** @param {string} name */
  function curves(name) {
    /** @type {Curves[]} */
    const list = [];
    for (let order = 0; order < (list[0]?.orders ?? 1); order++) {
      const path = pathTo(name, order);
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
    const [low, high] = [Math.min(0, ...all), Math.max(LEAST, ...all)];
    const last = Math.max(...list[0].counts);
    charts.replaceChildren(
      ...NAMES.map(([name, what, good], i) => {
        const node = chart(list[0].counts, lines[i], last, low, high);
        node.setAttribute("aria-label", `${name}: drop of the output ${what}`);
        const title = element("span", "", {}, `Drop ${what} (${good})`);
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
    setText(
      words,
      `Mean over the levels: ${first}, ${second}. Output of the whole input ${value.toFixed(3)};` +
        ` ${tokens} tokens are ${how[removal]}, ${kept}. A text without tokens is unlike those the` +
        " model knows.",
    );
  }

  return {
    /** @param {string} name the method */
    render(name) {
      const on = state.selection.tested === "yes";
      setAttribute(start, "aria-pressed", String(on));
      bar.hidden = charts.hidden = words.hidden = !on;
      if (!on) return state.view.forget(slot);
      const { list: list, why } = curves(name);
      const count = list[0]?.orders ?? 1;
      bar.hidden = Boolean(why) || list.length === count;
      bar.max = count;
      bar.value = list.length;
      if (why) setText(words, why);
      else if (list.length === count) {
        if (drawn !== list[0]) draw(list);
        drawn = list[0];
      } else {
        charts.replaceChildren();
        drawn = null;
        setText(words, state.waitingFor(slot, `Removing tokens: ${list.length} of ${count} orders`));
      }
    },
  };
}

/**
 * The first line over a band of the others.
 *
 * @param {number[]} counts
 * @param {number[][]} lines
 * @param {number} last
 * @param {number} low
 * @param {number} high
 */
function chart(counts, lines, last, low, high) {
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
    words(`${last} tokens`, { x: String(WIDE - 2), y: String(TALL - 1), "text-anchor": "end" }),
    shape("line", { class: "hs-zero", x1: "0", x2: String(WIDE), y1: String(y(0)), y2: String(y(0)) }),
    shape("polygon", { class: "hs-band", points: band.join(" ") }),
    shape("polyline", { class: "hs-mine", points: points(mine).join(" ") }),
  );
  return svg;
}
