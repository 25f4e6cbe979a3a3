// Captions of a picture, for models that compare the two: how similar each is, and one of them chosen.

import { html } from "../../web/core/html.js";
import { useLayoutEffect, useRef } from "../../web/vendor/hooks.js";
import { useHeld } from "./questions.js";

/** @import {Caption} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const ABOUT =
  "How similar the picture is to each caption, as the model scales it. Choose one to see its map.";

/** The captions, the most similar first, and the one that is chosen. @param {TextState} state */
export function useCaptions(state) {
  const { captions: texts, caption: chosen } = state.selection;
  const { answer, reason } = useHeld(state.view, "captions", state.base.captions && texts && { texts });
  const captions = (answer?.captions ?? []).toSorted((a, b) => b.similarity - a.similarity);
  return { captions, caption: captions.find(({ text }) => text === chosen) ?? null, reason };
}

/** @param {{state: TextState, captions: Caption[], reason: string}} props */
export function Captions({ state, captions, reason }) {
  const { captions: texts, caption: chosen, site } = state.selection;
  const { sites, texts: all } = state.base;
  const entry = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useLayoutEffect(() => {
    if (entry.current && !entry.current.matches(":focus")) entry.current.value = texts.split("|").join("\n");
  });
  if (!state.base.captions || !(state.view.remote || captions.length)) return null;
  const commit = ({ currentTarget }) => {
    const lines = currentTarget.value.split("\n").map((line) => line.replaceAll("|", " ").trim());
    state.select({ captions: lines.filter(Boolean).join("|") });
  };
  const choose = (text) => {
    const isHere = state.texts().key.grids?.length;
    const there = sites.findIndex(({ key_text: key = 0 }) => all[key].grids?.length); // shows where patches are
    state.select({ caption: text === chosen ? "" : text, site: isHere || there < 0 ? site : there });
  };
  return html`
    <div class="hs-captions">
      ${
        state.view.remote &&
        html`<label class="hs-label">
        Captions to compare, one a line
        <textarea
          class="hs-select hs-captions-entry"
          rows="3"
          maxlength="500"
          placeholder=${"a photo of a dog\na photo of a cat"}
          ref=${entry}
          onChange=${commit}
        ></textarea>
      </label>`
      }
      <div class="hs-words" role="group" aria-label="Captions, the most similar first">
        ${captions.map(
          ({ text, similarity }) => html`
            <button type="button" class="hs-chip" dir="auto" aria-pressed=${text === chosen} onClick=${() => choose(text)}>
              <b class="hs-number">${similarity.toFixed(2).replace("-", "−")}</b>${` ${text}`}
            </button>
          `,
        )}
      </div>
      <p class="hs-captions-about" aria-live="polite">${captions.length ? ABOUT : reason}</p>
    </div>
  `;
}
