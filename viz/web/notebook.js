// A view in a notebook, as an anywidget: props and the first responses are in the model's state, all
// others come over its channel.

import { ChannelSource } from "./core/sources.js";
import { mount as image } from "./explore/image.js";
import { mount as text } from "./explore/text.js";

/** @import {Host, ViewProps} from "./types" */
/** @import {Reply} from "./core/sources.js" */

/**
 * What anywidget gives: https://anywidget.dev/en/afm/
 *
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, listener: (message: Reply, buffers: DataView[]) => void) => void} on
 * @property {(name: string, listener: Function) => void} off
 * @property {(message: object) => void} send
 */

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "headscope";
  el.append(root);
  /** @type {ViewProps} */
  const props = model.get("props");
  /** @type {[string, DataView][]} */
  const held = Object.entries(model.get("held"));
  /** @type {((message: Reply, buffers: DataView[]) => void)[]} */
  const listeners = [];
  const channel = {
    /** @param {{id: number, path: string}} message */
    send: (message) => model.send(message),
    /** @param {(message: Reply, buffers: DataView[]) => void} listener */
    listen(listener) {
      listeners.push(listener);
      model.on("msg:custom", listener);
    },
    // ipywidgets marks the view of a model that has no kernel, as in a notebook opened anew
    live: () => !el.closest(".jupyter-widgets-disconnected"),
  };
  const source = new ChannelSource(
    channel,
    held.map(([path, { buffer, byteOffset, byteLength }]) => [
      path,
      new Uint8Array(buffer, byteOffset, byteLength),
    ]),
  );
  /** @type {Host} */
  const host = { set() {}, trigger() {}, source: () => source };
  const view = (props.kind === "image" ? image : text)(root, props, host);
  return () => {
    for (const listener of listeners) model.off("msg:custom", listener);
    view.destroy();
  };
}

export default { render };
