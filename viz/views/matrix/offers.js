// An offer after the sentence about a matrix: to go where edits changed most.

import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { Button, Quoted } from "../../web/parts/controls.js";

/** @import {MostChanged} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

/**
 * Where the edits changed a weight most, and the way there.
 *
 * @param {{state: TextState}} props
 */
export function ChangedOffer({ state }) {
  const asks = state.variant().values === "difference" && state.view.remote;
  const { answer } = useAnswer(state.view, "changed", asks ? "changed" : null);
  if (!answer) return null;
  const { change } = /** @type {MostChanged} */ (answer);
  if (!change) return html`<span class="hs-offer">${" "}The edits changed no weight.</span>`;
  const { site, head, query: token, key } = change;
  const labels = state.labels(site);
  const amount = `${change.change > 0 ? "+" : "−"}${Math.abs(change.change).toFixed(3)}`;
  const isShown = site === state.selection.site && head === state.selection.head;
  const show = () => state.select({ site, head, token, direction: "out" });
  const title = "Show the head and the token whose weight the edits changed most";
  return html`
    <span class="hs-offer">
      ${` Most changed: ${state.siteName(site)}, head ${head}, `}<${Quoted} label=${labels.query[token].trim()} />
      ${" → "}<${Quoted} label=${labels.key[key].trim()} />${` ${amount} `}
      ${!isShown && html`<${Button} ...${{ title, onClick: show }}>Show it<//>`}
    </span>
  `;
}
