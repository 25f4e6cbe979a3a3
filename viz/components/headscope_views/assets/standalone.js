// A view on a page of its own: in a file, a notebook, a test.

import { EmbeddedSource } from "./core/sources.js";

/** @import {Host, Mount} from "./types" */

/** @param {string} text in base64 */
const decoded = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/**
 * @param {Mount<any>} mount of the view
 * @param {{kind: string} & Record<string, unknown>} props
 * @param {Record<string, string> | null} responses in base64, by path; null: the server has them
 */
export function open(mount, props, responses) {
  const root = /** @type {HTMLElement} */ (document.querySelector(".headscope"));
  /** @type {[string, unknown][]} */
  const events = [];
  /** @type {Host} */
  const host = {
    set: (name, value) => events.push([name, value]),
    trigger: (name, value) => events.push([name, value]),
  };
  if (responses) {
    /** @type {[string, Uint8Array][]} */
    const held = Object.entries(responses).map(([path, text]) => [path, decoded(text)]);
    host.source = () => new EmbeddedSource(held);
  }
  const view = mount(root, props, host);
  /** @param {Record<string, unknown>} changed */
  const update = (changed) => {
    props = { ...props, ...changed }; // a new object: views compare props by identity
    view.update(props);
  };
  Object.assign(globalThis, { headscope: { events, update, destroy: () => view.destroy() } });
}
