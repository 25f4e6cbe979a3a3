// About this model: what it is, whether the weights on the screen are those that it used, and the code that runs.

import { useAnswer, useFrameSignal } from "../core/hooks.js";
import { html } from "../core/html.js";
import { WhatIsInIt } from "../build/build.js";
import { Experiment } from "../parts/controls.js";

const CHECK =
  "Runs the model again, its values computed from the weights shown here, and compares its output with the original" +
  " model’s; of a transformers model also each map with the library’s own";

/** @param {{state: import("../core/state.js").State<any>}} props */
export function About({ state }) {
  const { answer, reason } = useAnswer(state, "about", "about");
  if (!answer) return html`<p class="hs-doubt" role="status">${reason}</p>`;
  const { sentences, facts, file, code } = answer;
  return html`
    ${sentences.map((sentence) => html`<p class="hs-sentence">${sentence}</p>`)}
    <table class="hs-lab-table hs-about">
      <tbody>
        ${Object.entries(facts).map(
          ([name, fact]) => html`
          <tr>
            <th scope="row">${name}</th>
            <td>${fact}</td>
          </tr>
        `,
        )}
      </tbody>
    </table>
    <p><${WhatIsInIt} state=${state} /></p>
    <${Check} state=${state} />
    ${
      code &&
      html`
        <details class="hs-details">
          <summary>${file}: the whole network, from its parts</summary>
          <pre class="hs-code" tabindex="0"><code>${code}</code></pre>
        </details>
      `
    }
  `;
}

/** Runs the model again when it is asked to. */
function Check({ state }) {
  const asked = useFrameSignal(state, ""); // the trace that is checked
  const isOn = asked.value === state.trace;
  const { answer, reason } = useAnswer(state, "check", isOn ? "check" : null, "Running the model again");
  const verdict = answer?.verdict;
  return html`
    <${Experiment}
      ...${{ isOn, reason }}
      text="Is this what the model used?"
      title=${CHECK}
      onToggle=${() => (asked.value = isOn ? "" : state.trace)}
    >
      ${verdict && html`<p class="hs-check" role="status">${verdict}</p>`}
    <//>
  `;
}
