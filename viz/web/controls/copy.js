// A button that copies the link to what is shown.

import { button } from "../core/bar.js";
import { element, setText } from "../core/dom.js";

/** @typedef {{label: string}} CopyProps */

const DONE_MS = 2000;

/**
 * @param {HTMLElement} root
 * @param {CopyProps} props
 */
export function mount(root, props) {
  root.classList.add("hs-control");
  let { label } = props;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const link = element("input", "hs-entry", { readonly: "", "aria-label": "The link" });
  link.hidden = true;
  const copier = button(label, label, () => void copy());
  copier.removeAttribute("aria-label");
  copier.classList.add("hs-copy-link");
  copier.setAttribute("aria-live", "polite");
  root.replaceChildren(copier, link);

  async function copy() {
    const { href } = location;
    try {
      await navigator.clipboard.writeText(href);
      setText(copier, "Copied");
      clearTimeout(timer);
      timer = setTimeout(() => setText(copier, label), DONE_MS);
    } catch {
      link.hidden = false; // without HTTPS the clipboard is closed to pages: copied by hand
      link.value = href;
      link.select();
    }
  }

  return {
    /** @param {CopyProps} next */
    update(next) {
      ({ label } = next);
      setText(copier, label);
    },
    destroy() {
      clearTimeout(timer);
      root.replaceChildren();
    },
  };
}
