// A score as a tree: what heads wrote into the query or the key, by the tokens that they read, and what
// these were made of; each such edge with the score that a pass without it gives.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { stopping } from "../core/stopping.js";
import { labelled } from "../methods/output_menu.js";
import { figures } from "./pairs.js";

/** @import {Selection, UnfoldedAnswer, UnfoldedNode} from "../types" */
/** @import {Pair} from "./pairs.js" */
/** @import {TextState} from "./state.js" */

const KEY = "unfolded";
const SENTENCE =
  "Each branch is a part of the one above it. Where a head reads a token, “cut” is the whole score after this edge" +
  " is cut in a pass of its own: the rest of the row takes over its weight, so that it need not be the score less the part.";

/** @param {TextState} state */
export function scoreTree(state) {
  const start = button("As a tree", "Unfold the score head by head, down to the tokens", () => choose(!state.selection.tree));
  start.removeAttribute("aria-label");
  const [side, depth] = [menu("What is unfolded", [["key", "the key"], ["query", "the query"]]), menu("Heads below each other", [["1", "1"], ["2", "2"]])];
  const choices = element("span", "hs-row", {}, labelled("of", side), labelled("heads below each other", depth));
  const wait = element("p", "hs-even", { role: "status" });
  const stop = stopping(state.view, KEY);
  const waiting = element("div", "hs-row", {}, wait, stop.node);
  const said = element("p", "hs-why-note");
  const list = element("ol", "hs-why-list hs-tree");
  const body = element("div", "", {}, said, list);
  const box = element("div", "hs-why-tree", {}, element("div", "hs-row", {}, start, choices), waiting, body);
  const drawn = changes();

  /** @param {string} name @param {[string, string][]} options */
  function menu(name, options) {
    const node = element("select", "hs-select", { "aria-label": name });
    node.append(...options.map(([value, label]) => element("option", "", { value }, label)));
    node.onchange = () => choose(true);
    return node;
  }

  /** @param {boolean} on */
  const choose = (on) => state.select({ tree: on ? /** @type {Selection["tree"]} */ (`${side.value}.${depth.value}`) : "" });

  /** @param {UnfoldedAnswer} answer */
  function draw({ score, tree }) {
    setText(said, `The score is ${figures(score)}. ${SENTENCE}`);
    const most = Math.max(...tree.branches.map(({ value }) => Math.abs(value)), 1e-9);
    list.replaceChildren(...rowsOf(tree, most, 0));
  }

  /**
   * @param {UnfoldedNode} node
   * @param {number} most of the bars
   * @param {number} level
   * @returns {HTMLElement[]}
   */
  function rowsOf({ branches, others }, most, level) {
    const rows = branches.map((each) => {
      const row = rowOf(each, most);
      if (!each.branches.length) return element("li", "hs-tree-leaf", {}, row);
      const open = element("details", "", {}, element("summary", "", {}, row), element("ol", "hs-why-list", {}, ...rowsOf(each, most, level + 1)));
      open.open = level < 2;
      return element("li", "", {}, open);
    });
    if (others) rows.push(element("li", "hs-tree-leaf hs-tree-others", {}, `${others[0]} more, together ${figures(others[1])}`));
    return rows;
  }

  /** @param {UnfoldedNode} node @param {number} most */
  function rowOf({ name, token, value, after }, most) {
    const share = Math.min(1, Math.abs(value) / most) / 2;
    const bar = element("span", "hs-why-bar", { "aria-hidden": "true" });
    bar.style.setProperty("--from", `${50 - (value < 0 ? 100 * share : 0)}%`);
    bar.style.setProperty("--wide", `${100 * share}%`);
    const label = token === null ? capital(name) : `reads “${legible(name).trim()}” (${token})`;
    const check = element("span", "hs-tree-check", {}, after === null ? "" : `cut: ${figures(after)}`);
    return element("span", "hs-why-row hs-tree-row", {}, element("span", "hs-why-name", { title: label }, label), bar, element("span", "hs-why-number", {}, figures(value)), check);
  }

  /** @param {Pair} pair */
  function render(pair) {
    const on = state.view.remote && state.selection.tree !== "";
    if (on) [side.value, depth.value] = state.selection.tree.split(".");
    start.disabled = !state.view.remote;
    setAttribute(start, "aria-pressed", String(on));
    choices.hidden = !on;
    if (!on) {
      waiting.hidden = body.hidden = true;
      return state.view.forget(KEY);
    }
    const { site, head } = state.selection;
    const asked = { site, head, ...pair, side: side.value, depth: depth.value };
    const answer = /** @type {UnfoldedAnswer | {why: string} | null} */ (state.view.answer(KEY, pathOf(KEY, asked)));
    const why = answer && "why" in answer ? `${capital(answer.why)}.` : "";
    setText(wait, answer && !why ? "" : why || state.waitingFor(KEY, "Unfolding the score"));
    stop.render();
    waiting.hidden = !wait.textContent;
    body.hidden = !answer || Boolean(why);
    if (answer && !("why" in answer) && drawn(answer)) draw(answer);
  }

  return { box, render };
}
