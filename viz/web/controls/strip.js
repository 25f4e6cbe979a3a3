// A strip of cards in one row, each a link with a small picture. A link is followed within the page,
// unless another tab is asked for.

import { modeOf } from "../core/colours.js";
import { element } from "../core/dom.js";

/** @import {Host} from "../types" */

/**
 * @typedef {object} Card
 * @property {string} id what is sent
 * @property {string} title
 * @property {string} detail one line
 * @property {string} href
 * @property {string} picture URL of its picture, without "-light.png" or "-dark.png"
 */

/** @typedef {{name: string, items: Card[]}} StripProps name: for screen readers */

/**
 * @param {HTMLElement} root
 * @param {StripProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  const list = element("ul", "hs-choices hs-strip");
  const row = element("nav", "", {}, list);
  root.replaceChildren(row);
  let drawn = "";

  function update({ name, items }) {
    const mode = modeOf(root);
    const wanted = JSON.stringify([mode, items]);
    row.setAttribute("aria-label", name);
    if (wanted === drawn) return; // the focus stays where it is
    drawn = wanted;
    list.replaceChildren(...items.map((item) => element("li", "", {}, linkOf(item, mode))));
  }

  function linkOf({ id, title, detail, href, picture }, mode) {
    const link = element(
      "a",
      "hs-choice-item",
      { href },
      element("img", "hs-choice-picture", { src: `${picture}-${mode}.png`, alt: "" }),
      element("span", "hs-choice-name", {}, title),
      element("span", "hs-choice-detail", {}, detail),
    );
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      host.trigger("chosen", id);
    };
    return link;
  }

  update(props);
  root.scrollIntoView({ block: "nearest" }); // asked for from further down, too
  return { update, destroy: () => root.replaceChildren() };
}
