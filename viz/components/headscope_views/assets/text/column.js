// A column of tokens that can be scrolled and walked through: only those in sight are elements.

import { element, setAttribute } from "../core/dom.js";
import { shown } from "../core/labels.js";
import { inSight } from "./strands.js";

/** @import {Axis} from "../types" */

const BESIDE = 4; // tokens that are there above and below the window

/**
 * What the user does in a column.
 *
 * @typedef {object} Actions
 * @property {(index: number | null) => void} point
 * @property {(index: number) => void} pin
 * @property {() => void} letGo
 * @property {() => void} cross goes to the other column
 * @property {() => void} scrolled
 */

let made = 0; // columns of this page: ids are unique

/**
 * @param {string} name
 * @param {Axis} axis
 * @param {Actions} on
 */
export function column(name, axis, on) {
  const id = `hs-column-${(made += 1)}`;
  const list = element("div", "hs-column-list");
  const box = element("div", `hs-column hs-column-${axis}`, {
    ...{ role: "listbox", tabindex: "0", "aria-label": name },
  });
  box.append(list);
  /** @type {string[]} */
  let labels = [];
  /** @type {ReadonlySet<number>} */
  let special = new Set();
  let row = 24; // pixels
  let at = 0; // the token that the keyboard is at
  let there = ""; // which tokens are elements, and as what

  /** @param {Event} event */
  const indexOf = (event) => {
    const target = /** @type {Element} */ (event.target).closest("[data-index]");
    return target instanceof HTMLElement ? Number(target.dataset.index) : null;
  };
  box.onscroll = on.scrolled;
  box.onpointerover = (event) => on.point(indexOf(event));
  box.onpointerleave = () => on.point(null);
  box.onclick = (event) => {
    const index = indexOf(event);
    if (index !== null) choose(index);
  };
  box.onfocus = () => {
    if (box.matches(":focus-visible")) walk(at);
  };
  box.onblur = () => on.point(null);
  box.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / row) - 1);
    /** @type {Record<string, number>} */
    const places = {
      ...{ ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page },
      ...{ Home: 0, End: labels.length - 1 },
    };
    if (event.key in places) walk(places[event.key]);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") on.cross();
    else if (event.key === "Enter" || event.key === " ") choose(at);
    else if (event.key === "Escape") on.letGo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** @param {number} index */
  function choose(index) {
    at = index;
    on.pin(index);
  }

  /** @param {number} index */
  function walk(index) {
    at = Math.min(Math.max(0, index), labels.length - 1);
    reveal(at);
    on.point(at);
  }

  /** @param {number} index */
  function reveal(index) {
    if (index * row < box.scrollTop) box.scrollTop = index * row;
    else if ((index + 1) * row > box.scrollTop + box.clientHeight)
      box.scrollTop = (index + 1) * row - box.clientHeight;
  }

  /** The tokens in sight. */
  const range = () => inSight(box.scrollTop, box.clientHeight, row, labels.length);

  /**
   * @param {{labels: string[], special: number[]}} text
   * @param {number} rowHeight
   * @param {number} height
   */
  function arrange(text, rowHeight, height) {
    labels = text.labels;
    special = new Set(text.special);
    row = rowHeight;
    at = Math.min(at, labels.length - 1);
    there = "";
    box.style.height = `${height}px`;
    list.style.height = `${labels.length * row}px`;
  }

  /**
   * @param {number | null} active
   * @param {number | null} pinned
   */
  function render(active, pinned) {
    const [first, last] = range();
    const [from, to] = [Math.max(0, first - BESIDE), Math.min(labels.length, last + BESIDE)];
    const now = `${from}-${to}`;
    if (now !== there) {
      there = now;
      list.replaceChildren(...labels.slice(from, to).map((label, i) => token(label, from + i)));
    }
    for (const child of list.children) {
      const index = Number(/** @type {HTMLElement} */ (child).dataset.index);
      child.classList.toggle("hs-on", index === active);
      setAttribute(child, "aria-selected", String(index === pinned));
    }
    if (active === null) box.removeAttribute("aria-activedescendant");
    else setAttribute(box, "aria-activedescendant", `${id}-${active}`);
  }

  /**
   * @param {string} label
   * @param {number} index
   */
  function token(label, index) {
    const child = element("div", "hs-token", { role: "option", dir: "auto", id: `${id}-${index}` });
    child.append(shown(label));
    child.title = label;
    child.dataset.index = String(index);
    child.setAttribute("aria-posinset", String(index + 1));
    child.setAttribute("aria-setsize", String(labels.length));
    child.classList.toggle("hs-special-token", special.has(index));
    child.style.top = `${index * row}px`;
    child.style.height = `${row}px`;
    child.style.lineHeight = `${row}px`;
    return child;
  }

  return {
    box,
    arrange,
    render,
    range,
    reveal,
    /** How far the column is scrolled, in pixels. */
    offset: () => box.scrollTop,
    focus: () => box.focus(),
  };
}
