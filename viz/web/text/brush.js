// A rectangle drawn over a plot with the mouse.

/** @import {Plot} from "./dots.js" */

const CLICK = 4; // pixels a pointer may stray in a click

/**
 * What is done with the rectangle.
 *
 * @typedef {object} Brush
 * @property {() => boolean} starts whether a press may become a rectangle
 * @property {(box: Plot | null) => void} draw while the mouse is down, in the element's pixels
 * @property {(box: Plot) => void} done
 */

/**
 * @param {HTMLElement} target
 * @param {Brush} on
 * @returns {() => boolean} whether the last press was a rectangle, not a click
 */
export function brush(target, on) {
  /** @type {{x: number, y: number} | null} */
  let from = null;
  /** @type {Plot | null} */
  let box = null;
  let far = false;

  const spot = (event) => {
    const { left, top } = target.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  target.addEventListener("pointerdown", (event) => {
    far = false;
    from = event.pointerType === "mouse" && event.button === 0 && on.starts() ? spot(event) : null;
  });
  target.addEventListener("pointermove", (event) => {
    if (!from) return;
    const { x, y } = spot(event);
    if (!far && Math.hypot(x - from.x, y - from.y) <= CLICK) return;
    if (!far) target.setPointerCapture(event.pointerId);
    far = true;
    const [left, top] = [Math.min(x, from.x), Math.min(y, from.y)];
    box = { left, top, width: Math.abs(x - from.x), height: Math.abs(y - from.y) };
    on.draw(box);
  });
  const end = () => {
    if (far && box && from) on.done(box);
    from = box = null;
    on.draw(null);
  };
  target.addEventListener("pointerup", end);
  target.addEventListener("pointercancel", () => {
    far = false;
    end();
  });
  return () => far;
}
