// Sweeps: every head switched off in turn, and every state of a second input patched in, by what that does.

import { html } from "../core/html.js";
import { HeadsThatMatter } from "../matter/heads.js";
import { StatesOfPictures } from "../matter/pictures.js";
import { StatesOfTexts } from "../matter/texts.js";

/** @param {{state: any, theme: import("../types").Theme, ask: (asked: import("../core/edits.js").Asked) => void}} props */
export function Sweeps({ state, theme, ask }) {
  const { view, base } = state;
  const states = !base.patches
    ? base.explains !== "similarity" && html`<${StatesOfTexts} ...${{ state, theme }} />`
    : html`
      <${StatesOfPictures} ...${{ state, theme, ask }} />
      ${!view.props.second?.source && html`<p class="hs-doubt">Which states matter needs a second picture: see “Compare”.</p>`}
    `;
  return html`<${HeadsThatMatter} ...${{ state, theme, ask }} />${states}`;
}
