// Parts of a toolbar.

import { element } from "./dom.js";

/**
 * A button. Its name begins with its text, as speech control expects, and goes on with its title.
 *
 * @param {string} text
 * @param {string} title
 * @param {() => void} action
 */
export function button(text, title, action) {
  const spoken = /\p{L}/u.test(text) && !title.startsWith(text);
  const name = [spoken ? text : "", title].filter(Boolean).join(": ");
  const node = element("button", "hs-button", { type: "button", title, "aria-label": name }, text);
  node.onclick = action;
  return node;
}

/**
 * Buttons that belong together.
 *
 * @param {string} name
 * @param {HTMLElement[]} buttons
 */
export function switchOf(name, ...buttons) {
  return element("div", "hs-switch", { role: "group", "aria-label": name }, ...buttons);
}
