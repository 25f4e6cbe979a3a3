// Brushing tokens: a drag from one to another, or a click with Shift, chooses all between them.

import { between } from "./span.js";

/** @import {Axis} from "../types" */
/** @import {Range} from "./span.js" */

/** @typedef {{axis: Axis, index: number}} Place */

/**
 * @typedef {object} Brush
 * @property {(event: MouseEvent) => Place | null} placeOf the token at the pointer
 * @property {(axis: Axis) => number | null} anchor where a click with Shift begins
 * @property {(axis: Axis, range: Range | null) => void} mark shows what would be chosen
 * @property {(axis: Axis, range: Range) => void} apply
 */

/**
 * Touches scroll, so only a mouse or a pen drags. A click that ends a brush goes no further.
 *
 * @param {HTMLElement} target
 * @param {Brush} on
 */
export function listenForBrush(target, on) {
  /** @type {Place | null} */
  let start = null;
  /** @type {Range | null} */
  let range = null;
  let finished = false; // a brush: the click that follows belongs to it

  target.addEventListener("pointerdown", (event) => {
    finished = false;
    start = event.button === 0 && event.pointerType !== "touch" && !event.shiftKey ? on.placeOf(event) : null;
    range = null;
  });
  target.addEventListener("pointermove", (event) => {
    if (!start || !(event.buttons & 1)) return;
    const place = on.placeOf(event);
    if (!place || place.axis !== start.axis) return;
    if (!range && place.index === start.index) return;
    range = between(start.index, place.index);
    on.mark(start.axis, range);
  });
  target.addEventListener("pointerup", () => {
    const axis = start?.axis;
    start = null;
    if (!axis || !range) return;
    on.mark(axis, null);
    finished = range[1] - range[0] > 1;
    if (finished) on.apply(axis, range);
    range = null;
  });
  target.addEventListener("pointerleave", () => {
    if (start) on.mark(start.axis, null);
    start = range = null;
  });
  target.addEventListener(
    "click",
    (event) => {
      const place = event.shiftKey ? on.placeOf(event) : null;
      const anchor = place && on.anchor(place.axis);
      if (place && anchor !== null && anchor !== place.index) {
        on.apply(place.axis, between(anchor, place.index));
        finished = true;
      }
      if (!finished) return;
      finished = false;
      event.stopImmediatePropagation();
      event.preventDefault();
    },
    { capture: true },
  );
}
