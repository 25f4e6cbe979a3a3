// The choice of a method for all layers together, how it fuses heads, and the output that a relevance
// explains.

import { aboutOf } from "../core/about.js";
import { METHODS } from "../core/declared.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { Field, Menu } from "../parts/controls.js";
import { fusedQueryOf, inPercent, methodOf } from "./methods.js";
import { OutputMenu } from "./output_menu.js";

/** @import {RelevanceAnswer} from "../types" */
/** @import {ImageState} from "../image/state.js" */
/** @import {TextState} from "../text/state.js" */

/** @typedef {TextState | ImageState} State */

const MOST_DISCARDED = 95; // percent
const FUSIONS = /** @type {const} */ ([
  ["mean", "mean"],
  ["max", "maximum"],
  ["min", "minimum"],
]);
const isRelevance = ({ kind }) => kind === "relevance";
const GROUPS = [
  { label: "Over tokens", methods: METHODS.filter((info) => !isRelevance(info)), explains: false },
  { label: "For a chosen output", methods: METHODS.filter(isRelevance), explains: true },
];

/**
 * The controls, for a row.
 *
 * @param {object} props
 * @param {State} props.state
 * @param {boolean} [props.always] whether an output is explained by every method
 */
export function MethodChoices({ state, always = false }) {
  const info = methodOf(state.selection.method);
  return html`
    <${Field} name="Method">
      <${MethodMenu} ...${{ state, info }} />
    <//>
    <${Fusion} ...${{ state, asked: info.fused }} />
    ${(always || isRelevance(info)) && html`<${OutputMenu} state=${state} />`}
  `;
}

/**
 * The choice as parameters of a file.
 *
 * @param {State} state
 * @returns {Record<string, string | number>}
 */
export function choiceOf(state) {
  const { method, output, tested } = state.selection;
  const info = methodOf(method);
  return {
    method: info.name,
    ...(output ? { output } : {}),
    ...(tested === "yes" && canTest(state) ? { tested } : {}),
    ...fusedQueryOf(info, state.selection),
  };
}

/**
 * Whether a relevance is shown, whose faithfulness can be tested.
 *
 * @param {State} state
 */
export const canTest = ({ selection: { form, method } }) => form === "model" && isRelevance(methodOf(method));

function MethodMenu({ state, info }) {
  const explained = state.base.explains !== "nothing";
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

/** How rollout and flow make the heads of a layer one, and which weights rollout leaves out. */
function Fusion({ state, asked }) {
  const { fusion, discard } = state.selection;
  const percent = inPercent(discard);
  return html`
    ${
      asked.includes("fusion") &&
      html`<${Field} name="combine heads by">
      <${Menu}
        name="How heads are combined"
        labels=${FUSIONS.map(([, label]) => label)}
        index=${FUSIONS.findIndex(([value]) => value === fusion)}
        onChoose=${(index) => state.select({ fusion: FUSIONS[index][0] })}
      />
    <//>`
    }
    ${
      asked.includes("discard") &&
      html`<${Field} name="discard">
      <span class="hs-aid">
        <input
          class="hs-threshold"
          type="range"
          min="0"
          max=${MOST_DISCARDED}
          step="1"
          aria-label="Discard the smallest weights"
          aria-valuetext=${percent}
          title="The share of each layer’s smallest weights that rollout leaves out"
          value=${Math.round(100 * discard)}
          onInput=${({ currentTarget }) => state.select({ discard: Number(currentTarget.value) / 100 })}
        />
        <output class="hs-count">${percent}</output>
      </span>
    <//>`
    }
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
