// A button that opens a dialog over the page, at itself.

import { html } from "../core/html.js";
import { useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { Button } from "./controls.js";

const EDGE = 8; // pixels to the edge of the window

/**
 * @param {object} props
 * @param {string} props.text of the button
 * @param {string} props.title
 * @param {string} props.name of the dialog
 * @param {(isOpen: boolean, close: () => void) => unknown} props.children what stands in it; it stays while it is closed
 */
export function Popup({ text, title, name, children }) {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef(/** @type {HTMLElement | null} */ (null));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const button = /** @type {HTMLButtonElement} */ (opener.current?.firstElementChild);
    button.popoverTargetElement = list.current;
  }, []);
  const toggle = ({ newState }) => {
    setOpen(newState === "open");
    if (newState !== "open" || !list.current || !opener.current) return;
    const { left, bottom } = opener.current.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: tall, style } = list.current;
    style.left = `${Math.max(EDGE, Math.min(left, innerWidth - wide - EDGE))}px`;
    style.top = `${Math.max(EDGE, Math.min(bottom + 4, innerHeight - tall - EDGE))}px`;
    /** @type {HTMLElement | null} */ (list.current.querySelector("input, textarea"))?.focus();
  };
  return html`
    <span ref=${opener}><${Button} ...${{ text, title }} aria-haspopup="dialog" onClick=${() => {}} /></span>
    <div class="hs-menu hs-edit-menu" role="dialog" aria-label=${name} popover="auto" ref=${list} onToggle=${toggle}>
      ${children(isOpen, () => list.current?.hidePopover())}
    </div>
  `;
}
