// What an output rests on: tokens, edges and a path, and what cutting these edges does to its
// probability, beside random edges of the same layers.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { signed } from "../core/ticks.js";
import { percent } from "./lens.js";
import { colourOf, largest } from "../methods/methods.js";

/** @import {BlameAnswer, BlameEdge, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const DOUBT =
  "What it does not prove: effects are estimated with the rest of the network linearised, and a cut leaves what the" +
  " model was trained on. Where the text says the same thing twice, cutting one changes little.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function blame(state, parent) {
  const start = button("What it rests on", "Blame: find the edges of all heads that the output rests on, and cut them", () =>
    state.select({ tested: state.selection.tested === "yes" ? "no" : "yes" }),
  );
  const wait = element("p", "hs-even", { role: "status" });
  const check = element("p", "hs-check", { "aria-live": "polite" });
  const dots = element("div", "hs-check-line", { role: "img" });
  const about = element("p", "hs-sentence");
  const chips = element("div", "hs-chips", { role: "group", "aria-label": "Tokens that the output rests on" });
  const edges = element("ol", "hs-edges");
  const path = element("ol", "hs-edges");
  const stays = element("p", "hs-doubt");
  const lists = element(
    "div",
    "hs-why-lists",
    {},
    element("section", "", {}, element("h3", "hs-heading", {}, "Edges that were cut, by effect on log p"), edges),
    element("section", "", {}, element("h3", "hs-heading", {}, "The path, from the output down"), path, stays),
  );
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const body = element("div", "", {}, check, dots, about, chips, lists, doubt);
  const box = element("div", "hs-faithful hs-blame", {}, start, wait, body);
  parent.append(box);
  const drawn = changes();

  /**
   * @param {BlameAnswer} answer
   * @param {Theme} theme
   */
  function draw(answer, theme) {
    const { labels, tokens, before, after, controls, name, position } = answer;
    const what = ["“", element("bdi", "", {}, legible(name)), "”", position === null ? "" : ` at position ${position}`];
    const lower = controls.filter((each) => each > after).length;
    setText(
      check,
      `These ${answer.edges.length} edges cut: probability of `,
      ...what,
      ` ${percent(before)} → ${percent(after)}. As many random edges of the same layers, ${controls.length} times:` +
        ` ${percent(Math.min(...controls))} to ${percent(Math.max(...controls))}; ${lower} of ${controls.length} keep more.`,
    );
    dots.replaceChildren(
      ...controls.map((share) => dot("hs-check-random", share)),
      dot("hs-check-before", before),
      dot("hs-check-after", after),
    );
    setAttribute(dots, "aria-label", check.textContent ?? "");
    setText(about, `Relevance of each token, Σ A ⊙ ∇A of log p. Spans with the most: ${spans(answer)}.`);
    const signs = tokens.some((value) => value < 0);
    const top = largest(tokens);
    chips.replaceChildren(
      ...labels.map((label, i) => {
        const chip = element("span", "hs-chip", { title: `${legible(label)} (${i}): ${signed(tokens[i], 3)}` }, legible(label));
        const ground = colourOf(theme, tokens[i], top, signs);
        chip.style.background = `rgb(${ground.join()})`;
        chip.style.color = textOn(ground, theme.text);
        return chip;
      }),
    );
    edges.replaceChildren(...answer.edges.map((edge) => row(edge, labels)));
    const moves = answer.path.filter(({ query, key }) => query !== key);
    path.replaceChildren(...moves.map((edge) => row(edge, labels)));
    const others = answer.path.length - moves.length;
    setText(stays, others ? `${others} more edges of it stay at their token.` : "");
  }

  /**
   * An edge; chosen, the view goes to its head and query.
   *
   * @param {BlameEdge} edge
   * @param {string[]} labels
   */
  function row({ site, head, query, key, effect }, labels) {
    const node = element("button", "hs-edge", { type: "button", title: "Show this head and query" });
    const place = `${state.siteName(site)}, head ${head}: `;
    node.append(element("span", "hs-edge-effect", {}, signed(effect, 3)), place, ...quoted(labels[query]), " → ", ...quoted(labels[key]));
    node.onclick = () => state.select({ site, head, ...tokenOf(query) });
    return element("li", "", {}, node);
  }

  /** @param {number} query */
  function tokenOf(query) {
    const { query: text } = state.texts();
    const token = text.origins ? text.origins.findIndex((tokens) => tokens.includes(query)) : query;
    return token < 0 ? {} : { token, direction: /** @type {const} */ ("out") };
  }

  return {
    box,
    /** @param {Theme} theme */
    render(theme) {
      const { tested, output } = state.selection;
      const on = tested === "yes";
      setAttribute(start, "aria-pressed", String(on));
      body.hidden = wait.hidden = !on;
      if (!on) return state.view.forget("blame");
      const answer = /** @type {BlameAnswer | {why: string} | null} */ (
        state.view.answer("blame", pathOf("blame", output ? { output } : {}))
      );
      const why = answer && "why" in answer ? answer.why : "";
      setText(wait, answer && !why ? "" : capital(why) || state.waitingFor("blame", "Cutting edges"));
      body.hidden = !answer || Boolean(why);
      if (answer && !("why" in answer) && drawn(answer, theme.mode)) draw(answer, theme);
    },
  };
}

/**
 * A mark on the line from 0 to 1.
 *
 * @param {string} kind
 * @param {number} share
 */
function dot(kind, share) {
  const node = element("span", kind, { title: percent(share) });
  node.style.left = `${100 * share}%`;
  return node;
}

/** @param {BlameAnswer} answer */
const spans = ({ spans: list, quoted: texts, labels }) =>
  list
    .slice(0, 3)
    .map(([from, , share], i) => `“${texts[i] || legible(labels[from])}” ${(100 * share).toFixed(0)}\u00a0%`)
    .join(", ") || "none";
