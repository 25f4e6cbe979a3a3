// Copies the address of what is shown: the settings and the selection are in it.

import { element, setText } from "../core/dom.js";

/** @typedef {{label: string}} CopyProps */

const COPIED_MS = 2000;

/**
 * @param {HTMLElement} root
 * @param {CopyProps} props
 */
export function mount(root, props) {
  let { label } = props;
  let timer = 0;
  const button = element("button", "hs-button", { type: "button" }, label);
  const status = element("span", "", { role: "status" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setText(status, " Copied");
      clearTimeout(timer);
      timer = window.setTimeout(() => setText(status, ""), COPIED_MS);
    } catch {
      window.prompt(label, location.href); // no clipboard without HTTPS
    }
  });
  root.replaceChildren(button, status);
  return {
    /** @param {CopyProps} next */
    update(next) {
      label = next.label;
      setText(button, label);
    },
    destroy() {
      clearTimeout(timer);
      root.replaceChildren();
    },
  };
}
