// A view on a page of its own: in a file, a notebook, a test.

import { EmbeddedSource } from "./core/sources.js";

/** @import {Host, Mount} from "./types" */

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
    host.source = (trace) => new EmbeddedSource(partOf(held, trace));
  }
  const view = mount(root, props, host);
  const update = (changed) => {
    props = { ...props, ...changed }; // a new object: views compare props by identity
    view.update(props);
  };
  Object.assign(globalThis, { headscope: { events, update, destroy: () => view.destroy() } });
}

/** The responses about one of two traces on a page: those of the second lie below its name. */
function partOf(held, trace) {
  const below = held.filter(([path]) => path.startsWith(`${trace}/`));
  if (!below.length) return held;
  return below.map(
    ([path, bytes]) => /** @type {[string, Uint8Array]} */ ([path.slice(trace.length + 1), bytes]),
  );
}
