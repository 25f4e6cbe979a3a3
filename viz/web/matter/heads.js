// Which heads an output needs: every head switched off in turn, first by attribution, then, where
// that is largest, in passes of their own. A head is compared with all others of its layer.

import { button } from "../core/bar.js";
import { placeOf, walk } from "../core/cells.js";
import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { addressOf, callOf } from "../core/edit_text.js";
import { capital, legible, siteName } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { stopping } from "../core/stopping.js";
import { signed } from "../core/ticks.js";
import { colourOf, largest } from "../methods/methods.js";
import { labelled } from "../methods/output_menu.js";
import { rankOf, strip } from "./strip.js";
import { inTwoSteps } from "./in_two_steps.js";

/** @import {MattersAnswer, MattersInLayer, Selection, Theme} from "../types" */
/** @import {Control} from "./strip.js" */

/**
 * What is swept in a view.
 *
 * @typedef {object} Swept
 * @property {import("../core/state.js").ViewState<any>} view
 * @property {() => number} site of the kind whose heads are switched off
 * @property {(change: Partial<Selection>) => void} select
 * @property {() => ((text: string) => void) | null | undefined} edit what makes an edit of the pass
 * @property {HTMLElement[]} [more] controls
 * @property {(answer: MattersAnswer) => void} [receive] what else shows the numbers
 */

/** @typedef {{site: number, head: number, rough: number, exact: number | null}} Effect of one head */

export const KEY = "matters";
const IN_LAYER = "matters in layer";
const TOPS = [10, 20, 40]; // heads that are switched off in passes of their own
const DIGITS = 3;
const NUMBERED = 16; // heads of a layer up to which numbers stand in the cells
const FAINT = 0.02; // of the largest, below which a cell has no number
const LEAST = 0.005; // below which a cell has no number
const APART = 0.5; // of the larger of two effects, from which on they are said to disagree
const DOUBT =
  "What it does not prove: one head at a time is off, and others may do its work then; zero is not what the model" +
  " was trained with. By attribution, what follows the head is linearised";
const ALONG = ", and the distance estimated along 8 random directions"; // analysis.sweep.DIRECTIONS

/**
 * @param {Swept} swept
 * @param {HTMLElement} parent
 */
