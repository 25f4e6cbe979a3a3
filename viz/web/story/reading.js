// Which paragraph is read: steps follow a reader who scrolls, not a page that grows, nor the way to a control
// that takes the focus.

const LINE = 0.45; // height of the line in the window that the paragraph being read crosses
const PHONE_LINE = 0.8; // on a phone the figure lies above the text
const KEYS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);
const USES_KEYS = "input, textarea, select, button, summary";

/** Whether a key press scrolls; asked after everybody else could take it. */
function scrolls(event) {
  const target = event.composedPath()[0];
  return (
    KEYS.has(event.key) &&
    !event.defaultPrevented &&
    !(target instanceof Element && target.matches(USES_KEYS))
  );
}

/** Whether a press of the pointer is on the vertical scrollbar of what it hits. */
function isOnScrollbar({ target, offsetX }) {
  if (!(target instanceof HTMLElement) || target.scrollHeight <= target.clientHeight) return false;
  return target.clientWidth > 0 && offsetX >= target.clientWidth;
}

/**
 * @param {() => boolean} isNarrow
 * @param {(step: number) => void} read called with the paragraph on the line while somebody scrolls
 */
export function followReader(isNarrow, read) {
  let isReading = false; // whether the last input scrolled
  let crossing = 0; // the paragraph on the line
  let line = 0;
  /** @type {Element[]} */
  let observed = [];
  /** @type {IntersectionObserver | null} */
  let observer = null;
  const follow = () => isReading && read(crossing);
  const end = new AbortController();
  const listening = { capture: true, passive: true, signal: end.signal };
  for (const name of ["wheel", "touchmove"])
    document.addEventListener(name, () => (isReading = true), listening);
  document.addEventListener("pointerdown", (event) => (isReading = isOnScrollbar(event)), listening);
  document.addEventListener("keydown", (event) => (isReading = scrolls(event)), { signal: end.signal });
  document.addEventListener("scroll", follow, listening);

  return {
    isReading: () => isReading,
    /** The step was chosen, not scrolled to. */
    rest: () => (isReading = false),
    /** @param {Element[]} sections */
    observe(sections) {
      const now = Math.round(100 * (isNarrow() ? PHONE_LINE : LINE));
      if (now === line && sections.every((each, i) => each === observed[i])) return;
      [line, observed] = [now, sections];
      observer?.disconnect();
      observer = new IntersectionObserver(
        (entries) => {
          for (const { target, isIntersecting } of entries)
            if (isIntersecting) crossing = sections.indexOf(target);
          follow();
        },
        { rootMargin: `-${line}% 0px -${100 - line}% 0px` },
      );
      for (const each of sections) observer.observe(each);
    },
    end() {
      observer?.disconnect();
      end.abort();
    },
  };
}
