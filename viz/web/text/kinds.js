// Buttons that go to a kind of attention.

import { button, switchOf } from "../core/bar.js";
import { groupsOf } from "../core/labels.js";

/** @import {ManyHeads} from "../types" */

/** @typedef {Pick<ManyHeads, "base" | "selection" | "select">} Chosen */

/** @type {Record<string, string>} */
const KINDS = {
  self: "The input’s positions attend to each other, both ways",
  causal: "A token attends to itself and to what came before it",
  cross: "The target’s tokens attend to the source",
  joint: "Encoder, cross-attention and decoder in one matrix: the source’s tokens, then the target’s",
};

/**
 * One button for each kind of attention, where there are several.
 *
 * @param {Chosen} state
 */
export function kindSwitch(state) {
  const box = switchOf("Kind of attention");
  let named = "";
  function show() {
    const groups = [...groupsOf(state.base)];
    const names = groups.map(([name]) => name).join();
    if (names !== named) {
      named = names;
      const several = groups.length > 1 ? groups : [];
      box.replaceChildren(...several.map(([name]) => kindButton(state, name)));
      box.hidden = !several.length;
    }
    [...box.children].forEach((child, i) => {
      child.setAttribute("aria-pressed", String(groups[i][1].includes(state.selection.site)));
    });
  }
  return { box, show };
}

/** A button that goes to a kind of attention, at the same layer where it has one. */
function kindButton(state, name) {
  const sites = () => groupsOf(state.base).get(name) ?? [];
  return button(name, KINDS[state.base.sites[sites()[0]].kind], () => {
    const { layer } = state.base.sites[state.selection.site];
    const same = sites().find((site) => state.base.sites[site].layer === layer);
    state.select({ site: same ?? sites()[0] });
  });
}
