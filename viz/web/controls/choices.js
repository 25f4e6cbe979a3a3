// A list to choose from: cards or rows. It can remember what was opened, in this browser.

import { element, setText } from "../core/dom.js";

/** @import {Host} from "../types" */

/**
 * @typedef {object} Choice
 * @property {string} id what is sent
 * @property {string} title
 * @property {string} [detail]
 * @property {string} [tag] a word at its end
 * @property {string} [picture] URL of a thumbnail
 * @property {boolean} [chosen]
 */

/**
 * @typedef {object} ChoicesProps
 * @property {string} label
 * @property {Choice[]} items
 * @property {"cards" | "rows" | "thumbs"} layout
 * @property {string} [kept] name under which this browser remembers items, which are added on top
 */

const MOST = 8; // items remembered
const keyOf = (name) => `headscope/${name}`;

/**
 * @param {HTMLElement} root
 * @param {ChoicesProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  const title = element("h3", "hs-choices-title");
  const list = element("ul", "hs-choices");
  root.replaceChildren(title, list);

  function update({ label, items, layout, kept = "" }) {
    const all = kept ? remembered(kept, items) : items;
    setText(title, label);
    title.hidden = !label || !all.length;
    list.className = `hs-choices hs-choices-${layout}`;
    list.setAttribute("aria-label", label);
    list.replaceChildren(...all.map((item) => element("li", "", {}, itemOf(item))));
    list.hidden = !all.length;
  }

  function itemOf({ id, title: name, detail = "", tag = "", picture = "", chosen = false }) {
    const item = element(
      "button",
      "hs-choice-item",
      { type: "button", "aria-pressed": String(chosen) },
      ...(picture ? [element("img", "hs-choice-picture", { src: picture, alt: "" })] : []),
      element("bdi", "hs-choice-name", {}, name),
      ...(tag ? [element("span", "hs-choice-tag", {}, tag)] : []),
      ...(detail ? [element("span", "hs-choice-detail", {}, detail)] : []),
    );
    item.onclick = () => {
      host.trigger("chosen", id);
      const closing = { key: "Escape", bubbles: true, composed: true }; // a menu round the list
      item.dispatchEvent(new KeyboardEvent("keydown", closing));
    };
    return item;
  }

  update(props);
  return { update, destroy: () => root.replaceChildren() };
}

/** These items, then those of earlier visits. */
function remembered(name, items) {
  const now = new Set(items.map(({ id }) => id));
  const all = [...items, ...stored(name).filter(({ id }) => !now.has(id))].slice(0, MOST);
  try {
    const plain = all.map(({ id, title, detail }) => ({ id, title, detail }));
    localStorage.setItem(keyOf(name), JSON.stringify(plain));
  } catch {
    // the list works without storage
  }
  return all;
}

function stored(name) {
  try {
    const value = JSON.parse(localStorage.getItem(keyOf(name)) ?? "[]");
    return value.filter(
      (/** @type {Partial<Choice>} */ { id, title, detail }) =>
        [id, title, detail ?? ""].every((text) => typeof text === "string" && text.length < 4096),
    );
  } catch {
    return []; // no storage, or an invalid entry
  }
}
