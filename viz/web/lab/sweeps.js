// Sweeps: every head switched off in turn, and every state of a second input patched in, by what that does.

import { html } from "../core/html.js";
import { HeadsThatMatter } from "../matter/heads.js";
import { States } from "../../views/image/patching.js";
import { Matter } from "../../views/parts/matter.js";
import { Patching } from "../../views/parts/patching.js";

/** @param {{state: any, theme: import("../types").Theme, ask: (asked: import("../core/edits.js").Asked) => void}} props */
export function Sweeps({ state, theme, ask }) {
  const { view, base } = state;
  if (state.texts)
    return html`
      <${Matter} ...${{ state, theme }} />
      ${base.explains !== "similarity" && html`<${Patching} ...${{ state, theme }} />`}
    `;
  const select = (change) => state.select(change);
  return html`
    <${HeadsThatMatter} ...${{ view, theme, ask, select, site: state.selection.site }} />
    <${States} ...${{ state, theme, ask }} />
    ${!view.props.second?.source && html`<p class="hs-doubt">Which states matter needs a second picture: see “Compare”.</p>`}
  `;
}
