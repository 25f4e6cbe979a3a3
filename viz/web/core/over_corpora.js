// What the chosen head does over corpora that the same model has read, beside what it does here.

import { useAnswer } from "./hooks.js";
import { html } from "./html.js";
import { pathOf } from "./sources.js";

/** @import {Selection} from "../types" */

/** @param {{state: {view: import("./state.js").State<any>, selection: Selection}}} props */
export function OverCorpora({ state: { view, selection } }) {
  const { site, head } = selection;
  const path = typeof head === "number" ? pathOf("corpora", { site, head }) : null;
  const { newest } = useAnswer(view, "corpora", path);
  const lines = path ? newest?.corpora : [];
  return html`
    <div class="hs-over-corpora" aria-live="polite">
      ${lines?.map(
        ({ sentence, link }) => html`
          <p class="hs-sentence">${sentence} <a href=${link}>This head over the corpus</a></p>
        `,
      )}
    </div>
  `;
}
