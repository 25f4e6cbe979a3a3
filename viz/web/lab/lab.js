// The Lab: a bar at the foot of the page, and a drawer with tabs over the right column, closed at first. Closed it is
// one button; a click on a name in it opens that tab. About this model: what it is, whether the weights on the screen are
// those that it used, and the code that runs.

import { WhatIsInIt } from "../build/build.js";
import { useAnswer, useFrameSignal } from "../core/hooks.js";
import { html } from "../core/html.js";
import { listenForUndo } from "../core/keys.js";
import { OnRequest } from "../parts/controls.js";
import { useEffect } from "../vendor/hooks.js";
import { Compare } from "./compare.js";
import { Experiment } from "./experiment.js";
import { Save } from "./save.js";
import { Sweeps } from "./sweeps.js";

/** @import {Theme} from "../types" */
/** @import {Asked} from "../core/edits.js" */

const CHECK =
  "Runs the model again, its values computed from the weights shown here, and compares its output with the original" +
  " model’s; of a transformers model also each map with the library’s own";

/** @param {{state: import("../core/state.js").State<any>}} props */
function About({ state }) {
  const { answer, reason } = useAnswer(state, "about", "about");
  if (!answer) return html`<p class="hs-doubt" role="status">${reason}</p>`;
  const { sentences, facts, file, code } = answer;
  return html`
    ${sentences.map((sentence) => html`<p class="hs-sentence">${sentence}</p>`)}
    <table class="hs-about">
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
    <${OnRequest}
      ...${{ isOn, reason }}
      text="Is this what the model used?"
      title=${CHECK}
      onToggle=${() => (asked.value = isOn ? "" : state.trace)}
    >
      ${verdict && html`<p class="hs-check" role="status">${verdict}</p>`}
    <//>
  `;
}

/** @typedef {{value: string, label: string, Tab?: (props: any) => unknown, content?: unknown}} Tab */

/** @type {Tab[]} where the pass can be edited */
const EDITING = [
  { value: "experiment", label: "Experiment", Tab: Experiment },
  { value: "compare", label: "Compare", Tab: Compare },
];
/** @type {Tab[]} where there is a server */
const KEEPING = [
  { value: "save", label: "Save", Tab: Save },
  { value: "about", label: "About this model", Tab: About },
];
/** @type {Tab} */
const SWEEPS = { value: "sweeps", label: "Sweeps", Tab: Sweeps };

/** @param {{state: any, theme: Theme, numbers: unknown}} props numbers: the tab of the kind of input */
export function Lab({ state, theme, numbers }) {
  const ask = (/** @type {Asked} */ asked) => state.ask?.(asked);
  const { remote, props } = state;
  /** @type {Tab} */
  const ofInput = { value: "numbers", label: "Numbers", content: numbers };
  const passes = remote ? [SWEEPS, ofInput, ...KEEPING] : [ofInput];
  const isLeftOut = (/** @type {Tab} */ { Tab }) =>
    Tab === Compare
      ? !props.compares && !props.beside
      : state.base.given && (Tab === Experiment || Tab === Sweeps);
  const tabs = [...(props.edits ? EDITING : []), ...passes].filter((tab) => !isLeftOut(tab));
  const open = tabs.find(({ value }) => value === state.selection.lab);
  const show = (/** @type {string} */ lab) => state.select({ lab });
  const toggle = ({ target }) => show(open ? "" : (target.dataset.value ?? tabs[0].value));
  useEffect(() => (props.edits ? listenForUndo((action) => ask({ do: action })) : undefined), [state]);
  const press = (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !open) return;
    event.preventDefault();
    event.stopPropagation();
    show("");
  };
  return html`
    <div class=${props.page ? "hs-lab is-over" : "hs-lab"} onKeyDown=${press}>
      ${
        open &&
        html`
          <section class="hs-lab-drawer" aria-label=${open.label}>
            <header>
              <h3>${open.label}</h3>
              <button type="button" class="hs-lab-link" onClick=${() => show("")}>Close</button>
            </header>
            ${open.Tab ? html`<${open.Tab} ...${{ state, theme, ask }} />` : open.content}
          </section>
        `
      }
      <div class="hs-lab-bar">
        <button type="button" class="hs-lab-name" aria-expanded=${Boolean(open)} onClick=${toggle}>
          <b>Lab</b>
          ${!open && tabs.map(({ value, label }) => html`<span aria-hidden="true" data-value=${value}>${label}</span>`)}
        </button>
        ${
          open &&
          html`
            <div class="hs-lab-tabs" role="group" aria-label="Lab">
              ${tabs.map(
                ({ value, label }) => html`
                  <button type="button" aria-pressed=${value === open.value} onClick=${() => show(value)}>${label}</button>
                `,
              )}
            </div>
          `
        }
      </div>
    </div>
  `;
}
