// Buttons for the heads and layers that are drawn together.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setAttribute } from "../core/dom.js";
import { groupOf, layerName } from "../core/labels.js";
import { headsShown, listOf, toggled } from "./strands.js";

/** @import {Head, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

/**
 * @param {Head} head
 * @param {Theme} theme
 */
export const headColour = (head, theme) =>
  typeof head === "number" ? theme.heads[head % theme.heads.length] : theme.primary;

/**
 * A button for each head: a click switches it on or off, a double click draws it alone.
 *
 * @param {TextState} state
 */
export function headSwitches(state) {
  const box = element("div", "hs-heads", { role: "group", "aria-label": "Heads drawn" });
  const built = changes();
  const heads = () => headsShown(state.selection.shown, state.selection.head, state.site().heads);

  function build(theme) {
    const all = [...Array(state.site().heads).keys()];
    const set = (next) => state.select({ shown: listOf(next) });
    box.replaceChildren(
      ...all.map((head) => {
        const node = element("button", "hs-head-switch", { type: "button" }, String(head));
        node.title = `Head ${head}: click switches it on or off, a double click draws it alone`;
        node.setAttribute("aria-label", `Head ${head}`);
        node.style.setProperty("--head", headColour(head, theme));
        node.onclick = () => state.select({ shown: toggled(heads(), head) });
        node.ondblclick = () => state.select({ head, shown: "" });
        return node;
      }),
      button("All", "Draw all heads of the layer", () => set(all)),
      button("One", "Draw the chosen head alone", () => set([])),
    );
  }

  /** The buttons stay, and with them focus and double clicks. */
  function render(theme) {
    if (built(theme, state.selection.site, state.trace)) build(theme);
    const on = heads();
    for (const [head, node] of [...box.children].slice(0, state.site().heads).entries())
      setAttribute(node, "aria-pressed", String(on.includes(head)));
  }

  return { box, heads, render };
}

/**
 * A button for each layer of the chosen kind of attention.
 *
 * @param {TextState} state
 */
export function layerSwitches(state) {
  const box = element("div", "hs-heads", { role: "group", "aria-label": "Layers drawn" });
  const built = changes();
  const layerOf = (/** @type {number} */ site) => state.base.sites[site].layer;

  /** The sites of the layers that a link lists, else the chosen one. */
  function sites() {
    const { site, layers } = state.selection;
    const listed = layers.split(".").filter(Boolean).map(Number);
    const matching = groupOf(state.base, site).filter((each) => listed.includes(layerOf(each)));
    return matching.length ? matching : [site];
  }

  function toggle(site) {
    const on = sites();
    const others = on.filter((each) => each !== site);
    const next = others.length === on.length || !others.length ? [...others, site] : others;
    state.select({ layers: listOf(next.map(layerOf)) });
  }

  function build() {
    const group = state.group();
    box.replaceChildren(
      ...group.map((site) => {
        const name = layerName(state.base, site);
        const node = element("button", "hs-head-switch hs-layer-switch", { type: "button" }, name);
        node.title = `Layer ${name}: click switches it on or off`;
        node.setAttribute("aria-label", `Layer ${name}`);
        node.onclick = () => toggle(site);
        return node;
      }),
      button("All", "Draw all layers", () => state.select({ layers: listOf(group.map(layerOf)) })),
      button("One", "Draw the chosen layer alone", () => state.select({ layers: "" })),
    );
  }

  function render() {
    const group = state.group();
    if (built(state.trace, group[0], group.length)) build();
    const on = sites();
    group.forEach((site, i) =>
      setAttribute(box.children[i], "aria-pressed", String(on.includes(site))),
    );
  }

  return { box, sites, render };
}
