// What the matrix shows: weights, or scores.

import { html } from "../../web/core/html.js";
import { Menu } from "../../web/parts/controls.js";

const VALUES = /** @type {const} */ (["weights", "scores"]);

/** @param {{state: import("../../web/text/state.js").TextState}} props */
export function Choices({ state }) {
  const has = state.hasScores();
  return html`
    <${Menu}
      name="Values"
      title=${has ? "Weights after the softmax, or the scores before it" : "Only pairs of single tokens have scores"}
      labels=${["Weights", "Scores"]}
      index=${Number(state.variant().values === "scores")}
      without=${has ? -1 : 1}
      onChoose=${(index) => state.select({ values: VALUES[index] })}
      disabled=${Boolean(state.view.props.difference)}
    />
  `;
}
