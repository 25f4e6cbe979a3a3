// Every head at once: as thumbnails, as dots between any two of their numbers, or as a table; and
// the finder, which ranks them.

import { button, switchOf } from "../core/bar.js";
import { element } from "../core/dom.js";
import { atlas } from "./atlas.js";
import { finder } from "./finder.js";
import { scatter } from "./scatter.js";
import { table } from "./table.js";

/** @import {Overview, Panel} from "../types" */
/** @import {TextState} from "./state.js" */

/** @type {{name: Overview, label: string, title: string, make: (state: TextState, parent: HTMLElement) => Panel}[]} */
const VIEWS = [
  {
    name: "atlas",
    label: "Thumbnails",
    title: "Each head as a small picture: a row per layer",
    make: atlas,
  },
  {
    name: "scatter",
    label: "Scatter",
    title: "Each head as a dot, placed by two of its numbers and coloured by a third",
    make: scatter,
  },
  {
    name: "table",
    label: "Table",
    title: "Each head as a row of its numbers, to sort and to filter",
    make: table,
  },
];

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function overview(state, parent) {
  const views = switchOf(
    "View of every head",
    ...VIEWS.map(({ name, label, title }) =>
      button(label, title, () => state.select({ overview: name })),
    ),
  );
  const heading = element("h3", "hs-heading", {}, "Every head");
  const spring = element("span", "hs-spring");
  const section = element(
    "section",
    "hs-section hs-atlas",
    {},
    element("div", "hs-row", {}, heading, spring, views),
  );
  parent.append(section);
  const panels = [...VIEWS.map(({ make }) => make(state, section)), finder(state, section)];
  return {
    render(theme) {
      VIEWS.forEach(({ name }, i) =>
        views.children[i].setAttribute("aria-pressed", String(name === state.selection.overview)),
      );
      for (const panel of panels) panel.render(theme);
    },
    destroy: () => panels.forEach((panel) => panel.destroy?.()),
  };
}
