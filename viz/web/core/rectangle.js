// A rectangle drawn over a picture with the pointer, and its frame.

/**
 * @template P
 * @typedef {object} Rectangle
 * @property {(event: PointerEvent) => P | null} begin the place of a press; null where none begins
 * @property {(event: PointerEvent) => P | null} at the place of the pointer
 * @property {(from: P, to: P) => boolean} isPoint whether these two are no rectangle yet
 * @property {(from: P, to: P) => void} draw
 * @property {(from: P, to: P) => void} end
 */

/**
 * Listens for rectangles; the click that ends one chooses nothing.
 *
 * @template P
 * @param {HTMLElement} target
 * @param {Rectangle<P>} on
 */
export function drawRectangles(target, on) {
  /** @type {P | null} */
  let from = null;
  /** @type {P | null} */
  let to = null;
  target.addEventListener("pointerdown", (event) => {
    from = event.button > 0 ? null : on.begin(event);
    to = null;
  });
  target.addEventListener("pointermove", (event) => {
    const place = from !== null && event.buttons & 1 ? on.at(event) : null;
    if (from === null || place === null || (to === null && on.isPoint(from, place))) return;
    target.setPointerCapture(event.pointerId);
    to = place;
    on.draw(from, to);
  });
  target.addEventListener("pointerup", () => {
    if (from !== null && to !== null) on.end(from, to);
    from = null;
  });
  target.addEventListener("pointercancel", () => (from = null));
  target.addEventListener("click", (event) => to !== null && event.stopImmediatePropagation(), { capture: true });
}

/**
 * Places a frame over its picture.
 *
 * @param {HTMLElement} frame
 * @param {readonly [number, number, number, number]} sides left, top, right and bottom, in shares of the picture
 */
export function placeFrame(frame, [left, top, right, bottom]) {
  const [x, y, wide, tall] = [left, top, right - left, bottom - top].map((share) => `${100 * share}%`);
  Object.assign(frame.style, { left: x, top: y, width: wide, height: tall });
}
