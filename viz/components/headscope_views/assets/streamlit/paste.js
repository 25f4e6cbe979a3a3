// Files pasted anywhere on the page go into its file uploader, as if they had been chosen there.

import { element, setText } from "../core/dom.js";

/** @typedef {{container: string}} PasteProps the key of the container with the uploader */

const NONE = "The clipboard holds no picture: copy one, then paste it again.";

/**
 * @param {HTMLElement} root
 * @param {PasteProps} props
 */
export function mount(root, props) {
  let { container } = props;
  const told = element("span", "hs-muted", { role: "status" });
  root.replaceChildren(told);

  /** @param {ClipboardEvent} event */
  function paste(event) {
    const file = event.clipboardData?.files[0];
    const typing = isTyping(event.composedPath()[0]);
    setText(told, file || typing ? "" : NONE);
    if (typing && !file?.type.startsWith("image/")) return;
    const input = document.querySelector(`.st-key-${container} input[type="file"]`);
    if (!file || !(input instanceof HTMLInputElement)) return;
    event.preventDefault();
    const carried = new DataTransfer();
    carried.items.add(file);
    input.files = carried.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  document.addEventListener("paste", paste);
  return {
    /** @param {PasteProps} next */
    update(next) {
      ({ container } = next);
    },
    destroy() {
      document.removeEventListener("paste", paste);
      root.replaceChildren();
    },
  };
}

/**
 * Whether a paste belongs to an entry.
 *
 * @param {EventTarget | undefined} target
 */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches("input, textarea, [contenteditable]");
}
