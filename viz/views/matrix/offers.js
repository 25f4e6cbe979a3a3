// Offers after the sentence about a matrix: to hide where a head rests, to go where edits changed most.

import { useMemo } from "../../web/vendor/hooks.js";
import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { Button, Quoted } from "../../web/parts/controls.js";
import { RestingOffer } from "../../web/parts/resting_offer.js";
import { restingOn } from "../../web/text/resting.js";

/** @import {TextState} from "../../web/text/state.js" */

/** @typedef {{site: number, head: number, query: number, key: number, change: number}} Changed */

/**
 * A button that hides the token on which the chosen head rests.
 *
 * @param {{state: TextState}} props
 */
export function HeadRestingOffer({ state }) {
  const { site, head, sinks } = state.selection;
  const known = [state.trace, site, head, sinks, state.variant().values, state.parts(site, head)];
  const resting = useMemo(() => (sinks === "shown" ? restingOn(state) : null), known);
  if (!resting && sinks === "shown") return null;
  const others = ", and those on which other heads of this layer rest";
  return html`<span class="hs-offer"><${RestingOffer} ...${{ state, resting, others }} /></span>`;
}

/**
 * Where the edits changed a weight most, and the way there.
 *
 * @param {{state: TextState}} props
 */
export function ChangedOffer({ state }) {
  const asks = state.variant().values === "difference" && state.view.remote;
  const { answer } = useAnswer(state.view, "changed", asks ? "changed" : null);
  const change = /** @type {Changed | Record<string, never> | {why: string} | null} */ (answer);
  if (!change || "why" in change) return null;
  if (!("site" in change)) return html`<span class="hs-offer">${" "}The edits changed no weight.</span>`;
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
