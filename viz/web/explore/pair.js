// Parts of a text: one of the two texts of a pair, a recording without its padding.

import { html } from "../core/html.js";
import { Switch } from "../parts/controls.js";
import { BLOCKS } from "../text/span.js";

/** The texts of a pair, or of a joint map, that attend and are attended to. */
export function Blocks({ state }) {
  const { query, key } = state.texts();
  if (query.second === undefined && key.second === undefined) return null;
  const names = state.site().kind === "joint" ? ["source", "target"] : ["A", "B"];
  const choices = BLOCKS.map((value) => {
    const [from, to] = [...value].map((side) => names[side === "a" ? 0 : 1]);
    return value === "all"
      ? { value, label: "All", title: "Both texts" }
      : { value, label: `${from} → ${to}`, title: `From ${from} to ${to}` };
  });
  const choose = (block) => state.select({ block });
  return html`<${Switch} name="Texts of the pair" choices=${choices} chosen=${state.selection.block} onChoose=${choose} />`;
}

/** How much of a recording is left out. */
export function Unheard({ state }) {
  const unheard = state.unheard();
  return unheard ? html`<span class="hs-count">${`without ${unheard.toFixed(1)} s of padding`}</span>` : null;
}
