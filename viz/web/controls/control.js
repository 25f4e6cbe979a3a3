// Controls of pages: components that Streamlit mounts; and rate limiting, which sends the newest value.

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

/**
 * Sends a value at once, or, if another was sent less than `ms` ago, the newest one when that time
 * is over. The last value is always sent.
 *
 * @template T
 * @param {(value: T) => void} send
 * @param {number | ((value: T) => number)} ms a pause, or what pause a value needs
 * @param {() => number} [now] the time in milliseconds
 */
export function throttle(send, ms, now = () => performance.now()) {
  let last = -Infinity;
  /** @type {{value: T} | null} */
  let waiting = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    if (!waiting) return;
    const { value } = waiting;
    waiting = null;
    last = now();
    send(value);
  }

  function put(value) {
    waiting = { value };
    const left = last + (typeof ms === "number" ? ms : ms(value)) - now();
    if (left <= 0) flush();
    else timer ??= setTimeout(flush, left);
  }

  function stop() {
    clearTimeout(timer);
    waiting = null;
  }

  return { put, flush, stop };
}
