// Pointer, wheel and keyboard over a matrix: they point, choose, move and zoom.

import { isModified, stepOf } from "../../web/core/keys.js";
import * as plot from "../../web/painting/layout.js";
import { useRef } from "../../web/vendor/hooks.js";

/** @import {Cell} from "../../web/types" */
/** @import {Layout, View} from "../../web/painting/layout.js" */
/** @import {TextState} from "../../web/text/state.js" */

const CLICK = 4; // pixels a pointer may stray in a click
const ZOOM = 1.5; // of a key
const LINE = 16; // pixels of a wheel that counts lines

/**
 * Which part of a matrix is in view; of the same tokens when the layout changes. A function reads the newest view,
 * which may not have been drawn yet.
 *
 * @param {Layout | null} layout
 * @param {string} trace
 * @param {() => void} changed
 */
export function useZoom(layout, trace, changed) {
  const part = useRef(/** @type {View | null} */ (null)); // null: the whole
  const before = useRef({ layout, trace });
  const last = before.current.layout;
  if (layout && last !== layout) {
    const isSame =
      ["rows", "cols"].every((name) => last?.[name] === layout[name]) &&
      last?.first.row === layout.first.row &&
      last?.first.col === layout.first.col;
    const kept = isSame && before.current.trace === trace ? part.current : null;
    part.current = kept && plot.viewOf(layout, kept.row, kept.col, kept.zoom);
    before.current = { layout, trace };
  }
  const there = /** @type {Layout} */ (layout);
  const view = () => part.current ?? plot.whole(there);
  function show(/** @type {View | null} */ next) {
    part.current = next && next.zoom > 1.001 ? next : null;
    changed();
  }
  return {
    part,
    view,
    isZoomed: () => part.current !== null,
    isDeepest: () => Boolean(layout) && view().zoom >= 0.999 * plot.deepest(there),
    reset: () => show(null),
    pan: (/** @type {number} */ right, /** @type {number} */ down) =>
      show(plot.panned(there, view(), right, down)),
    by: (/** @type {number} */ factor, /** @type {number} */ x, /** @type {number} */ y) =>
      show(plot.zoomed(there, view(), factor, x, y)),
    round(/** @type {number} */ factor, /** @type {Cell | null} */ cell) {
      if (!cell) return show(plot.zoomed(there, view(), factor));
      const from = plot.revealing(there, view(), cell);
      const { x, y } = plot.placeOf(from, { query: cell.query + 0.5, key: cell.key + 0.5 });
      show(plot.revealing(there, plot.zoomed(there, from, factor, x, y), cell));
    },
    reveal: (/** @type {Cell} */ cell) => part.current && show(plot.revealing(there, view(), cell)),
  };
}

/**
 * The listeners of a matrix.
 *
 * @param {object} matrix
 * @param {TextState} matrix.state
 * @param {Layout | null} matrix.layout
 * @param {ReturnType<typeof useZoom>} matrix.zoom
 * @param {boolean} matrix.lags whether the picture is that of another head
 */
export function useTouch({ state, layout, zoom, lags }) {
  const pressed = useRef(/** @type {{x: number, y: number, far: boolean} | null} */ (null));
  if (!layout) return {};
  const cellAt = (event) => plot.cellAt(layout, zoom.view(), ...spot(event));
  const point = (/** @type {Cell | null} */ cell) => void (lags || state.point(cell));

  function choose(/** @type {Cell | null} */ cell) {
    if (!cell || lags) return;
    const { query, key } = cell;
    const [token, partner] = state.selection.direction === "in" ? [key, query] : [query, key];
    state.select({ token, partner });
  }

  function walk([down, right]) {
    if (lags) return;
    const { row, col } = zoom.view();
    const { query, key } = state.hover ?? { query: Math.floor(row) - down, key: Math.floor(col) - right };
    const cell = plot.nearest(/** @type {Layout} */ (layout), { query: query + down, key: key + right });
    state.point(cell);
    zoom.reveal(cell);
  }

  /** Lets go of the zoom, else of what is chosen; whether there was anything. */
  function release() {
    if (!zoom.isZoomed()) return state.letGo();
    zoom.reset();
    return true;
  }

  return {
    onPointerDown(event) {
      if (event.button > 0 || !cellAt(event)) return;
      pressed.current = { x: event.clientX, y: event.clientY, far: false };
      if (zoom.isZoomed()) event.currentTarget.setPointerCapture(event.pointerId);
    },

    onPointerMove(event) {
      const press = event.buttons ? pressed.current : null;
      if (!press || !zoom.isZoomed()) return point(cellAt(event));
      const [right, down] = [event.clientX - press.x, event.clientY - press.y];
      if (!press.far && Math.hypot(right, down) <= CLICK) return;
      pressed.current = { x: event.clientX, y: event.clientY, far: true };
      state.point(null);
      zoom.pan(right, down);
    },

    onPointerUp(event) {
      const cell = pressed.current && !pressed.current.far ? cellAt(event) : null;
      pressed.current = null;
      if (cell) point(cell);
      choose(cell);
    },

    onPointerCancel: () => (pressed.current = null),
    onPointerLeave: (event) => event.pointerType === "mouse" && point(null),
    onDblClick: zoom.reset,

    /** The wheel alone scrolls the page. With Ctrl or ⌘ it zooms; a pinch on a touchpad is the same. */
    onWheel(event) {
      if (!(event.ctrlKey || event.metaKey) || !cellAt(event)) return;
      event.preventDefault();
      const [x, y] = spot(event);
      const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * LINE : event.deltaY;
      zoom.by(Math.exp(-Math.max(-60, Math.min(60, step)) * 0.01), x - layout.left, y - layout.top);
    },

    onKeyDown(event) {
      const { key } = event;
      const step = stepOf(event);
      if (isModified(event)) return;
      if (step) walk(step);
      else if (key === "+" || key === "=") zoom.round(ZOOM, state.hover);
      else if (key === "-") zoom.round(1 / ZOOM, state.hover);
      else if (key === "Enter" || key === " ") choose(state.hover);
      else if (key !== "Escape" || !release()) return;
      event.preventDefault();
    },
  };
}

/** @returns {[number, number]} from the corner of the element */
function spot({ clientX, clientY, currentTarget }) {
  const { left, top } = currentTarget.getBoundingClientRect();
  return [clientX - left, clientY - top];
}
