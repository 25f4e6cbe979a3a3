// Numbers of controls as dots on a line, with the number that they are compared with.

import { html } from "../core/html.js";
import { signed } from "../core/ticks.js";

/**
 * One control.
 *
 * @typedef {object} Control
 * @property {string} name
 * @property {number} value
 * @property {boolean} exact whether a pass of its own tells, drawn as a full dot; else an estimate
 */

const DIGITS = 3;

/**
 * Where numbers lie between the smallest and the largest of them and 0, in percent.
 *
 * @param {number[]} values
 */
export function spread(values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const span = high - low || 1;
  return { low, high, at: (/** @type {number} */ value) => (100 * (value - low)) / span };
}

/**
 * @param {object} props
 * @param {Control} props.mine
 * @param {Control[]} props.others
 * @param {string} props.words what is seen
 */
export function Strip({ mine, others, words }) {
  const { low, high, at } = spread([mine, ...others].map(({ value }) => value));
  const dot = (kind, { name, value, exact }) => {
    const title = `${name}: ${signed(value, DIGITS)}${exact ? "" : " by attribution"}`;
    const look = exact ? kind : `${kind} hs-spread-rough`;
    return html`<span class=${look} ...${{ title }} style=${{ left: `${at(value)}%` }}></span>`;
  };
  const end = (value) => html`<span>${value ? signed(value, DIGITS) : "0"}</span>`;
  return html`
    <div class="hs-spread" role="img" aria-label=${words}>
      <div class="hs-spread-line">
        <span class="hs-spread-zero" style=${{ left: `${at(0)}%` }}></span>
        ${others.map((other) => dot("hs-spread-other", other))}${dot("hs-spread-mine", mine)}
      </div>
      <div class="hs-spread-ends" aria-hidden="true">${end(low)}${end(high)}</div>
    </div>
  `;
}
