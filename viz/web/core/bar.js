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

/**
 * ‹ [select] › for one of the two things a head is named by.
 *
 * @param {string} name
 * @param {(by: number) => void} step
 * @param {(index: number) => void} choose
 */
export function stepper(name, step, choose) {
  const select = element("select", "hs-select", { "aria-label": name });
  select.onchange = () => choose(select.selectedIndex);
  const back = button("‹", `Previous ${name.toLowerCase()}`, () => step(-1));
  const on = button("›", `Next ${name.toLowerCase()}`, () => step(1));
  const label = element("span", "hs-label", { "aria-hidden": "true" }, name);
  const box = element("div", "hs-stepper", {}, label, back, select, on);
  /** @type {string[]} */
  let options = [];
  const show = (names, index) => {
    if (options.length !== names.length || names.some((text, i) => text !== options[i])) {
      options = names;
      select.replaceChildren(...names.map((text) => element("option", "", {}, text)));
    }
    select.selectedIndex = index;
    back.disabled = index === 0;
    on.disabled = index === names.length - 1;
  };
  return { box, show };
}
