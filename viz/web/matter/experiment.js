// An experiment that is made on request: a button that asks for it, what can be chosen, what is waited for.

import { html } from "../core/html.js";
import { Button } from "../parts/controls.js";

/**
 * @param {object} props
 * @param {string} props.text of the button
 * @param {string} props.title
 * @param {boolean} props.isOn
 * @param {() => void} props.onToggle
 * @param {string} props.reason why there is no answer
 * @param {string} [props.kind] classes
 * @param {unknown} [props.choices]
 * @param {unknown} [props.children] the answer
 */
export const Experiment = ({ text, title, isOn, onToggle, reason, kind = "", choices, children }) => html`
  <div class=${`hs-faithful ${kind}`}>
    <${Button} ...${{ text, title, onClick: onToggle }} aria-pressed=${isOn} />
    ${
      isOn &&
      html`
      ${choices && html`<div class="hs-row">${choices}</div>`}
      ${reason && html`<p class="hs-even" role="status">${reason}</p>`}
      ${children}
    `
    }
  </div>
`;
