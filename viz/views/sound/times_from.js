// What the times of words are made from.

import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { pathOf } from "../../web/core/sources.js";
import { Menu } from "../../web/parts/controls.js";

/** @import {TextState} from "../../web/text/state.js" */

/** The entry of the menu, and a sentence. */
const METHODS = {
  named: [
    "Checkpoint’s heads",
    "Times are those of the cheapest monotone path through the heads that the checkpoint names.",
  ],
  found: [
    "Heads that follow time",
    "Times are those of the cheapest monotone path through the heads that follow time best.",
  ],
};

/** What the server is told of it. */
export const timedBy = ({ selection: { timing } }) => (timing ? { method: timing } : {});

/** The words of the transcript with their times. */
export const useWords = (state) => useAnswer(state, "words", pathOf("words", timedBy(state)));

/** @param {{state: TextState}} props */
export function TimesFrom({ state }) {
  const { words = [], method, methods = [] } = useWords(state).newest ?? {};
  if (!state.remote || !words.length) return null;
  return html`
    <div class="hs-aid">
      <span class="hs-label" aria-hidden="true">Times from</span>
      <${Menu}
        name="Times from"
        title="What the times of words are made from"
        labels=${methods.map((each) => METHODS[each][0])}
        index=${methods.indexOf(/** @type {any} */ (method))}
        onChoose=${(i) => state.select({ timing: methods[i] })}
      />
    </div>
    ${method && html`<p class="hs-doubt">${METHODS[method][1]}</p>`}
  `;
}
