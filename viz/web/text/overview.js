// Every head at once: as dots between any two of their numbers, as a table, or as what else the view
// offers; the
// finder, which ranks them; and the conditions by which they are filtered in all of these.

import { button, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { panelWithin } from "../core/view_panel.js";
import { finder } from "./finder.js";
import { conditionOf, nameOfSpot } from "./numbers.js";
import { scatter } from "./scatter.js";
import { TableOfHeads } from "./table.js";

/** @import {ManyHeads, Overview, Panel} from "../types" */

/**
 * A view of all heads.
 *
 * @template S
 * @typedef {object} ViewOfHeads
 * @property {Overview} name
 * @property {string} label
 * @property {string} title
 * @property {(state: S, parent: HTMLElement) => Panel} make
 */

/** @type {ViewOfHeads<ManyHeads>} */
export const SCATTER = {
  name: "scatter",
  label: "Scatter",
  title: "Each head as a dot, placed by two of its numbers and coloured by a third",
  make: scatter,
};

/** @type {ViewOfHeads<ManyHeads>} */
export const TABLE = {
  name: "table",
  label: "Table",
  title: "Each head as a row of its numbers, to sort and to filter",
  make: (state, parent) => ({ ...panelWithin(parent, TableOfHeads, { state }), late: false }),
};

/**
 * @template {ManyHeads} S
 * @param {S} state
 * @param {HTMLElement} parent
 * @param {ViewOfHeads<S>[]} offered the first is shown where another was chosen
 * @param {HTMLElement[]} [controls] of the chosen head, for the heading
 * @returns {Panel}
 */
export function overview(state, parent, offered, controls = []) {
  const views = switchOf(
    "View of every head",
    ...offered.map(({ name, label, title }) =>
      button(label, title, () => state.select({ overview: name })),
    ),
  );
  const heading = element("h3", "hs-heading", {}, "Every head");
  const spring = element("span", "hs-spring");
  const filtered = element("span", "", { "aria-live": "polite" });
  const clear = button("Clear", "Show all heads alike", () => state.select({ conditions: "" }));
  const filters = element("p", "hs-filtered", {}, filtered, " ", clear);
  const section = element(
    "section",
    "hs-section hs-atlas",
    {},
    element("div", "hs-row", {}, heading, ...controls, spring, views),
    filters,
  );
  parent.append(section);
  const place = element("div");
  section.append(place);
  const search = finder(state, section);
  /** @type {Map<Overview, Panel>} the views that have been chosen so far */
  const panels = new Map();
  const judged = changes();

  /** Which heads stand out: those that meet the conditions, or those that the finder lists. */
  function judge() {
    const { numbers, conditions } = state;
    const group = state.group()[0];
    if (!judged(numbers, conditions, search.listed(), group)) return;
    const listed = search.listed() ?? (numbers && conditions.size ? state.passing() : null);
    state.standing = listed && new Set(listed.map(nameOfSpot));
    const texts = [...conditions].filter(([, text]) => conditionOf(text));
    filters.hidden = !numbers || !texts.length;
    if (!numbers || !texts.length) return;
    const names = texts.map(([key, text]) => `${numbers.measure(key).title} ${text}`);
    const count = state.passing().length;
    setText(filtered, `${count} of ${state.spots().length} heads: ${names.join(" and ")}`);
  }

  filters.hidden = true;
  return {
    render(theme) {
      offered.forEach(({ name }, i) =>
        views.children[i].setAttribute("aria-pressed", String(name === state.selection.overview)),
      );
      const chosen = offered.find(({ name }) => name === state.selection.overview) ?? offered[0];
      if (state.conditions.size) state.askNumbers();
      if (!panels.has(chosen.name)) panels.set(chosen.name, chosen.make(state, place));
      search.render(theme);
      judge();
      for (const panel of panels.values()) panel.render(theme);
    },
    destroy: () => panels.forEach((panel) => panel.destroy?.()),
  };
}
