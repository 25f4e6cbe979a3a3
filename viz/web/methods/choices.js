// Methods for all layers together: their choice, and that of the output that a relevance explains.

import { aboutOf } from "../core/head_numbers.js";
import { METHODS, START } from "../core/declared.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { Entry, Field } from "../parts/controls.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {MethodInfo, RelevanceAnswer} from "../types" */
/** @import {TextState} from "../text/state.js" */

/** @type {(name: string) => MethodInfo} */
export const methodOf = (name) => METHODS.find((each) => each.name === name) ?? methodOf(START.method);

/** The first relevance, which explains outputs of any kind. */
export const RELEVANCE = METHODS.filter(({ kind }) => kind === "relevance")[0].name;

/**
 * The sum of a relevance over all tokens, and what no token gets.
 *
 * @param {{total: number, unassigned: number | null}} relevance
 */
export function together({ total, unassigned }) {
  const parts = [`All tokens together ${number(total)}`];
  if (unassigned !== null) parts.push(`${number(unassigned)} unassigned`);
  return `${parts.join(", ")}.`;
}

/** @param {number} value */
export const number = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toExponential(1);

/** The largest distance from 0, at least a little. @param {ArrayLike<number>} values */
export const largest = (values) => Math.max(1e-12, ...Array.from(values, Math.abs));

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

/** The choice as parameters of a file. @type {(state: TextState) => Record<string, string | number>} */
export function choiceOf(state) {
  const { method, output, tested } = state.selection;
  const info = methodOf(method);
  return {
    method: info.name,
    ...(output ? { output } : {}),
    ...(tested === "yes" && canTest(state) ? { tested } : {}),
  };
}

/** Whether a relevance is shown, whose faithfulness can be tested. @param {TextState} state */
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
  const { remote } = state;
  const isOffered = explains !== "nothing" && (remote || output);
  const isTyped = explains === "similarity" || !remote;
  const place = { ...(token === null ? {} : { token }), ...(output ? { output } : {}) };
  const path = isOffered && !isTyped ? pathOf("outputs", { site, direction, ...place }) : null;
  const { answer: outputs, newest, reason, isRefused } = useAnswer(state, `outputs ${option}`, path);
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
        ${newest?.options.map((each) => html`<option value=${each.value}>${optionName(each)}</option>`)}
      </select>`;
  const why = isRefused ? reason : rejected.current.trace === state.trace ? rejected.current.why : "";
  return html`
    <div>
      <${Field} name=${label.replace(" explained", "")}><span>${control}</span><//>
      <p class="hs-doubt" role="status">${why}</p>
    </div>
  `;
}

const optionName = ({ label, position, probability }) =>
  `“${legible(label)}”${position === null ? "" : ` at position ${position}`}, ${(100 * probability).toFixed(1)}\u00a0%`;
