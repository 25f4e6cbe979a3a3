// Pointer, wheel and keyboard over a matrix: they point, choose, move and zoom.

import * as viewport from "../../web/painting/viewport.js";
import { useRef } from "../../web/vendor/hooks.js";

/** @import {Cell} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Layout} from "../../web/painting/viewport.js" */

/** @typedef {[number, number]} Point CSS pixels from the element's corner */

const CLICK = 4; // pixels a pointer may stray in a click
const ZOOM = 1.5; // of a key
const LINE = 16; // pixels of a wheel that counts lines
/** @type {Record<string, Point>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * The listeners of the canvas.
 *
 * @param {object} matrix
 * @param {TextState} matrix.state
 * @param {Layout | null} matrix.layout
 * @param {ReturnType<typeof import("./zoom.js").useZoom>} matrix.zoom
 * @param {() => boolean} matrix.lags whether the picture is that of another head
 */
export function useTouch({ state, layout, zoom, lags }) {
  const pressed = useRef(/** @type {{at: Point, far: boolean} | null} */ (null));
  const pointers = useRef(/** @type {Map<number, Point>} */ (new Map())).current;
  /** @type {(x: number, y: number) => Point} */
  const inPlot = (x, y) => (layout ? [x - layout.left, y - layout.top] : [NaN, NaN]);
  /** @type {(x: number, y: number) => Cell | null} */
  const cellAt = (x, y) => layout && viewport.cellAt(layout, zoom.view(), ...inPlot(x, y));
  const grabs = (x, y) => Boolean(layout && viewport.isInside(layout, ...inPlot(x, y)));
  const point = (cell) => void (lags() || state.point(cell));

  function choose(cell) {
    if (!cell || lags()) return;
    const { query, key } = cell;
    const [token, partner] = state.selection.direction === "in" ? [key, query] : [query, key];
    state.select({ token, partner });
  }

  function walk([down, right]) {
    if (!layout || lags()) return;
    const cell = viewport.walked(layout, zoom.view(), state.hover, down, right);
    state.point(cell);
    zoom.reveal(cell);
  }

  /** Lets go of the zoom, else of what is chosen; whether there was anything. */
  function release() {
    if (!zoom.isZoomed()) return state.letGo();
    zoom.reset();
    return true;
  }

  function pinch(id, before, at) {
    const other = [...pointers].find(([pointer]) => pointer !== id)?.[1] ?? at;
    const span = (/** @type {Point} */ from) => Math.hypot(from[0] - other[0], from[1] - other[1]);
    pointers.set(id, at);
    const middle = inPlot((at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    zoom.by(span(at) / Math.max(1, span(before)), middle);
  }

  return {
    onPointerDown(event) {
      const at = spot(event);
      if (event.button > 0 || !grabs(...at)) return;
      pointers.set(event.pointerId, at);
      pressed.current = { at, far: pointers.size > 1 };
      if (zoom.isZoomed() || pointers.size > 1) event.currentTarget.setPointerCapture(event.pointerId);
    },

    onPointerMove(event) {
      const press = pressed.current;
      const at = spot(event);
      const before = pointers.get(event.pointerId);
      if (!before || !press) return point(cellAt(...at));
      if (pointers.size === 2) return pinch(event.pointerId, before, at);
      press.far ||= Math.hypot(at[0] - press.at[0], at[1] - press.at[1]) > CLICK;
      if (!press.far || !zoom.isZoomed()) return point(cellAt(...at));
      pointers.set(event.pointerId, at);
      event.currentTarget.style.cursor = "grabbing";
      state.point(null);
      zoom.pan(at[0] - before[0], at[1] - before[1]);
    },

    onPointerUp(event) {
      const was = pointers.delete(event.pointerId);
      event.currentTarget.style.cursor = "";
      if (!was || pressed.current?.far) return;
      const cell = cellAt(...spot(event));
      if (cell) point(cell);
      choose(cell);
    },

    onPointerCancel(event) {
      pointers.delete(event.pointerId);
      pressed.current = null;
    },

    onPointerLeave(event) {
      if (event.pointerType === "mouse") point(null);
    },

    onDblClick(event) {
      if (grabs(...spot(event))) zoom.reset();
    },

    /** The wheel alone scrolls the page. With Ctrl or ⌘ it zooms; a pinch on a touchpad is the same. */
    onWheel(event) {
      const at = spot(event);
      if (!(event.ctrlKey || event.metaKey) || !grabs(...at)) return;
      event.preventDefault();
      const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * LINE : event.deltaY;
      zoom.by(Math.exp(-Math.max(-60, Math.min(60, step)) * 0.01), inPlot(...at));
    },

    onKeyDown(event) {
      const { key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (MOVES[key]) walk(MOVES[key]);
      else if (key === "+" || key === "=") zoom.round(ZOOM, state.hover);
      else if (key === "-") zoom.round(1 / ZOOM, state.hover);
      else if (key === "Enter" || key === " ") choose(state.hover);
      else if (key !== "Escape" || !release()) return;
      event.preventDefault();
    },
  };
}

/** @returns {Point} from the corner of the element */
function spot({ clientX, clientY, currentTarget }) {
  const { left, top } = currentTarget.getBoundingClientRect();
  return [clientX - left, clientY - top];
}
