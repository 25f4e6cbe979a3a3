// What the matrix shows, for the toolbar: a menu of values, and a switch that hides where heads rest.

import { html } from "../../web/core/html.js";
import { Button, Menu } from "../../web/parts/controls.js";
import { restingOn } from "../../web/text/resting.js";
import { useMemo } from "../../web/vendor/hooks.js";

/** @import {Selection} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

/** @type {{label: string, change: Partial<Selection>}[]} */
const VALUES = [
  { label: "Weights", change: { values: "weights" } },
  { label: "Scores", change: { values: "scores" } },
];
const SCORES = 1;

/** @param {{state: TextState}} props */
export function Choices({ state }) {
  const has = state.hasScores();
  const show = (/** @type {number} */ index) => state.select(VALUES[index].change);
  return html`
    <${Menu}
      name="Values"
      title=${has ? "Weights after the softmax, or the scores before it" : "Only pairs of single tokens have scores"}
      labels=${VALUES.map(({ label }) => label)}
      index=${state.variant().values === "scores" ? SCORES : 0}
      without=${has ? -1 : SCORES}
      onChoose=${show}
      disabled=${Boolean(state.view.props.difference)}
    />
    <${Ignore} state=${state} />
  `;
}

/** Hides the first token, special ones and those on which heads rest; named by the one of the chosen head. */
function Ignore({ state }) {
  const { site, head, sinks } = state.selection;
  const isIgnored = sinks !== "shown";
  const parts = state.parts(site, head, state.variant());
  const resting = useMemo(
    () => (isIgnored ? null : restingOn(state)),
    [state.trace, site, head, parts, isIgnored],
  );
  const key = isIgnored ? parts[0]?.sinks?.keys[0] : resting?.key;
  const name = key === undefined ? "resting tokens" : `“${state.texts().key.labels[key].trim()}”`;
  const share = resting && `${(100 * resting.share).toFixed(0)}\u00a0% of a row rests on it, on average. `;
  const title = `${share ?? ""}Leaves out the first token, special tokens and those on which a head of this layer rests`;
  return html`
    <${Button}
      text=${`Ignore ${name}`}
      title=${title}
      aria-pressed=${isIgnored}
      disabled=${Boolean(state.view.props.difference)}
      onClick=${() => state.select({ sinks: isIgnored ? "shown" : "hidden" })}
    />
  `;
}
