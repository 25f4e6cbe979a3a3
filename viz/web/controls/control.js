// Controls of pages: components that Streamlit mounts.

import { html } from "../core/html.js";
import { render } from "../vendor/preact.js";

/** @import {Host, Mount} from "../types" */

/**
 * What mounts a component, which is given its props and the host.
 *
 * @template P
 * @param {(props: P & {host: Host}) => unknown} Component
 * @returns {Mount<P>}
 */
export const mounting = (Component) => (root, props, host) => {
  root.classList.add("hs-control");
  const update = (/** @type {P} */ next) => render(html`<${Component} ...${{ ...next, host }} />`, root);
  update(props);
  return { update, destroy: () => render(null, root) };
};

/**
 * The line above a control: its label, and a sign that shows help.
 *
 * @param {{label: string, help?: string, of?: string}} props of: id of the control
 */
export const Heading = ({ label, help = "", of }) => html`
  <div class="hs-control-heading">
    <label class="hs-control-label" for=${of}>${label}</label>
    ${help && html`<span class="hs-help" tabindex="0" role="img" aria-label=${help} data-help=${help}>?</span>`}
  </div>
`;
