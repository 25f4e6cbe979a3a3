// Keeps something right while a page is still being drawn.

const PAGE = "[class*='st-key-lesson_page']";
const SETTLED_MS = 4000; // without a change, after which a page is complete

/**
 * Calls back now and after every change of an element's content or size, until there has been none
 * for a while or the reader does anything.
 *
 * @param {Element} element
 * @param {(stop: () => void) => void} changed
 * @returns {() => void} ends it
 */
export function followChanges(element, changed) {
  const done = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const again = () => {
    clearTimeout(timer);
    timer = setTimeout(stop, SETTLED_MS);
    changed(stop);
  };
  const sizes = new ResizeObserver(again);
  const parts = new MutationObserver(again); // one part may take the place of another of its size
  const stop = () => {
    done.abort();
    clearTimeout(timer);
    sizes.disconnect();
    parts.disconnect();
  };
  sizes.observe(element);
  parts.observe(element, { childList: true, subtree: true });
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"])
    document.addEventListener(kind, stop, { passive: true, signal: done.signal });
  again();
  return stop;
}

/**
 * `followChanges` of the lesson's page.
 *
 * @param {(stop: () => void) => void} changed
 */
export const followPage = (changed) => followChanges(document.querySelector(PAGE) ?? document.body, changed);
