// What the matrix shows: weights, their logarithm, or scores.

import { html } from "../../web/core/html.js";
import { Menu } from "../../web/parts/controls.js";

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
  `;
}
