// Which states carry what two texts differ in: the state of each layer and token that a second text
// gives, patched in, and what that does to an output; by attribution, and exactly for the largest.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { callOf } from "../core/edit_text.js";
import { legible } from "../core/labels.js";
import { stopping } from "../core/stopping.js";
import { signed } from "../core/ticks.js";
import { placeOf, walk } from "../core/cells.js";
import { colourOf, disagreement, largest } from "../methods/methods.js";
import { labelled } from "../methods/output_menu.js";
import { inTwoSteps } from "../matter/in_two_steps.js";

/** @import {PatchedAnswer, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const KEY = "patched";
const TOPS = [10, 20, 40]; // states that are patched in passes of their own
const DIGITS = 3;
const SENTENCE =
  "Type a second text with the same number of tokens, changed at the word in question. Each cell patches the state" +
  " that enters a layer at a token from the second text’s pass; orange raises the output’s logit, blue lowers it.";
const DOUBT =
  "What it does not prove: one state at a time is patched; by attribution, what follows it is linearised. A framed" +
  " cell was patched in a pass of its own. Where nothing follows a state, it changes nothing.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function patching(state, parent) {
  const start = button("Which states matter", "Patch each state from a second text, and see what it does to the output", () => {
    on = !on;
    state.select({ patched: on ? second.value.trim() : "" });
    state.changed();
  });
  const second = element("input", "hs-select hs-second", {
    ...{ type: "text", maxlength: "2000", "aria-label": "Second text, with the same number of tokens", placeholder: "a second text with the same number of tokens" },
  });
  second.onchange = () => state.select({ patched: second.value.trim() });
  const top = element("select", "hs-select", { "aria-label": "States in passes of their own" });
  top.append(...TOPS.map((count) => element("option", "", { value: String(count) }, String(count))));
  top.onchange = () => state.changed();
  const choices = element("div", "hs-row", {}, labelled("second text", second), labelled("exactly for the top", top));
  const sentence = element("p", "hs-sentence", {}, SENTENCE);
  const wait = element("p", "hs-even", { role: "status" });
  const stop = stopping(state.view, KEY);
  const waiting = element("div", "hs-row", {}, wait, stop.node);
  const said = element("p", "hs-check", { "aria-live": "polite" });
  const table = element("table", "hs-cells hs-cells-square");
  const scroller = element("div", "hs-cells-scroller", { role: "group", "aria-label": "Effects by layer and token" }, table);
  const read = element("p", "hs-patching-read", { "aria-live": "polite" });
  const apply = button("Patch this state", "Make this an edit of the pass, with the second text", patch);
  apply.removeAttribute("aria-label");
  apply.onpointerenter = apply.onfocus = () => {
    const site = state.base.sites.findIndex(({ layer }) => layer === chosen?.row);
    if (chosen && site >= 0) state.reach({ site, what: "hidden", head: null, token: chosen.column });
  };
  apply.onpointerleave = apply.onblur = () => state.reach(null);
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const body = element("div", "", {}, said, scroller, element("div", "hs-row", {}, read, apply), doubt);
  const box = element("div", "hs-faithful hs-patching", {}, start, sentence, choices, waiting, body);
  parent.append(box);
  let on = state.selection.patched !== "";
  let given = ""; // the text that the field was filled with
  /** @type {PatchedAnswer | null} */
  let drawn = null;
  /** @type {{row: number, column: number} | null} */
  let chosen = null;
  const built = changes();

  function patch() {
    if (chosen) state.edit?.(callOf("Patch", [chosen.row, "hidden", "second"], { token: chosen.column }), state.selection.patched);
  }

  /** @param {number} row @param {number} column @returns {(Node | string)[]} */
  function wordsOf(row, column) {
    if (!drawn) return [];
    const { labels, second: others, attribution, exact } = drawn;
    const known = exact?.[row][column] ?? null;
    const other = labels[column] === others[column] ? [] : [", with ", ...quoted(legible(others[column])), " there"];
    return [
      `Layer ${row}, at `,
      ...quoted(legible(labels[column])),
      ` (${column})`,
      ...other,
      `: ${signed(attribution[row][column] ?? 0, DIGITS)} by attribution`,
      known === null ? "" : `, ${signed(known, DIGITS)} exactly`,
    ];
  }

  /** @param {Event} event */
  function point(event) {
    const at = placeOf(event.target);
    if (!at) return;
    chosen = { row: at.row, column: at.column };
    setText(read, wordsOf(at.row, at.column));
    apply.disabled = !state.edit;
  }
  table.addEventListener("focusin", point);
  table.addEventListener("click", point);
  table.onkeydown = (event) => walk(table, event);

  /**
   * @param {PatchedAnswer} answer
   * @param {Theme} theme
   */
  function build(answer, theme) {
    const { labels, second: others, attribution, exact, name, position } = answer;
    const effects = attribution.map((row, i) => row.map((rough, j) => exact?.[i][j] ?? rough ?? 0));
    const most = largest(effects.flat());
    const head = element("tr", "", {}, element("th", "hs-cells-corner", { scope: "col" }, "layer"));
    for (const [i, label] of labels.entries()) {
      const differs = label !== others[i];
      const words = differs ? `${legible(label)} → ${legible(others[i])}` : legible(label);
      const other = differs ? [element("br"), "→ ", element("bdi", "", {}, legible(others[i]))] : [];
      head.append(element("th", differs ? "hs-cells-here" : "", { scope: "col", title: `${words} (${i})` }, element("bdi", "", {}, legible(label)), ...other));
    }
    const rows = effects.map((row, i) => {
      const cells = row.map((value, j) => {
        const node = element("button", "hs-cell", { type: "button", tabindex: i || j ? "-1" : "0" }, Math.abs(value) < most / 50 ? "" : signed(value, 2));
        Object.assign(node.dataset, { row: i, column: j });
        const ground = colourOf(theme, value, most, true);
        node.style.background = `rgb(${ground.join()})`;
        node.style.color = textOn(ground, theme.text);
        node.classList.toggle("hs-followed", (exact?.[i][j] ?? null) !== null);
        node.setAttribute("aria-label", `Layer ${i}, token ${j}: ${signed(value, DIGITS)}`);
        return element("td", "", {}, node);
      });
      return element("tr", "", {}, element("th", "", { scope: "row" }, String(i)), ...cells);
    });
    table.replaceChildren(element("thead", "", {}, head), element("tbody", "", {}, ...rows));
    const passes = exact?.flat().filter((value) => value !== null).length ?? 0;
    setText(
      said,
      "What each state of the second text does to the logit of ",
      ...quoted(legible(name).trim()),
      `${position === null ? "" : ` at position ${position}`}: all by attribution`,
      exact ? `, ${passes} exactly; ${disagreement(attribution, exact)}` : ".",
    );
    const first = /** @type {HTMLElement | null} */ (table.querySelector(".hs-cells-here"));
    const corner = /** @type {HTMLElement} */ (table.querySelector(".hs-cells-corner"));
    requestAnimationFrame(() => scroller.scrollTo({ left: first ? first.offsetLeft - 2 * corner.offsetWidth : 0 }));
    chosen = null;
    apply.disabled = true;
    setText(read, "Choose a cell to read it, and to patch its state.");
  }

  return {
    box,
    /** @param {Theme} theme */
    render(theme) {
      const { patched: text } = state.selection;
      if (text !== given) {
        on ||= text !== "";
        if (text) second.value = text;
        given = text;
      }
      setAttribute(start, "aria-pressed", String(on));
      for (const part of [sentence, choices]) part.hidden = !on;
      if (!on || !text) {
        waiting.hidden = body.hidden = true;
        return state.view.forget(KEY);
      }
      const { output } = state.selection;
      const asked = { second: text, ...(output ? { output } : {}) };
      /** @type {PatchedAnswer | null} */
      const answer = inTwoSteps(state.view, KEY, asked, top.value, { wait, waiting, body, stop }, "Patching states");
      if (!answer) return;
      drawn = answer;
      if (built(answer, theme)) build(answer, theme);
    },
  };
}
