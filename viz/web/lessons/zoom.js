// A part of the map grows into the lesson that it leads to, or into the figure of the lesson shown, and
// back. Only a frame above the page is animated: the page itself changes at its own pace, and nothing
// waits for it.

const MS = 200;
const CONTENT = 1080; // CSS pixels: the widest page of a lesson
const TOP = 210; // below the head of a lesson

/** @typedef {{left: number, top: number, width: number, height: number}} Area */

/**
 * Where a lesson's figure stands in a window of this size.
 *
 * @param {number} width
 * @param {number} height
 * @returns {Area}
 */
export function figureArea(width, height) {
  const wide = Math.min(CONTENT, width - 32);
  return { left: (width - wide) / 2, top: TOP, width: wide, height: Math.max(120, height - TOP - 24) };
}

/**
 * Animates a frame from a part to the figure of its lesson, after one from the present figure back to
 * its own part; nothing with reduced motion.
 *
 * @param {Element} part
 * @param {Element | null} [left] the part whose lesson is left
 */
export function zoom(part, left = null) {
  const frame = frameAbove(part);
  if (!frame) return;
  const figure = { ...pixels(figureArea(innerWidth, innerHeight)), opacity: 0 };
  const at = (/** @type {Element} */ each) => ({ ...pixels(each.getBoundingClientRect()), opacity: 1 });
  const out = left ? [figure, { ...at(left), offset: 0.4 }] : [];
  const grown = frame.animate([...out, { ...at(part), offset: left ? 0.5 : 0 }, figure], {
    duration: MS,
    easing: "cubic-bezier(.2, .7, .3, 1)",
  });
  grown.finished.finally(() => frame.remove());
}

/**
 * Animates a copy of a figure from one area of the window to another; nothing with reduced motion.
 *
 * @param {Element} picture what is copied
 * @param {Area} from
 * @param {Area} to
 */
export function fly(picture, from, to) {
  const frame = frameAbove(picture);
  if (!frame) return;
  const copy = /** @type {SVGElement} */ (picture.cloneNode(true));
  for (const each of copy.querySelectorAll("[tabindex]")) each.removeAttribute("tabindex");
  Object.assign(copy.style, { width: "100%", height: "100%" });
  frame.append(copy);
  const grown = frame.animate(
    [{ ...pixels(from), opacity: 0.9 }, { ...pixels(to), opacity: 0.9, offset: 0.9 }, { ...pixels(to), opacity: 0 }],
    { duration: MS, easing: "cubic-bezier(.2, .7, .3, 1)" },
  );
  grown.finished.finally(() => frame.remove());
}

/** An empty frame above the page, in the colours of an element; null with reduced motion. */
function frameAbove(element) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return null;
  const frame = document.createElement("div");
  const colour = getComputedStyle(element).getPropertyValue("--st-primary-color") || "#5b5bd6";
  Object.assign(frame.style, {
    ...{ position: "fixed", zIndex: "9", pointerEvents: "none", boxSizing: "border-box", overflow: "hidden" },
    ...{ border: `2px solid ${colour}`, borderRadius: "8px" },
  });
  frame.ariaHidden = "true";
  document.body.append(frame);
  return frame;
}

function pixels({ left, top, width, height }) {
  return { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` };
}
