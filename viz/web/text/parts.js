// Direct logit attribution: what each head and each MLP adds to the logit of an output, or to the
// difference of two; below it, on request, what the output rests on.

import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import { element, markPainted, quoted, setAttribute, setText } from "../core/dom.js";
import { capital } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { signed } from "../core/ticks.js";
import { blame } from "./blame.js";
import { placeOf, saveCells, walk } from "../core/cells.js";
import { colourOf, largest } from "../methods/methods.js";
import { matter } from "./matter.js";
import { outputMenu } from "../methods/output_menu.js";
import { patching } from "./patching.js";

/** @import {LogitParts, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const MLP = "MLP";
const NUMBERED = 16; // heads up to which numbers stand in the cells
const VERSUS = /** @type {const} */ ({ option: "versus", label: "less that of", none: "nothing" });
const SENTENCE =
  "What each head and each MLP writes into the last state of the token, as its share of the logit. Choose a head" +
  " to see it.";
const NO_LOGIT = "There is no logit to divide: the output is a state. How far it moves without a head can be measured.";
const DOUBT =
  "What it does not prove: only what is written directly into the last state is counted, with the final norm held" +
  " at this input’s scale; what a head does through later layers appears as the part of those layers.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function parts(state, parent) {
  const title = element("p", "hs-heading");
  const sentence = element("p", "hs-sentence", {}, SENTENCE);
  const output = outputMenu(state);
  const versus = outputMenu(state, VERSUS);
  const choices = element("div", "hs-row", {}, output.box, versus.box);
  const what = element("p", "hs-sentence");
  const table = element("table", "hs-cells hs-cells-square");
  const scroller = element("div", "hs-cells-scroller", { role: "group", "aria-label": "Parts of the logit by layer and head" }, table);
  const wait = element("p", "hs-even", { role: "status" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const sums = element("p", "hs-cells-sum");
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const body = element("div", "", {}, what, scroller, read, sums, doubt);
  const section = element("section", "hs-section hs-model hs-parts", {}, title, sentence, choices, wait, body);
  parent.append(section);
  const rests = blame(state, section);
  const matters = matter(state, section);
  const states = patching(state, section);
  const built = changes();
  /** @type {LogitParts | null} */
  let drawn = null;
  /** @type {Theme | null} */
  let last = null;
  let line = "";

  /** How many heads a row has at most. */
  const most = () => Math.max(...(drawn?.rows ?? []).map(({ heads }) => heads.length));

  /** @param {number} row @param {number} column */
  function valueAt(row, column) {
    const { heads, mlp } = /** @type {LogitParts} */ (drawn).rows[row];
    return column === most() ? (mlp ?? null) : (heads[column] ?? null);
  }

  /** @param {number} row @param {number} column */
  function wordsOf(row, column) {
    if (!drawn) return "";
    const name = column === most() ? MLP : `head ${column}`;
    return `${capital(state.siteName(drawn.rows[row].site))}, ${name}: ${plus(valueAt(row, column) ?? 0)}`;
  }

  table.onclick = (event) => {
    const at = placeOf(event.target);
    if (at && drawn && at.column < most()) state.select({ site: drawn.rows[at.row].site, head: at.column });
  };
  table.addEventListener("pointerover", point);
  table.addEventListener("focusin", point);
  table.onpointerleave = () => setText(read, line);
  table.onkeydown = (event) => walk(table, event);

  /** @param {Event} event */
  function point(event) {
    const at = placeOf(event.target);
    setText(read, at ? wordsOf(at.row, at.column) : line);
  }

  /** @param {LogitParts} parts */
  function build({ rows }) {
    const columns = [...Array(most()).keys()].map(String);
    const head = element("tr", "", {}, element("th", "hs-cells-corner", { scope: "col" }, "layer"));
    head.append(...[...columns, MLP].map((name) => element("th", "", { scope: "col" }, name)));
    const lines = rows.map(({ site }, row) => {
      const cells = [...columns, MLP].map((_, column) => {
        const value = valueAt(row, column);
        if (value === null) return element("td");
        const text = columns.length <= NUMBERED ? signed(value, 1).replace(/^−?0\.0$/, "") : "";
        const cell = element("button", "hs-cell", { type: "button", tabindex: row || column ? "-1" : "0" }, text);
        cell.setAttribute("aria-label", wordsOf(row, column));
        Object.assign(cell.dataset, { row, column });
        return element("td", column === columns.length ? "hs-cells-mlp" : "", {}, cell);
      });
      const name = state.siteName(site);
      const short = name.replace("layer ", "");
      return element("tr", "", {}, element("th", "", { scope: "row", "aria-label": name }, short), ...cells);
    });
    table.replaceChildren(element("thead", "", {}, head), element("tbody", "", {}, ...lines));
  }

  /** The largest part of all cells. */
  const top = () => largest((drawn?.rows ?? []).flatMap(({ heads, mlp }) => [...heads, mlp ?? 0]));

  /** @param {Theme} theme */
  function paint(theme) {
    if (!drawn) return;
    const [high, { site, head }] = [top(), state.selection];
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll(".hs-cell"))) {
      const [row, column] = [Number(cell.dataset.row), Number(cell.dataset.column)];
      const ground = colourOf(theme, valueAt(row, column) ?? 0, high, true);
      cell.style.background = `rgb(${ground.join()})`;
      cell.style.color = textOn(ground, theme.text);
      const chosen = column < most() && drawn.rows[row].site === site && column === head;
      cell.classList.toggle("hs-followed", chosen);
      if (column < most()) setAttribute(cell, "aria-pressed", String(chosen));
    }
    markPainted(section);
  }

  /** @param {LogitParts} parts */
  const logitOf = ({ name, versus: other, position }) => [
    "the logit of ",
    ...quoted(name),
    ` at position ${position}`,
    ...(other === null ? [] : [", less that of ", ...quoted(other)]),
  ];

  /** @param {LogitParts} answer */
  function add(answer) {
    const { rows, rest, sum, logit } = answer;
    const heads = rows.flatMap((row) => row.heads).reduce((a, b) => a + b, 0);
    const mlps = rows.reduce((total, { mlp }) => total + (mlp ?? 0), 0);
    const named = [...rest.map(({ name, value }) => `${name} ${plus(value)}`)];
    setText(
      sums,
      `Heads ${plus(heads)}, MLPs ${plus(mlps)}${named.length ? `, ${named.join(", ")}` : ""}. Together ${plus(sum)}; `,
      ...logitOf(answer),
      ` is ${plus(logit)}.`,
    );
  }

  return {
    /** @param {Theme} theme */
    render(theme) {
      last = theme;
      const { form, output: chosen, versus: other } = state.selection;
      section.hidden = form !== "parts";
      if (section.hidden) return;
      const logits = state.base.explains !== "similarity";
      setText(title, `${state.base.model} · ${logits ? "parts of a logit" : "what the output needs"}`);
      if (state.base.caveat) title.append(` — ${state.base.caveat}`);
      for (const each of [rests, states]) each.box.hidden = !logits;
      setText(sentence, logits ? SENTENCE : NO_LOGIT);
      output.render(logits);
      versus.render(logits);
      if (!logits) {
        wait.hidden = body.hidden = true;
        matters.render(theme);
        return markPainted(section);
      }
      wait.hidden = false;
      const query = { ...(chosen ? { output: chosen } : {}), ...(other ? { versus: other } : {}) };
      const answer = /** @type {LogitParts | {why: string} | null} */ (
        state.view.answer("parts", pathOf("parts", query))
      );
      rests.render(theme);
      matters.render(theme);
      states.render(theme);
      const why = answer && "why" in answer ? answer.why : "";
      setText(wait, answer && !why ? "" : capital(why) || state.waitingFor("parts", "Dividing the logit"));
      body.hidden = Boolean(why) || (!answer && !drawn);
      body.classList.toggle("hs-dim", !answer);
      if (!answer || "why" in answer) return;
      drawn = answer;
      setText(what, "Shares of ", ...logitOf(answer), ":");
      if (built(answer)) build(answer);
      paint(theme);
      add(answer);
      const text = `${theme.mode === "dark" ? "Orange" : "Brown"} adds to it, blue takes away; colours up to ${top().toPrecision(3)}.`;
      if (read.textContent === line || !read.textContent) setText(read, text);
      line = text;
    },
    save() {
      if (!drawn || !last) return;
      const [theme, answer, high] = [last, drawn, top()];
      const columns = [...Array(most()).keys()].map(String);
      const cells = answer.rows.map((_, row) =>
        [...columns, MLP].map((_name, column) => {
          const value = valueAt(row, column);
          if (value === null) return { text: "", ground: null };
          return { text: signed(value, 2), ground: colourOf(theme, value, high, true) };
        }),
      );
      const rows = answer.rows.map(({ site }) => state.siteName(site));
      const heading = `${title.textContent} · ${sums.textContent}`;
      saveCells({ title: heading, rows, across: [...columns, MLP], cells, wide: 48 }, `${state.base.model}-parts`, theme);
    },
    /** @returns {Record<string, string>} */
    figure() {
      const { output: chosen, versus: other, tested } = state.selection;
      return {
        ...(chosen ? { output: chosen } : {}),
        ...(other ? { versus: other } : {}),
        ...(tested === "yes" ? { tested } : {}),
      };
    },
  };
}

/**
 * A part with its sign.
 *
 * @param {number} value
 */
const plus = (value) => `${value > 0 ? "+" : ""}${signed(value, Math.abs(value) < 0.1 ? 3 : 2)}`;
