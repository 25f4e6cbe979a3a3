// Where weight rests on one token: a button that hides it, and the way back.

import { html } from "../core/html.js";
import { Button, Quoted } from "./controls.js";

/** @import {Resting} from "../text/resting.js" */
/** @import {TextState} from "../text/state.js" */

/**
 * A button, Without “[CLS]”, where a head rests on one token; and the way back.
 *
 * @param {{state: TextState, resting: Resting | null, others?: string}} props others: what it hides too
 */
export function RestingOffer({ state, resting, others = "" }) {
  if (state.selection.sinks !== "shown") {
    const back = () => state.select({ sinks: "shown" });
    return html`<${Button} title="Show the hidden tokens again" onClick=${back}>Show all tokens<//>`;
  }
  if (!resting) return null;
  const share = `${(100 * resting.share).toFixed(0)}\u00a0% of a row rests on this token, on average.`;
  return html`
    <${Button} title=${`${share} Hide it${others}`} onClick=${() => state.select({ sinks: "hidden" })}>
      Without${" "}<${Quoted} label=${state.texts().key.labels[resting.key].trim()} />
    <//>
  `;
}
