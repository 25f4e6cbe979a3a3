// Another picture or network beside the first: pointing and choosing in one shows in both.

import { headsOf } from "./heads.js";
import { pictureOf } from "./grid.js";
import { ImageState } from "./state.js";

/** @import {Host, Panel, Theme, ViewProps} from "../types" */

/**
 * The panels of the second trace, as long as the props name one.
 *
 * @param {ImageState} first
 * @param {HTMLElement} grid of panels, those of the first trace among them
 * @param {HTMLElement} root
 * @param {Host} host
 * @returns {Panel}
 */
export function besideOf(first, grid, root, host) {
  const before = [...grid.children];
  /** @type {ImageState | null} */
  let second = null;
  /** @type {ViewProps | null} */
  let props = null;
  let revision = "";
  /** @type {{measure: () => void, render: (theme: Theme) => void}[]} */
  let panels = [];
  /** @type {HTMLElement[]} what the panels draw in */
  let parts = [];

  /** @param {ViewProps} given */
  function open(given) {
    second = new ImageState(root, given, host, first);
    second.view.subscribe(() => first.changed());
    first.peer = second;
    panels = [pictureOf(second, grid), headsOf(second, grid)];
    const [picture, heads] = /** @type {HTMLElement[]} */ ([...grid.children].slice(before.length));
    before[0].after(picture);
    grid.append(heads);
    parts = [picture, heads];
    for (const part of parts) part.inert = true; // until there is something to choose
  }

  function close() {
    second?.destroy();
    second?.view.destroy();
    second = null;
    panels = [];
    grid.replaceChildren(...before);
  }

  /** Opens, changes or closes the second trace after the props have changed. */
  function settle() {
    const { view } = first;
    if (props === view.props) return;
    ({ props } = view);
    grid.classList.toggle("hs-two", Boolean(props.second));
    if (!props.second) return close();
    const given = secondProps(props, props.second);
    if (!second) open(given);
    second?.view.update(given);
  }

  return {
    measure() {
      settle();
      if (!second?.view.baseOrNull) return;
      if (!first.view.start && revision !== first.view.revision) {
        ({ revision } = first.view);
        second.adopt();
      }
      for (const panel of panels) panel.measure();
    },
    render(theme) {
      if (!second?.view.baseOrNull) return;
      for (const panel of panels) panel.render(theme);
      for (const part of parts) part.inert = false;
    },
    destroy: close,
  };
}

/**
 * The props of the second trace: it writes no link and keeps no selection.
 *
 * @param {ViewProps} props
 * @param {NonNullable<ViewProps["second"]>} second
 * @returns {ViewProps}
 */
const secondProps = (props, second) => ({
  ...props,
  ...second,
  ...{ page: "", path: [], link: {}, revision: "second", start: null, panels: [], second: null },
});
