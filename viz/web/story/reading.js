// Whether an input scrolls the page: then the reader moves, and not the page below them.

const KEYS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);
const USES_KEYS = "input, textarea, select, button, summary";

/**
 * Whether a key press scrolls; asked after everybody else could take it.
 *
 * @param {KeyboardEvent} event
 */
export function scrolls(event) {
  const target = event.composedPath()[0];
  const taken = event.defaultPrevented || (target instanceof Element && target.matches(USES_KEYS));
  return KEYS.has(event.key) && !taken;
}

/**
 * Whether a press of the pointer is on the vertical scrollbar of what it hits.
 *
 * @param {PointerEvent} event
 */
export function isOnScrollbar({ target, offsetX }) {
  if (!(target instanceof HTMLElement) || target.scrollHeight <= target.clientHeight) return false;
  return target.clientWidth > 0 && offsetX >= target.clientWidth;
}
