// What the matrix shows, as two menus for the toolbar.

import { html } from "../../web/core/html.js";
import { Menu } from "../../web/parts/controls.js";

/** @import {Selection, Sinks} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

/** @type {{label: string, change: Partial<Selection>}[]} */
const VALUES = [
  { label: "Weights", change: { values: "weights" } },
  { label: "Log weights", change: { values: "weights", scale: "log" } },
  { label: "Scores", change: { values: "scores" } },
];
const LOG = 1;
const SCORES = 2;

/** @type {{label: string, sinks: Sinks}[]} */
const SINKS = [
  { label: "Sinks shown", sinks: "shown" },
  { label: "Sinks hidden", sinks: "hidden" },
  { label: "Sinks hidden, rows sum to 1", sinks: "renormalised" },
];
const SINKS_TITLE =
  "The first token, special tokens and those on which a head of this layer rests: they take weight when a" +
  " head finds nothing to look at";

/** @param {{state: TextState}} props */
export function Choices({ state }) {
  const { scale, sinks } = state.selection;
  const disabled = Boolean(state.view.props.difference);
  const has = state.hasScores();
  const show = (/** @type {number} */ index) =>
    state.select({ scale: scale === "log" ? "fixed" : scale, ...VALUES[index].change });
  return html`
    <${Menu}
      name="Values"
      title=${has ? "Weights after the softmax, or the scores before it" : "Only pairs of single tokens have scores"}
      labels=${VALUES.map(({ label }) => label)}
      index=${state.variant().values === "scores" ? SCORES : scale === "log" ? LOG : 0}
      without=${has ? -1 : SCORES}
      onChoose=${show}
      disabled=${disabled}
    />
    <${Menu}
      name="Sinks"
      title=${SINKS_TITLE}
      labels=${SINKS.map(({ label }) => label)}
      index=${SINKS.findIndex((each) => each.sinks === sinks)}
      onChoose=${(/** @type {number} */ index) => state.select({ sinks: SINKS[index].sinks })}
      disabled=${disabled}
    />
  `;
}
