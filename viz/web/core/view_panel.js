// Views, which are components of Preact, as panels among those that draw themselves.

import { createRef, render } from "../vendor/preact.js";
import { element } from "./dom.js";
import { html } from "./html.js";

/** @import {FormPanel, Panel, Theme} from "../types" */

const LEAST = 120; // pixels of the height of a picture
/** @import {TextState} from "../text/state.js" */

/**
 * The room of a view: of its stage, where a picture stands, or of all of it.
 *
 * @typedef {object} Space
 * @property {number} wide
 * @property {number} high
 * @property {number} unit size of type, 1 at 16 pixels
 * @property {string} family of the type
 */

/**
 * What a component is given. It draws the state when it is called; `panel` takes what the toolbar
 * needs of it.
 *
 * @typedef {object} ViewProps
 * @property {TextState} state
 * @property {Theme} theme
 * @property {Space} space
 * @property {ViewPanel} panel
 */

/** @typedef {FormPanel & {stage: {current: HTMLElement | null}}} ViewPanel */

/** @typedef {(props: ViewProps) => unknown} View */

/** @typedef {(state: TextState, parent: HTMLElement) => ViewPanel} Painter */

/**
 * What makes the panel of a view, which is there while its form is chosen.
 *
 * @param {string} name of the form
 * @param {() => Promise<View>} load imports the view, which is drawn from then on
 * @returns {Painter}
 */
const panelOf = (name, load) => (state, parent) => {
  const section = element("section", `hs-section hs-${name}`);
  parent.append(section);
  /** @type {{space: Space}} */
  const measured = { space: { wide: 0, high: 0, unit: 1, family: "" } };
  const view = createRef();
  const draw = (theme) =>
    render(html`<${view.current} ...${{ state, theme, panel, ...measured }} />`, section);
  async function begin() {
    section.textContent = "Loading …";
    try {
      view.current = await load();
      section.replaceChildren();
      state.changed();
    } catch {
      section.textContent = "A part of this page could not be loaded. Reload the page.";
    }
  }
  /** @type {ViewPanel} */
  const panel = {
    stage: createRef(),
    measure() {
      const place = panel.stage.current ?? section;
      const { fontSize, fontFamily: family } = getComputedStyle(section);
      const room = section.closest(".hs-drawing");
      const above = place.getBoundingClientRect().top - section.getBoundingClientRect().top;
      measured.space = {
        wide: place.clientWidth,
        high: Math.max(LEAST, (room?.clientHeight ?? innerHeight / 2) - Math.round(above)),
        unit: parseFloat(fontSize) / 16,
        family,
      };
    },
    render(theme) {
      section.hidden = state.selection.form !== name;
      if (section.hidden) return;
      if (!view.current) return void (section.firstChild ?? begin());
      if (!measured.space.wide) {
        draw(theme); // its stage is there to be measured
        panel.measure?.();
      }
      draw(theme);
    },
    destroy: () => render(null, section),
  };
  return panel;
};

/**
 * @template {string} Name
 * @param {Record<Name, () => Promise<View>>} views by the names of their forms
 * @returns {Record<Name, Painter>}
 */
export const paintersOf = (views) =>
  /** @type {Record<Name, Painter>} */ (
    Object.fromEntries(
      Object.entries(views).map(([name, load]) => [name, panelOf(name, /** @type {any} */ (load))]),
    )
  );

/**
 * Imports the view that is drawn first while its numbers are fetched, and the others once the pointer or the
 * focus comes to the page's views.
 *
 * @param {HTMLElement} root
 * @param {Record<string, () => Promise<View>>} views
 * @param {string} first
 */
export function loadAhead(root, views, first) {
  const load = (/** @type {string} */ name) => void views[name]?.().catch(() => {}); // its panel says so
  load(first);
  for (const event of ["pointerover", "focusin"])
    root.addEventListener(event, () => Object.keys(views).forEach(load), { once: true });
}

/**
 * A component as a panel among others, drawn after them.
 *
 * @template P
 * @param {HTMLElement} parent
 * @param {(props: P & {theme: Theme}) => unknown} Component
 * @param {P} props
 * @returns {Panel}
 */
export function panelWithin(parent, Component, props) {
  const { box, render: draw } = embedded(Component);
  parent.append(box);
  return { late: true, render: (theme) => draw({ ...props, theme }), destroy: () => draw(null) };
}

/**
 * A component within a panel that draws itself; null takes it away.
 *
 * @template P
 * @param {(props: P) => unknown} Component
 */
export function embedded(Component) {
  const box = element("div", "hs-embedded");
  return {
    box,
    /** @param {P | null} props */
    render: (props) => render(props && html`<${Component} ...${props} />`, box),
  };
}
