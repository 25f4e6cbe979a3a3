// Pointer, wheel and keyboard over a matrix, as what the user means by them.

import { useRef } from "../../web/vendor/hooks.js";

/**
 * Points are CSS pixels from the element's corner.
 *
 * @typedef {object} Gestures
 * @property {(x: number, y: number) => boolean} grabs whether a press here belongs to the matrix
 * @property {() => boolean} drags whether a drag moves the matrix
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} leave
 * @property {(x: number, y: number) => void} press a click or a tap
 * @property {(right: number, down: number) => void} drag by so much since the last call
 * @property {(factor: number, x?: number, y?: number) => void} zoom
 * @property {() => void} reset
 * @property {() => boolean} release lets go of what is chosen; whether there was anything
 * @property {(down: number, right: number) => void} walk
 * @property {() => void} choose
 * @property {(x: number, y: number) => boolean} alters whether a drag with Alt from here alters a weight
 * @property {(up: number) => void} alter by a drag of so many pixels
 * @property {(keep: boolean) => void} altered at its end
 */

/** @typedef {[number, number]} Point */
/** @typedef {{pointers: Map<number, Point>, press: {at: Point, far: boolean} | null, alters: boolean}} Held */

const CLICK = 4; // pixels a pointer may stray in a click
const ZOOM = 1.5; // of a key
const LINE = 16; // pixels of a wheel that counts lines
/** @type {Record<string, Point>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * The listeners of an element.
 *
 * @param {Gestures} on
 */
export function useGestures(on) {
  const held = useRef(/** @type {Held | null} */ (null));
  held.current ??= { pointers: new Map(), press: null, alters: false };
  const now = held.current;

  function stopAltering(keep) {
    now.alters = false;
    on.altered(keep);
  }

  function pinch(id, before, at) {
    const other = [...now.pointers].find(([pointer]) => pointer !== id)?.[1] ?? at;
    const span = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
    now.pointers.set(id, at);
    on.zoom(span(at) / Math.max(1, span(before)), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
  }

  return {
    onPointerDown(event) {
      const at = spot(event);
      if (event.button > 0 || !on.grabs(...at)) return;
      now.pointers.set(event.pointerId, at);
      const one = now.pointers.size === 1;
      now.press = { at, far: !one };
      now.alters = event.altKey && one && on.alters(...at);
      if (now.alters || on.drags() || !one) event.currentTarget.setPointerCapture(event.pointerId);
    },

    onPointerMove(event) {
      const { pointers, press } = now;
      const at = spot(event);
      const before = pointers.get(event.pointerId);
      if (!before || !press) return on.hover(...at);
      if (pointers.size === 2) return pinch(event.pointerId, before, at);
      press.far ||= Math.hypot(at[0] - press.at[0], at[1] - press.at[1]) > CLICK;
      if (now.alters) return press.far ? on.alter(press.at[1] - at[1]) : undefined;
      if (!press.far || !on.drags()) return on.hover(...at);
      pointers.set(event.pointerId, at);
      event.currentTarget.style.cursor = "grabbing";
      on.drag(at[0] - before[0], at[1] - before[1]);
    },

    onPointerUp(event) {
      const was = now.pointers.delete(event.pointerId);
      event.currentTarget.style.cursor = "";
      if (now.alters) stopAltering(Boolean(now.press?.far));
      else if (was && now.press && !now.press.far) on.press(...spot(event));
    },

    onPointerCancel(event) {
      now.pointers.delete(event.pointerId);
      now.press = null;
      if (now.alters) stopAltering(false);
    },

    onPointerLeave(event) {
      if (event.pointerType === "mouse") on.leave();
    },

    onDblClick(event) {
      if (on.grabs(...spot(event))) on.reset();
    },

    /** The wheel alone scrolls the page. With Ctrl or ⌘ it zooms; a pinch on a touchpad is the same. */
    onWheel(event) {
      const at = spot(event);
      if (!(event.ctrlKey || event.metaKey) || !on.grabs(...at)) return;
      event.preventDefault();
      const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * LINE : event.deltaY;
      on.zoom(Math.exp(-Math.max(-60, Math.min(60, step)) * 0.01), ...at);
    },

    onKeyDown(event) {
      const { key } = event;
      if (key === "Escape" && now.alters) stopAltering(false);
      else if (event.ctrlKey || event.metaKey || event.altKey) return;
      else if (MOVES[key]) on.walk(...MOVES[key]);
      else if (key === "+" || key === "=") on.zoom(ZOOM);
      else if (key === "-") on.zoom(1 / ZOOM);
      else if (key === "Enter" || key === " ") on.choose();
      else if (key !== "Escape" || !on.release()) return;
      event.preventDefault();
    },
  };
}

/** @returns {Point} from the corner of the element */
function spot({ clientX, clientY, currentTarget }) {
  const { left, top } = currentTarget.getBoundingClientRect();
  return [clientX - left, clientY - top];
}
