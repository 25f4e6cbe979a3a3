// How much of a word's weight lies on the pictures, and the heads that look at them most.

import { html } from "../../web/core/html.js";
import { layerName } from "../../web/core/labels.js";
import { probability } from "../../web/core/ticks.js";
import { useHeld } from "./questions.js";

/** @import {HeadOnPicture} from "../../web/types" */

/**
 * @param {object} props
 * @param {import("../../web/text/state.js").TextState} props.state
 * @param {import("./look.js").Look} props.look
 * @param {any} props.shares
 */
export function Shares({ state, look, shares }) {
  const { head } = state.selection;
  const ranked = useHeld(state.view, "ranked", look.span);
  const of = (values) => {
    if (typeof head === "number") return values[head];
    return head === "max" ? Math.max(...values) : values.reduce((a, b) => a + b, 0) / values.length;
  };
  const parts = shares && [
    ["on the picture", of(shares.image)],
    ["on sinks", of(shares.sinks)],
    ["on other text", of(shares.text)],
  ];
  return html`
    <div class="hs-pictures-beside">
      ${
        parts &&
        html`
        <dl class="hs-pictures-shares">
          ${parts.map(
            ([name, share]) => html`
              <dt>${name}</dt>
              <dd><span class="hs-bar-line" aria-hidden="true" style=${{ "--share": `${100 * share}%` }}></span>${probability(share)}</dd>
            `,
          )}
        </dl>
      `
      }
      ${
        ranked.answer?.heads &&
        html`
        <p class="hs-heading">Heads that look at the picture</p>
        <ol class="hs-pictures-heads">
          ${ranked.answer.heads.map((each) => html`<li><${Ranked} ...${{ state, look, each }} /></li>`)}
        </ol>
      `
      }
    </div>
  `;
}

/** @param {{state: any, look: any, each: HeadOnPicture}} props */
function Ranked({ state, look, each: { site, head, mass } }) {
  const { selection, view, base } = state;
  const isHeld = view.remote || look.holdsRow(site, head, look.placeOf(look.span.first, site));
  return html`
    <button
      type="button"
      class="hs-button hs-pictures-head"
      title=${`${probability(mass)} of the weight on pictures`}
      aria-pressed=${site === selection.site && head === selection.head}
      disabled=${!isHeld}
      onClick=${() => state.select({ site, head })}
    >
      ${`layer ${layerName(base, site)} · head ${head}: ${probability(mass)}`}
    </button>
  `;
}
