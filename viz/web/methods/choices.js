// The choice of a method for all layers together, and of the output that a relevance explains.

import { aboutOf } from "../core/about.js";
import { METHODS } from "../core/declared.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { Field } from "../parts/controls.js";
import { methodOf } from "./methods.js";
import { OutputMenu } from "./output_menu.js";

/** @import {RelevanceAnswer} from "../types" */
/** @import {TextState} from "../text/state.js" */

const isRelevance = ({ kind }) => kind === "relevance";
const GROUPS = [
  { label: "Over tokens", methods: METHODS.filter((info) => !isRelevance(info)), explains: false },
  { label: "For a chosen output", methods: METHODS.filter(isRelevance), explains: true },
];

/**
 * The controls, for a row.
 *
 * @param {object} props
 * @param {TextState} props.state
 * @param {boolean} [props.always] whether an output is explained by every method
 */
export function MethodChoices({ state, always = false }) {
  const info = methodOf(state.selection.method);
  return html`
    <${Field} name="Method">
      <${MethodMenu} ...${{ state, info }} />
    <//>
    ${(always || isRelevance(info)) && html`<${OutputMenu} state=${state} />`}
  `;
}

/**
 * The choice as parameters of a file.
 *
 * @param {TextState} state
 * @returns {Record<string, string | number>}
 */
export function choiceOf(state) {
  const { method, output, tested } = state.selection;
  const info = methodOf(method);
  return {
    method: info.name,
    ...(output ? { output } : {}),
    ...(tested === "yes" && canTest(state) ? { tested } : {}),
  };
}

/**
 * Whether a relevance is shown, whose faithfulness can be tested.
 *
 * @param {TextState} state
 */
export const canTest = ({ selection: { form, method } }) => form === "model" && isRelevance(methodOf(method));

function MethodMenu({ state, info }) {
  const explained = state.base.explains !== "nothing" && !state.base.given;
  return html`
    <select
      class="hs-select"
      aria-label="Method"
      title=${aboutOf({ ...info, about: info.title })}
      value=${info.name}
      onChange=${({ currentTarget }) => state.select({ method: currentTarget.value })}
    >
      ${GROUPS.map(
        ({ label, methods, explains }) => html`
          <optgroup label=${label} disabled=${explains && !explained}>
            ${methods.map((each) => html`<option value=${each.name}>${each.title}</option>`)}
          </optgroup>
        `,
      )}
    </select>
  `;
}

/**
 * What a relevance explains: "“mat” at position 3, logit".
 *
 * @param {Pick<RelevanceAnswer, "name" | "id" | "position" | "similarity">} answer
 */
export function explainedIn({ name, id, position, similarity }) {
  if (similarity) return `similarity to “${name}”`;
  const at = position === null ? "" : ` at position ${position}`;
  return `${name ? `“${legible(name)}”` : `output ${id}`}${at}, logit`;
}
