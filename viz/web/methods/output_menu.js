// The output that is explained, as a menu of the likeliest ones.

import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { Entry, Field } from "../parts/controls.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {TextState} from "../text/state.js" */

const EXPLAINED = /** @type {const} */ ({
  option: "output",
  label: "output explained",
  none: "the likeliest",
});

/**
 * The output that relevance explains: one of the likeliest at the chosen token, a class, or the
 * similarity to a second text. One that means nothing for this model and text is dropped, and why
 * is said.
 *
 * @param {object} props
 * @param {TextState} props.state
 * @param {{option: "output" | "versus", label: string, none: string}} [props.which]
 */
export function OutputMenu({ state, which: { option, label, none } = EXPLAINED }) {
  const rejected = useRef({ trace: "", why: "" }); // why an output was dropped, until another is chosen
  const { site, token, direction, [option]: output } = state.selection;
  const { explains } = state.base;
  const { remote } = state.view;
  const isOffered = explains !== "nothing" && (remote || output);
  const isTyped = explains === "similarity" || !remote;
  const place = { ...(token === null ? {} : { token }), ...(output ? { output } : {}) };
  const path = isOffered && !isTyped ? pathOf("outputs", { site, direction, ...place }) : null;
  const { answer: outputs, newest, reason, isRefused } = useAnswer(state.view, `outputs ${option}`, path);
  const set = (value) => {
    rejected.current = { trace: "", why: "" };
    state.select({ [option]: value });
  };
  useLayoutEffect(() => {
    if (!outputs || outputs.chosen === output) return;
    if (outputs.chosen === null) {
      const why = `“${output}” cannot be explained here: ${outputs.rejected}.`;
      rejected.current = { trace: state.trace, why };
    }
    state.select({ [option]: outputs.chosen ?? "" }); // as it is called here
  }, [outputs]);
  if (!isOffered) return null;
  const control = isTyped
    ? html`<${Entry}
        class="hs-select hs-output"
        maxlength="300"
        aria-label="Second text, to which the similarity is explained"
        placeholder="second text to compare with"
        value=${output}
        disabled=${!remote}
        onCommit=${set}
      />`
    : html`<select
        class="hs-select hs-output"
        aria-label=${capital(label)}
        value=${outputs?.chosen ?? output}
        onChange=${({ currentTarget }) => set(currentTarget.value)}
      >
        <option value="">${none}</option>
        ${newest?.options.map((each) => html`<option value=${each.value}>${nameOf(each)}</option>`)}
      </select>`;
  const why = isRefused ? reason : rejected.current.trace === state.trace ? rejected.current.why : "";
  return html`
    <div>
      <${Field} name=${label.replace(" explained", "")}><span>${control}</span><//>
      <p class="hs-doubt" role="status">${why}</p>
    </div>
  `;
}

const nameOf = ({ label, position, probability }) =>
  `“${legible(label)}”${position === null ? "" : ` at position ${position}`}, ${(100 * probability).toFixed(1)}\u00a0%`;
