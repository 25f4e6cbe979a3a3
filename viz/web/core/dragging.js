// Something dragged from one picture onto another with a mouse or a pen: what is carried follows the
// pointer as words, and the page scrolls near its edges. A finger scrolls the page as ever.

import { element, setText } from "./dom.js";

const CLICK = 5; // pixels a pointer may stray in a click
const EDGE = 48; // pixels from an edge of the window in which the page scrolls
const STEP = 14; // pixels it scrolls by a move

/**
 * @template T
 * @typedef {object} Drag
 * @property {(event: PointerEvent) => T | null} takes what a press here carries; null for nothing
 * @property {(carried: T, event: PointerEvent) => string} over what a drop here does, in words
 * @property {(carried: T, event: PointerEvent) => void} drop
 * @property {(carried: T | null) => void} carry is told when a drag begins, and when it ends
 */

/**
 * @template T
 * @param {HTMLElement} source
 * @param {HTMLElement} parent of the words at the pointer
 * @param {Drag<T>} on
 */
export function draggable(source, parent, on) {
  const words = element("div", "hs-dragged", { "aria-hidden": "true", hidden: "" });
  parent.append(words);
  source.style.userSelect = "none"; // a drag selects no text
  /** @type {{carried: T, x: number, y: number, far: boolean} | null} */
  let press = null;
  let dropped = false;
  /** @type {AbortController | null} */
  let moving = null;

  function follow(event) {
    if (!press) return;
    words.hidden = false;
    words.style.transform = `translate(${event.clientX + 14}px, ${event.clientY + 14}px)`;
    setText(words, on.over(press.carried, event));
    const by = event.clientY < EDGE ? -STEP : event.clientY > innerHeight - EDGE ? STEP : 0;
    if (by) scrollerOf(source)?.scrollBy(0, by);
  }

  function end(event) {
    const last = press;
    press = null;
    words.hidden = true;
    moving?.abort();
    if (!last?.far) return;
    dropped = true;
    on.carry(null);
    if (event) on.drop(last.carried, event);
  }

  function move(event) {
    if (!press) return;
    if (!(event.buttons & 1)) return end(null); // it was let go outside the window
    if (!press.far && Math.hypot(event.clientX - press.x, event.clientY - press.y) <= CLICK) return;
    if (!press.far) {
      press.far = true;
      // whatever else listens here has seen the press, and must not wait for its end
      source.dispatchEvent(new PointerEvent("pointercancel", { pointerId: event.pointerId }));
      on.carry(press.carried);
    }
    event.stopImmediatePropagation();
    event.preventDefault();
    follow(event);
  }

  source.addEventListener(
    "pointerdown",
    (event) => {
      dropped = false;
      const carried = event.pointerType === "touch" || event.button > 0 || event.altKey ? null : on.takes(event);
      if (carried === null) return;
      press = { carried, x: event.clientX, y: event.clientY, far: false };
      moving = new AbortController();
      const options = { capture: true, signal: moving.signal };
      addEventListener("pointermove", move, options);
      addEventListener("pointerup", end, options);
      addEventListener("pointercancel", (cancel) => cancel.isTrusted && end(null), options);
      addEventListener("keydown", (key) => key.key === "Escape" && end(null), options);
    },
    { capture: true },
  );
  // the click that ends a drag chooses nothing
  source.addEventListener("click", (event) => dropped && event.stopImmediatePropagation(), { capture: true });
}

/**
 * Whether a point of the window lies on an element.
 *
 * @param {Element} node
 * @param {{clientX: number, clientY: number}} point
 */
export function isOn(node, { clientX, clientY }) {
  const { left, top, right, bottom } = node.getBoundingClientRect();
  return clientX >= left && clientX < right && clientY >= top && clientY < bottom;
}

/** The element that scrolls the page a node lies in, across shadow roots. */
function scrollerOf(node) {
  const { parentNode } = node;
  if (!parentNode) return node instanceof ShadowRoot ? scrollerOf(node.host) : null;
  if (!(parentNode instanceof Element)) return scrollerOf(parentNode);
  const scrolls = parentNode.scrollHeight > parentNode.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(parentNode).overflowY);
  return scrolls && parentNode.clientHeight > innerHeight / 2 ? parentNode : scrollerOf(parentNode);
}
