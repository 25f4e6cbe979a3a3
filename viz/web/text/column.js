// A column of tokens that can be scrolled and walked through: only those in sight are elements.

import { element, setAttribute } from "../core/dom.js";
import { legible } from "../core/labels.js";
import { listenForBrush } from "./brushing.js";
import { between } from "./span.js";
import { inSight } from "./strands.js";

/** @import {Axis} from "../types" */

/** @type {ReadonlySet<number>} */
const NONE = new Set();
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
 * @property {Brushing} [brushing] without it no tokens can be brushed
 */

/**
 * @typedef {object} Brushing
 * @property {() => number | null} pinned the token of this column that is kept
 * @property {(range: import("./span.js").Range | null) => void} mark shows what would be brushed
 * @property {(range: import("./span.js").Range) => void} apply
 */

let serial = 0; // columns of this page: ids are unique

/**
 * @param {string} name
 * @param {Axis} axis
 * @param {Actions} on
 */
export function column(name, axis, on) {
  const id = `hs-column-${(serial += 1)}`;
  const list = element("div", "hs-column-list");
  const box = element("div", `hs-column hs-column-${axis}`, {
    ...{ role: "listbox", tabindex: "0", "aria-label": name },
  });
  box.append(list);
  /** @type {string[]} */
  let labels = [];
  /** @type {ReadonlySet<number>} */
  let special = new Set();
  /** @type {import("./span.js").Range} */
  let drawn = [0, 0]; // the tokens that are in the column
  let row = 24; // pixels
  let at = 0; // the token that the keyboard is at
  /** @type {number | null} */
  let anchor = null; // where walking with Shift began
  let there = ""; // which tokens are elements, and as what

  /** @param {Event} event */
  const indexOf = (event) => {
    const target = /** @type {Element} */ (event.target).closest("[data-index]");
    return target instanceof HTMLElement ? Number(target.dataset.index) : null;
  };
  const { brushing } = on;
  if (brushing)
    listenForBrush(box, {
      placeOf(event) {
        const index = indexOf(event);
        return index === null ? null : { axis, index };
      },
      anchor: () => brushing.pinned() ?? at,
      mark: (_, brushed) => brushing.mark(brushed),
      apply: (_, brushed) => brushing.apply(brushed),
    });
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
  box.onkeyup = (event) => {
    if (event.key === "Shift" && anchor !== null) brush();
  };
  box.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / row) - 1);
    /** @type {Record<string, number>} */
    const places = {
      ...{ ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page },
      ...{ Home: drawn[0], End: drawn[1] - 1 },
    };
    if (event.key in places) {
      if (event.shiftKey && brushing) anchor ??= at;
      walk(places[event.key]);
      if (event.shiftKey && anchor !== null) brushing?.mark(between(anchor, at));
    } else if (event.key === "Enter" && anchor !== null) brush();
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") on.cross();
    else if (event.key === "Enter" || event.key === " ") choose(at);
    else if (event.key === "Escape") on.letGo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** Chooses what was walked over with Shift. */
  function brush() {
    const brushed = anchor === null ? null : between(anchor, at);
    anchor = null;
    brushing?.mark(null);
    if (brushed && brushed[1] - brushed[0] > 1) brushing?.apply(brushed);
  }

  /** @param {number} index */
  function choose(index) {
    at = index;
    on.pin(index);
  }

  /** @param {number} index */
  function walk(index) {
    at = Math.min(Math.max(drawn[0], index), drawn[1] - 1);
    reveal(at);
    on.point(at);
  }

  /** @param {number} index */
  function reveal(index) {
    const top = (index - drawn[0]) * row;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + row > box.scrollTop + box.clientHeight) box.scrollTop = top + row - box.clientHeight;
  }

  /**
   * The tokens in sight.
   *
   * @returns {import("./span.js").Range}
   */
  function range() {
    const [first, last] = inSight(box.scrollTop, box.clientHeight, row, drawn[1] - drawn[0]);
    return [drawn[0] + first, drawn[0] + last];
  }

  /**
   * @param {{labels: string[], special: number[]}} text
   * @param {number} rowHeight
   * @param {number} height
   * @param {import("./span.js").Range} [tokens] that are in the column; all by default
   */
  function arrange(text, rowHeight, height, tokens = [0, text.labels.length]) {
    labels = text.labels;
    special = new Set(text.special);
    row = rowHeight;
    drawn = tokens;
    at = Math.min(Math.max(drawn[0], at), drawn[1] - 1);
    there = "";
    box.style.height = `${height}px`;
    list.style.height = `${(drawn[1] - drawn[0]) * row}px`;
  }

  /**
   * @param {number | null} active
   * @param {number | null} pinned
   * @param {ReadonlySet<number>} [matches] tokens that were searched for
   * @param {import("./span.js").Range | null} [brushed] tokens that would be chosen
   */
  function render(active, pinned, matches = NONE, brushed = null) {
    const [first, last] = range();
    const [from, to] = [Math.max(drawn[0], first - BESIDE), Math.min(drawn[1], last + BESIDE)];
    const now = `${from}-${to}`;
    if (now !== there) {
      there = now;
      list.replaceChildren(...labels.slice(from, to).map((label, i) => token(label, from + i)));
    }
    for (const child of list.children) {
      const index = Number(/** @type {HTMLElement} */ (child).dataset.index);
      child.classList.toggle("hs-on", index === active);
      child.classList.toggle("hs-match", matches.has(index));
      const inside = brushed && index >= brushed[0] && index < brushed[1];
      child.classList.toggle("hs-brushed", Boolean(inside));
      setAttribute(child, "aria-selected", String(index === pinned));
    }
    const named = active !== null && active >= from && active < to; // a token out of sight is no element
    if (named) setAttribute(box, "aria-activedescendant", `${id}-${active}`);
    else box.removeAttribute("aria-activedescendant");
  }

  /**
   * @param {string} label
   * @param {number} index
   */
  function token(label, index) {
    const child = element("div", "hs-token", { role: "option", dir: "auto", id: `${id}-${index}` });
    child.append(legible(label));
    child.title = label;
    child.dataset.index = String(index);
    child.setAttribute("aria-posinset", String(index + 1));
    child.setAttribute("aria-setsize", String(labels.length));
    child.classList.toggle("hs-special-token", special.has(index));
    child.style.top = `${(index - drawn[0]) * row}px`;
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
    /** Pixels between the first token of the text and the upper edge. */
    offset: () => box.scrollTop + drawn[0] * row,
    focus: () => box.focus(),
  };
}
