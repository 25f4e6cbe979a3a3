// What the chosen head does over corpora that the same model has read, beside what it does here.

import { useAnswer, useNewest } from "./hooks.js";
import { html } from "./html.js";
import { pathOf } from "./sources.js";

/** @import {Corpora} from "../types" */

/** @param {{state: import("./state.js").State<any>}} props */
export function OverCorpora({ state }) {
  const { site, head } = state.selection;
  const path = typeof head === "number" && state.remote ? pathOf("corpora", { site, head }) : null;
  const { answer } = useAnswer(state, "corpora", path);
  const newest = /** @type {Corpora | null} */ (useNewest(!path || Boolean(answer), () => answer, [answer]));
  const lines = newest?.corpora ?? [];
  return html`
    <div class="hs-over-corpora" aria-live="polite" hidden=${!lines.length}>
      ${lines.map(
        ({ sentence, link }) =>
          html`<p class="hs-sentence">${`${sentence} `}<a href=${link}>This head over the corpus</a></p>`,
      )}
    </div>
  `;
}
