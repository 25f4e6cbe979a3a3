// A menu that goes to a kind of attention, at the same layer where it has one.

import { html } from "../core/html.js";
import { groupsOf } from "../core/labels.js";
import { Menu } from "./controls.js";

/** @import {ManyHeads} from "../types" */

/** @type {Record<string, string>} */
const KINDS = {
  self: "The input’s positions attend to each other, both ways",
  causal: "A token attends to itself and to what came before it",
  cross: "The target’s tokens attend to the source",
  joint: "Encoder, cross-attention and decoder in one matrix: the source’s tokens, then the target’s",
};

/** @param {{state: Pick<ManyHeads, "base" | "selection" | "select">}} props */
export function Kinds({ state }) {
  const { base, selection } = state;
  const groups = [...groupsOf(base)];
  if (groups.length < 2) return null;
  const { layer } = base.sites[selection.site];
  const goTo = (sites) =>
    state.select({ site: sites.find((site) => base.sites[site].layer === layer) ?? sites[0] });
  const chosen = groups.findIndex(([, sites]) => sites.includes(selection.site));
  return html`<${Menu}
    name="Kind of attention"
    title=${KINDS[base.sites[selection.site].kind]}
    labels=${groups.map(([label]) => label)}
    index=${chosen}
    onChoose=${(index) => goTo(groups[index][1])}
  />`;
}
