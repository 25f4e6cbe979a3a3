// Which heads an output needs: every head switched off in turn, first by attribution, then, where
// that is largest, in passes of their own; a number of heads like others once it is there.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { signed } from "../core/ticks.js";
import { labelled } from "./output_menu.js";

/** @import {MattersAnswer, Measure} from "../types" */
/** @import {TextState} from "./state.js" */

/** @typedef {{site: number, head: number, rough: number, exact: number | null}} Effect of one head */

const KEY = "matters"; // among the numbers of heads
const TOPS = [10, 20, 40]; // heads that are switched off in passes of their own
const DIGITS = 3;
const APART = 0.5; // of the larger of two effects, from which on they are said to disagree
/** @type {Measure} */
const MEASURE = {
  ...{ key: KEY, title: "Effect when off", source: "Nanda 2023, “Attribution patching”; Kramár et al. 2024, “AtP*”" },
  ...{ formula: "logit without the head − logit", low: null, high: null },
  about: "What switching the head off does to the logit of the chosen output: exactly where it was switched off in a pass of its own, else by attribution",
};
const DOUBT =
  "What it does not prove: one head at a time is off, and others may do its work then; zero is not what the model" +
  " was trained with. By attribution, what follows the head is linearised.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function matter(state, parent) {
  const start = button("Which heads matter", "Switch off every head in turn, and see what the output loses", () => {
    on = !on;
    state.changed();
  });
  const off = element("select", "hs-select", { "aria-label": "What values become" });
  off.append(...["zero", "mean"].map((value) => element("option", "", { value }, value)));
  const top = element("select", "hs-select", { "aria-label": "Heads in passes of their own" });
  top.append(...TOPS.map((count) => element("option", "", { value: String(count) }, String(count))));
  off.onchange = top.onchange = () => state.changed();
  const order = button("Sort the thumbnails", "Every head in the order of this number", () =>
    state.select({ overview: "atlas", arrangement: "rank", rank: `-${KEY}` }),
  );
  const choices = element(
    "div",
    "hs-row",
    {},
    labelled("values become", off),
    labelled("exactly for the top", top),
    order,
  );
  const wait = element("p", "hs-even", { role: "status" });
  const said = element("p", "hs-check", { "aria-live": "polite" });
  const rows = element("tbody");
  const names = ["Head", "By attribution", "Exactly", "Apart", "Other heads of its layer"].map((name) => element("th", "", { scope: "col" }, name));
  const table = element("table", "hs-matter-table", {}, element("thead", "", {}, element("tr", "", {}, ...names)), rows);
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const body = element("div", "", {}, said, element("div", "hs-cells-scroller", {}, table), doubt);
  const box = element("div", "hs-faithful hs-matter", {}, start, choices, wait, body);
  parent.append(box);
  let on = false;
  const drawn = changes();
  const news = changes();

  /** @param {MattersAnswer} answer */
  function draw(answer) {
    const effects = effectsOf(answer);
    const passes = effects.filter(({ exact }) => exact !== null);
    const apart = passes.filter(({ rough, exact }) => Math.abs(rough - (exact ?? 0)) > APART * Math.max(Math.abs(rough), Math.abs(exact ?? 0)));
    const where = answer.position === null ? "" : ` at position ${answer.position}`;
    setText(
      said,
      "What switching a head off does to the logit of ",
      ...quoted(legible(answer.name)),
      `${where}: ${effects.length} heads by attribution`,
      passes.length ? `, ${passes.length} of them exactly. ` : "; the passes of the first ones are on their way.",
      passes.length ? disagreement(apart) : "",
    );
    const first = (passes.length ? passes : effects).sort((a, b) => Math.abs(last(b)) - Math.abs(last(a)));
    rows.replaceChildren(...first.slice(0, Number(top.value)).map((effect) => row(effect, effects)));
  }

  /** @param {Effect[]} apart */
  function disagreement(apart) {
    if (!apart.length) return "Nowhere do the two differ by more than half of the larger.";
    const named = apart.slice(0, 3).map(({ site, head }) => `${state.siteName(site)}, head ${head}`);
    return `They differ by more than half of the larger in ${apart.length}: ${named.join("; ")}${apart.length > 3 ? " …" : ""}.`;
  }

  /**
   * @param {Effect} effect
   * @param {Effect[]} all of which those of the same layer are its controls
   */
  function row({ site, head, rough, exact }, all) {
    const name = element("button", "hs-edge", { type: "button", title: "Show this head" }, `${capital(state.siteName(site))}, head ${head}`);
    name.onclick = () => state.select({ site, head });
    const numbers = [rough, exact, exact === null ? null : exact - rough];
    const cells = numbers.map((value) => element("td", "", {}, value === null ? "…" : signed(value, DIGITS)));
    const others = all.filter((each) => each.site === site && each.head !== head).map(last);
    const range = [Math.min(...others), Math.max(...others)].map((value) => signed(value, DIGITS)).join(" to ");
    const controls = element("td", "", {}, others.length ? range : "–");
    return element("tr", "", {}, element("th", "", { scope: "row" }, name), ...cells, controls);
  }

  /**
   * The numbers of heads get one more.
   *
   * @param {MattersAnswer} answer
   */
  function tell(answer) {
    /** @type {(number | null)[][]} */
    const values = state.base.sites.map(() => []);
    for (const { site, head, ...effect } of effectsOf(answer)) values[site][head] = last(effect);
    queueMicrotask(() => state.addNumber(MEASURE, values));
  }

  return {
    render() {
      setAttribute(start, "aria-pressed", String(on));
      for (const part of [choices, wait, body]) part.hidden = !on;
      if (!on) return state.view.forget(KEY);
      const { site, output } = state.selection;
      const asked = { site: state.group()[0] ?? site, off: off.value, ...(output ? { output } : {}) };
      const rough = answerOf(pathOf("matters", asked));
      const exact = rough && !("why" in rough) ? answerOf(pathOf("matters", { ...asked, top: top.value })) : null;
      const answer = exact ?? rough;
      const why = answer && "why" in answer ? answer.why : "";
      setText(wait, exact && !why ? "" : capital(why) || state.waitingFor(KEY, "Switching off heads"));
      body.hidden = !answer || Boolean(why);
      if (!answer || "why" in answer) return;
      if (drawn(answer)) draw(answer);
      const numbers = state.askNumbers();
      if (numbers && (news(answer, state.trace) || !numbers.has(KEY))) tell(answer);
    },
  };

  /** @param {string} path */
  function answerOf(path) {
    return /** @type {MattersAnswer | {why: string} | null} */ (state.view.answer(KEY, path));
  }
}

/** @param {{rough: number, exact: number | null}} effect */
const last = ({ rough, exact }) => exact ?? rough;

/**
 * @param {MattersAnswer} answer
 * @returns {Effect[]}
 */
const effectsOf = ({ sites, attribution, exact }) =>
  sites.flatMap((site, i) =>
    attribution[i].map((rough, head) => ({ site, head, rough: rough ?? 0, exact: exact?.[i][head] ?? null })),
  );