export function headsThatMatter(swept, parent) {
  const { view } = swept;
  const start = button("Which heads matter", "Switch off every head in turn, and see what the output loses", () =>
    swept.select({ matter: isOn() ? "no" : "zero" }),
  );
  const off = element("select", "hs-select", { "aria-label": "What values become" });
  off.append(...["zero", "mean"].map((value) => element("option", "", { value }, value)));
  off.onchange = () => swept.select({ matter: /** @type {Selection["matter"]} */ (off.value) });
  const top = element("select", "hs-select", { "aria-label": "Heads in passes of their own" });
  top.append(...TOPS.map((count) => element("option", "", { value: String(count) }, String(count))));
  top.onchange = () => view.changed();
  const choices = element("div", "hs-row", {}, labelled("values become", off), labelled("exactly for the top", top), ...(swept.more ?? []));
  const wait = element("p", "hs-even", { role: "status" });
  const stop = stopping(view, KEY);
  const waiting = element("div", "hs-row", {}, wait, stop.node);
  const said = element("p", "hs-check", { "aria-live": "polite" });
  const grid = element("table", "hs-cells hs-cells-square");
  const cells = element("div", "hs-cells-scroller", { role: "group", "aria-label": "Effects by layer and head" }, grid);
  const read = element("p", "hs-matter-read", { "aria-live": "polite" });
  const go = button("Show this head", "Show the attention of this head", () => chosen && swept.select(chosen));
  const apply = button("Switch it off", "Make this an edit of the pass", () => chosen && swept.edit()?.(edit(chosen)));
  for (const node of [go, apply]) node.removeAttribute("aria-label");
  const controls = strip();
  const rows = element("tbody");
  const names = ["Head", "By attribution", "Exactly", "Apart", "Among its layer"].map((name) => element("th", "", { scope: "col" }, name));
  const table = element("table", "hs-matter-table", {}, element("thead", "", {}, element("tr", "", {}, ...names)), rows);
  const doubt = element("p", "hs-doubt");
  const one = element("div", "hs-row", {}, read, go, apply);
  const body = element("div", "", {}, said, cells, one, controls.box, element("div", "hs-cells-scroller", {}, table), doubt);
  const box = element("div", "hs-faithful hs-matter", {}, start, choices, waiting, body);
  parent.append(box);
  /** @type {{site: number, head: number} | null} */
  let chosen = null;
  /** @type {MattersAnswer | null} */
  let answered = null;
  const drawn = changes();
  const marked = changes();

  const isOn = () => view.selection.matter !== "no";
  /** The chosen output; a state is none whose logit could be read. */
  const outputOf = () => (view.base.explains === "similarity" ? "" : view.selection.output);
  /** @param {number} site */
  const nameOf = (site) => siteName(view.base, site);

  /** @param {{site: number, head: number}} of */
  function edit({ site, head }) {
    const place = view.base.sites[site];
    /** @type {Record<string, string>} */
    const how = off.value === "mean" ? { how: "mean" } : {};
    return callOf("Ablate", [place.layer, head], { ...how, ...addressOf(view.base.sites, place) });
  }

  /** @param {Event} event */
  function point(event) {
    const at = placeOf(event.target);
    if (at && answered) choose({ site: answered.sites[at.row], head: at.column });
  }
  grid.addEventListener("focusin", point);
  grid.addEventListener("click", point);
  grid.onkeydown = (event) => walk(grid, event);

  /** @param {{site: number, head: number}} of */
  function choose(of) {
    if (chosen?.site === of.site && chosen.head === of.head) return;
    chosen = of;
    view.changed();
  }

  /**
   * @param {MattersAnswer} answer
   * @param {Theme} theme
   */
  function draw(answer, theme) {
    const effects = effectsOf(answer);
    const passes = effects.filter(({ exact }) => exact !== null);
    const apart = passes.filter(({ rough, exact }) => Math.abs(rough - (exact ?? 0)) > APART * Math.max(Math.abs(rough), Math.abs(exact ?? 0)));
    setText(
      said,
      ...subject(answer),
      `: ${effects.length} heads by attribution`,
      passes.length ? `, ${passes.length} of them exactly, framed. ` : ".",
      passes.length ? disagreement(apart) : "",
    );
    setText(doubt, `${DOUBT}${answer.number === "distance" ? ALONG : ""}.`);
    fill(answer, effects, theme);
    const first = (passes.length ? passes : effects).toSorted((a, b) => Math.abs(last(b)) - Math.abs(last(a)));
    rows.replaceChildren(...first.slice(0, Number(top.value)).map((effect) => row(effect, effects)));
    chosen ??= { site: first[0].site, head: first[0].head };
  }

  /** @param {Effect[]} apart */
  function disagreement(apart) {
    if (!apart.length) return "Nowhere do the two differ by more than half of the larger.";
    const named = apart.slice(0, 3).map(({ site, head }) => `${nameOf(site)}, head ${head}`);
    return `They differ by more than half of the larger in ${apart.length}: ${named.join("; ")}${apart.length > 3 ? " …" : "."}`;
  }

  /**
   * @param {MattersAnswer} answer
   * @param {Effect[]} effects
   * @param {Theme} theme
   */
  function fill({ sites, attribution, number }, effects, theme) {
    const most = largest(effects.map(last));
    const columns = Math.max(...attribution.map((heads) => heads.length));
    const head = element("tr", "", {}, element("th", "hs-cells-corner", { scope: "col" }, "layer"));
    head.append(...[...Array(columns).keys()].map((index) => element("th", "", { scope: "col" }, String(index))));
    const lines = sites.map((site, i) => {
      const mine = effects.filter((effect) => effect.site === site);
      const buttons = mine.map((effect) => {
        const value = last(effect);
        const text = columns > NUMBERED || Math.abs(value) < Math.max(FAINT * most, LEAST) ? "" : signed(value, 2);
        const node = element("button", "hs-cell", { type: "button", tabindex: i || effect.head ? "-1" : "0" }, text);
        Object.assign(node.dataset, { row: i, column: effect.head });
        const ground = colourOf(theme, value, most, number === "logit");
        node.style.background = `rgb(${ground.join()})`;
        node.style.color = textOn(ground, theme.text);
        node.classList.toggle("hs-exact", effect.exact !== null);
        node.setAttribute("aria-label", `${capital(nameOf(site))}, head ${effect.head}: ${signed(value, DIGITS)}`);
        return element("td", "", {}, node);
      });
      const name = nameOf(site);
      return element("tr", "", {}, element("th", "", { scope: "row", "aria-label": name }, name.replace("layer ", "")), ...buttons);
    });
    grid.replaceChildren(element("thead", "", {}, head), element("tbody", "", {}, ...lines));
  }

  /**
   * @param {Effect} effect
   * @param {Effect[]} all of which those of the same layer are its controls
   */
  function row(effect, all) {
    const { site, head, rough, exact } = effect;
    const name = element("button", "hs-edge", { type: "button", title: "Show this head" }, `${capital(nameOf(site))}, head ${head}`);
    name.onclick = () => {
      chosen = { site, head };
      swept.select({ site, head });
      view.changed();
    };
    const numbers = [rough, exact, exact === null ? null : exact - rough];
    const nodes = numbers.map((value) => element("td", "", {}, value === null ? "…" : signed(value, DIGITS)));
    const others = all.filter((each) => each.site === site && each.head !== head);
    const line = strip("hs-spread-small");
    const words = capital(rankOf(last(effect), others.map(last), nameOf(site)));
    line.draw(control(effect), others.map(control), words);
    line.box.title = words;
    return element("tr", "", {}, element("th", "", { scope: "row" }, name), ...nodes, element("td", "", {}, line.box));
  }

  /** @param {Effect} effect @returns {Control} */
  const control = ({ head, rough, exact }) => ({ name: `head ${head}`, value: exact ?? rough, exact: exact !== null });

  /** What is read of the chosen head, among all of its layer as soon as their passes are there. */
  function compare() {
    if (!chosen || !answered) return;
    const { site, head } = chosen;
    const output = outputOf();
    const done = answered.exact !== null;
    const path = pathOf("matters_in_layer", { site, off: off.value, ...(output ? { output } : {}) });
    const layer = done ? /** @type {MattersInLayer | {why: string} | null} */ (view.answer(IN_LAYER, path)) : null;
    const exact = layer && !("why" in layer) ? layer.exact : null;
    if (!marked(answered, exact, site, head)) return;
    const effects = effectsOf(answered).filter((effect) => effect.site === site);
    const all = effects.map((effect) => control(exact ? { ...effect, exact: exact[effect.head] } : effect));
    const mine = all[head];
    const others = all.filter((_, i) => i !== head);
    const rank = others.length ? rankOf(mine.value, others.map(({ value }) => value), nameOf(site)) : "";
    const { rough } = effects[head];
    setText(
      read,
      `${capital(nameOf(site))}, head ${head}: ${signed(rough, DIGITS)} by attribution${mine.exact ? `, ${signed(mine.value, DIGITS)} exactly` : ""}`,
      rank ? `; ${rank}${exact ? ", each switched off alone" : ", as far as they are known"}.` : ".",
    );
    controls.box.hidden = !others.length;
    controls.draw(mine, others, `Heads of ${nameOf(site)}: head ${head} is ${rank}`);
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (grid.querySelectorAll(".hs-cell"))) {
      const here = answered.sites[Number(node.dataset.row)] === site && Number(node.dataset.column) === head;
      node.classList.toggle("hs-followed", here);
    }
    apply.disabled = !swept.edit();
  }

  return {
    /** @param {Theme} theme */
    render(theme) {
      const on = isOn();
      setAttribute(start, "aria-pressed", String(on));
      for (const part of [choices, waiting, body]) part.hidden = !on;
      if (!on) {
        view.forget(IN_LAYER);
        return view.forget(KEY);
      }
      const [output, { matter }] = [outputOf(), view.selection];
      off.value = matter;
      const asked = { site: swept.site(), off: matter, ...(output ? { output } : {}) };
      /** @type {MattersAnswer | null} */
      const answer = inTwoSteps(view, KEY, asked, top.value, { wait, waiting, body, stop }, "Switching off heads");
      if (!answer) return;
      if (drawn(answer, theme.mode)) {
        if (answered && String(answered.sites) !== String(answer.sites)) chosen = null;
        answered = answer;
        draw(answer, theme);
      }
      compare();
      swept.receive?.(answer);
    },
  };
}

/**
 * @param {MattersAnswer} answer
 * @returns {(Node | string)[]}
 */
function subject({ number, name, position }) {
  if (number === "distance") return [`How far the last state of the ${name} moves without a head, as 1 − cosine`];
  const where = position === null ? "" : ` at position ${position}`;
  return ["What switching a head off does to the logit of ", ...quoted(legible(name).trim()), where];
}

/** @param {{rough: number, exact: number | null}} effect */
const last = ({ rough, exact }) => exact ?? rough;

/**
 * @param {MattersAnswer} answer
 * @returns {Effect[]}
 */
export const effectsOf = ({ sites, attribution, exact }) =>
  sites.flatMap((site, i) =>
    attribution[i].map((rough, head) => ({ site, head, rough: rough ?? 0, exact: exact?.[i][head] ?? null })),
  );
