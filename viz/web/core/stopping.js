// A button that ends the request of a slot, and begins it again.

import { element, setText } from "./dom.js";

/** @param {import("./state.js").ViewState<any>} view @param {string} slot */
export function stopping(view, slot) {
  const node = element("button", "hs-button", { type: "button" }, "Stop");
  const isStopped = () => view.client?.state(slot) === "absent" && view.client.reason(slot) === "Stopped.";
  node.onclick = () => {
    if (isStopped()) view.forget(slot); // it is asked for when the view is drawn
    else view.client?.stop(slot);
    view.changed();
  };
  return {
    node,
    render() {
      const stopped = isStopped();
      node.hidden = !stopped && !["pending", "none"].includes(view.client?.state(slot) ?? "");
      setText(node, stopped ? "Go on" : "Stop");
    },
  };
}
