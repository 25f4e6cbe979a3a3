// Every head at once: as thumbnails, as dots between any two of their numbers, or as a table; and
// the finder, which ranks them.

import { button, switchOf } from "../core/bar.js";
import { element } from "../core/dom.js";
import { atlas } from "./atlas.js";

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
  views.hidden = VIEWS.length < 2;
  const panels = [...VIEWS.map(({ make }) => make(state, section))];
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
