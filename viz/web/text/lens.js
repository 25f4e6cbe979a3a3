// What each layer would predict at each token: the likeliest token of a lens by layer and token, and
// the rank of the output in question by layer.

import { button, menu } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { shade, textOn } from "../core/colours.js";
import { element, markPainted, moreIs, quoted, setAttribute, setText } from "../core/dom.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { placeOf, saveCells, walk } from "../core/cells.js";
import { labelled, outputMenu } from "../methods/output_menu.js";

/** @import {Lens, LensRanks, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const WINDOW = 24; // tokens in one answer, as in viz/api/why.py
const LENSES = /** @type {const} */ (["logit", "jacobian"]);
const NAMES = ["Logit lens", "Jacobian lens"];
const SENTENCES = {
  logit:
    "The state that leaves each layer, read through the final norm and the unembedding: the likeliest token" +
    " there, had the network ended. Choose one to follow it through the layers.",
  jacobian:
    "The state that leaves each layer, carried to the last one by the mean Jacobian of this text, then read" +
    " through the final norm and the unembedding. Choose a token to follow it through the layers.",
};
const DOUBT =
  "What it does not prove: a lens shows what a state would make the network write, not that later layers read" +
  " it so; early layers may hold the same in other directions.";
const SLOW = " A Jacobian of one short text is a rough mean; it takes as many backward passes as states are wide.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function lens(state, parent) {
  const title = element("p", "hs-heading");
  const sentence = element("p", "hs-sentence");
  const which = menu("Lens", "How a state is read", NAMES, (index) => state.select({ lens: LENSES[index] }));
  const followed = outputMenu(state);
  const back = button("‹", "Earlier tokens", () => turn(-WINDOW));
  const on = button("›", "Later tokens", () => turn(WINDOW));
  const span = element("span", "hs-count", { "aria-live": "polite" });
  const pages = element("div", "hs-stepper hs-aid", {}, back, span, on);
  pages.hidden = true;
  const choices = element("div", "hs-row", {}, labelled("lens", which), followed.box, pages);
  const table = element("table", "hs-cells");
  const scroller = element("div", "hs-cells-scroller", { role: "group", "aria-label": "Lens by layer and token" }, table);
  const wait = element("p", "hs-even", { role: "status" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt");
  const parts = [title, sentence, choices, wait, scroller, read, doubt];
  const section = element("section", "hs-section hs-model hs-lens", {}, ...parts);
  parent.append(section);
  const built = changes();
  const asked = changes();
  const revealed = changes();
  /** @type {{trace: string, first: number} | null} the page that was turned to */
  let turned = null;
  /** @type {Lens | null} */
  let drawn = null;
  /** @type {LensRanks | null} */
  let ranks = null;
  /** @type {Theme | null} */
  let last = null;
  let line = "";

  /** @param {number} by tokens */
  function turn(by) {
    if (!drawn) return;
    turned = { trace: state.trace, first: drawn.first + by };
    state.changed();
  }

  /** @param {string} route @param {Record<string, string | number>} query */
  function ask(route, query) {
    const { lens: read_by } = state.selection;
    /** @type {Record<string, string>} */
    const more = read_by === "logit" ? {} : { lens: read_by };
    return state.view.answer(route, pathOf(route, { ...query, ...more }));
  }

  /**
   * The token of the view that holds a position of the output; null if it shows another text.
   *
   * @param {number} position
   */
  function tokenAt(position) {
    const { query } = state.texts();
    const whole = query.origins ?? query.labels.map((_, i) => [i]);
    const { tower } = state.base.sites[state.base.sites.length - 1];
    if (state.site().tower !== tower) return null;
    const index = whole.findIndex((tokens) => tokens.includes(position));
    return index < 0 ? null : index;
  }

  /**
   * Follows the token of a cell.
   *
   * @param {number} row
   * @param {number} column
   */
  function choose(row, column) {
    if (!drawn) return;
    const position = drawn.first + column;
    const token = tokenAt(position);
    const pinned = token === null ? {} : { token, direction: /** @type {const} */ ("out") };
    state.select({ output: `${position}.${drawn.ids[row][column]}`, ...pinned });
  }

  /** @param {number} row @param {number} column @returns {(Node | string)[]} */
  function wordsOf(row, column) {
    if (!drawn) return [];
    const share = drawn.probabilities[row][column];
    return [
      `${capital(drawn.layers[row])}, at `,
      ...quoted(drawn.labels[column]),
      ` (${drawn.first + column}): `,
      ...quoted(drawn.names[row][column]),
      ` ${percent(share)}`,
    ];
  }

  table.onclick = (event) => {
    const at = placeOf(event.target);
    if (at) choose(at.row, at.column);
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

  /** @param {Lens} data */
  function build(data) {
    const head = element("tr", "", {}, element("th", "hs-cells-corner", { scope: "col" }, "layer"));
    head.append(
      ...data.labels.map((label, i) =>
        element("th", "", { scope: "col", title: `${legible(label)} (${data.first + i})` }, element("bdi", "", {}, legible(label))),
      ),
      element("th", "hs-cells-rank", { scope: "col" }, "rank"),
    );
    const rows = data.layers.map((layer, row) => {
      const cells = data.names[row].map((name, column) => {
        const cell = element("button", "hs-cell", { type: "button", tabindex: row || column ? "-1" : "0" }, legible(name));
        Object.assign(cell.dataset, { row, column });
        const label = wordsOf(row, column).map((each) => (typeof each === "string" ? each : each.textContent));
        cell.setAttribute("aria-label", label.join(""));
        return element("td", "", {}, cell);
      });
      const short = layer.replace("layer ", "");
      const name = element("th", "", { scope: "row", "aria-label": layer }, short);
      return element("tr", "", {}, name, ...cells, element("td", "hs-cells-rank"));
    });
    table.replaceChildren(element("thead", "", {}, head), element("tbody", "", {}, ...rows));
  }

  /** @param {Theme} theme */
  function paint(theme) {
    if (!drawn) return;
    const { names, probabilities, first } = drawn;
    const inside = ranks && ranks.position >= first && ranks.position < first + names[0].length;
    [...table.tBodies[0].rows].forEach((row, i) => {
      probabilities[i].forEach((share, column) => {
        const cell = /** @type {HTMLElement} */ (row.cells[column + 1].firstElementChild);
        const ground = shade(theme.ramp, share, 1);
        cell.style.background = `rgb(${ground.join()})`;
        cell.style.color = textOn(ground, theme.text);
        const same = inside && first + column === ranks?.position;
        cell.classList.toggle("hs-followed", Boolean(same && drawn?.ids[i][column] === ranks?.id));
      });
      const rank = row.cells[probabilities[i].length + 1];
      setText(rank, ranks ? ranks.ranks[i].toLocaleString("en") : "");
      setAttribute(rank, "title", ranks ? percent(ranks.probabilities[i]) : "");
    });
    const head = table.tHead?.rows[0].cells ?? [];
    for (let column = 0; column < names[0].length; column++)
      head[column + 1].classList.toggle("hs-cells-here", first + column === ranks?.position);
    markPainted(section);
  }

  /** Scrolls the position of the output into sight. */
  function reveal() {
    if (!drawn || !ranks) return;
    const cell = table.tHead?.rows[0].cells[ranks.position - drawn.first + 1];
    if (!cell?.classList.contains("hs-cells-here")) return;
    const beside = table.rows[0].cells[0].offsetWidth;
    const [left, right] = [cell.offsetLeft - beside, cell.offsetLeft + 2 * cell.offsetWidth - scroller.clientWidth];
    if (scroller.scrollLeft > left) scroller.scrollLeft = left;
    else if (scroller.scrollLeft < right) scroller.scrollLeft = right;
  }

  /** @param {Theme} theme */
  function summary(theme) {
    const scale = `Colours from 0 to 1. ${moreIs(theme.mode)} = likelier.`;
    if (!ranks) return scale;
    const { layers, ranks: places, probabilities, name, position } = ranks;
    const end = places.length - 1;
    let since = end;
    while (places[end] === 1 && since > 0 && places[since - 1] === 1) since -= 1;
    const rank = since < end ? `rank 1 from ${layers[since]} on` : `rank ${places[end].toLocaleString("en")} in the output`;
    return `“${legible(name)}” at position ${position}: ${rank}, probability ${percent(probabilities[end])}. ${scale}`;
  }

  /** @param {string} why @param {string} slot */
  function nothing(why, slot) {
    setText(wait, capital(why) || state.waitingFor(slot, "Reading every layer"));
    scroller.hidden = read.hidden = !drawn || Boolean(why);
    scroller.classList.toggle("hs-dim", !why);
    if (why) drawn = null;
  }

  return {
    /** @param {Theme} theme */
    render(theme) {
      last = theme;
      const { form, lens: read_by, output } = state.selection;
      section.hidden = form !== "lens";
      if (section.hidden) return;
      setText(title, `${state.base.model} · ${NAMES[LENSES.indexOf(read_by)]}`);
      if (state.base.caveat) title.append(` — ${state.base.caveat}`);
      which.selectedIndex = LENSES.indexOf(read_by);
      setText(sentence, SENTENCES[read_by]);
      setText(doubt, DOUBT + (read_by === "jacobian" ? SLOW : ""));
      followed.render(true);
      const answer = /** @type {LensRanks | {why: string} | null} */ (ask("ranks", output ? { output } : {}));
      if (answer && "why" in answer) return nothing(answer.why, "ranks");
      ranks = answer;
      if (turned?.trace !== state.trace || (ranks && asked(ranks))) turned = null;
      const place = ranks?.position ?? null;
      if (!turned && place === null) return nothing("", "ranks");
      const first = turned?.first ?? Math.floor((place ?? 0) / WINDOW) * WINDOW;
      const reply = /** @type {Lens | {why: string} | null} */ (ask("lens", { first }));
      if (!reply || "why" in reply) return nothing(reply?.why ?? "", "lens");
      setText(wait, "");
      scroller.hidden = read.hidden = false;
      scroller.classList.remove("hs-dim");
      drawn = reply;
      if (built(reply)) build(reply);
      paint(theme);
      if (revealed(reply, ranks)) reveal();
      const end = reply.first + reply.labels.length;
      pages.hidden = reply.tokens <= WINDOW;
      setText(span, `tokens ${reply.first}–${end - 1} of ${reply.tokens}`);
      back.disabled = reply.first === 0;
      on.disabled = end >= reply.tokens;
      const text = summary(theme);
      if (read.textContent === line || !read.textContent) setText(read, text);
      line = text;
    },
    save() {
      if (!drawn || !last) return;
      const { layers, labels, names, probabilities } = drawn;
      const [theme, places] = [last, ranks?.ranks];
      const cells = names.map((row, i) => [
        ...row.map((text, j) => ({ text: legible(text), ground: shade(theme.ramp, probabilities[i][j], 1) })),
        ...(places ? [{ text: places[i].toLocaleString("en"), ground: null }] : []),
      ]);
      const across = [...labels.map(legible), ...(places ? ["rank"] : [])];
      saveCells({ title: `${title.textContent} · ${line}`, rows: layers, across, cells, wide: 78 }, `${state.base.model}-lens`, theme);
    },
    /** @returns {Record<string, string>} */
    figure() {
      const { lens: read_by, output } = state.selection;
      return { lens: read_by, ...(output ? { output } : {}) };
    },
  };
}

/** @param {number} share */
export const percent = (share) =>
  share >= 0.0995 ? `${(100 * share).toFixed(0)}\u00a0%` : share >= 0.0001 ? `${(100 * share).toPrecision(2)}\u00a0%` : "< 0.01\u00a0%";
