// What the user does to a matrix: points, chooses, zooms, brushes tokens, drags a weight.

import { useLayoutEffect } from "../../web/vendor/hooks.js";
import { useHandlers } from "../../web/core/hooks.js";
import { listenForBrush } from "../../web/text/brushing.js";
import { listed } from "../../web/text/span.js";
import { useGestures } from "./gestures.js";
import { paint } from "../../web/core/edits.js";
import * as viewport from "../../web/painting/viewport.js";

/** @import {Axis, Cell} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Band} from "./cross.js" */
/** @import {Layout} from "../../web/painting/viewport.js" */
/** @import {Signal} from "../../web/vendor/signals-core.js" */

/** @typedef {{cell: Cell, from: number, to: number}} Altered a weight that is being dragged */

const WHOLE = 200; // pixels of a drag from 0 to 1

/**
 * The listeners of the canvas.
 *
 * @param {object} matrix
 * @param {TextState} matrix.state
 * @param {{current: HTMLElement | null}} matrix.overlay the canvas
 * @param {Layout | null} matrix.layout
 * @param {ReturnType<typeof import("./zoom.js").useZoom>} matrix.zoom
 * @param {() => boolean} matrix.lags whether the picture is that of another head
 * @param {Signal<Altered | null>} matrix.altered
 * @param {Signal<Band | null>} matrix.brushed
 */
export function useTouch({ state, overlay, layout, zoom, lags, altered, brushed }) {
  const chosenAxis = () => (state.selection.direction === "in" ? "key" : "query"); // the axis of the chosen token
  /** @type {(x: number, y: number) => [number, number]} */
  const inPlot = (x, y) => (layout ? [x - layout.left, y - layout.top] : [NaN, NaN]);
  /** @type {(x: number, y: number) => Cell | null} */
  const cellAt = (x, y) => layout && viewport.cellAt(layout, zoom.view(), ...inPlot(x, y));

  function point(cell) {
    if (!lags()) state.point(cell);
  }

  function choose({ query, key }) {
    const [token, partner] = chosenAxis() === "key" ? [key, query] : [query, key];
    if (!lags()) state.select({ token, partner });
  }

  function spotOf({ clientX, clientY }) {
    const corner = overlay.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return /** @type {const} */ ([clientX - corner.left, clientY - corner.top]);
  }

  /** @returns {{axis: Axis, index: number} | null} the token of a label */
  function labelAt(event) {
    if (!layout || lags()) return null;
    const [x, y] = spotOf(event);
    const row = x < layout.left ? cellAt(layout.left, y) : null;
    const column = y < layout.top ? cellAt(x, layout.top) : null;
    const axis = row ? "query" : "key";
    const index = row ? row.query : column?.key;
    if (index === undefined) return null;
    return { axis, index };
  }

  const brush = useHandlers({
    placeOf: labelAt,
    anchor: (/** @type {Axis} */ axis) => (axis === chosenAxis() ? state.selection.token : null),
    mark(/** @type {Axis} */ axis, /** @type {Band["range"] | null} */ range) {
      brushed.value = range && { axis, range };
    },
    apply: (/** @type {Axis} */ axis, /** @type {Band["range"]} */ range) =>
      state.select({ [axis === "query" ? "rows" : "columns"]: listed(range) }),
  });
  useLayoutEffect(() => {
    if (overlay.current) listenForBrush(overlay.current, brush);
  }, []);

  return useGestures({
    grabs: (x, y) => Boolean(layout && viewport.isInside(layout, ...inPlot(x, y))),
    drags: zoom.isZoomed,
    hover: (x, y) => point(cellAt(x, y)),
    leave: () => point(null),
    press(x, y) {
      const cell = cellAt(x, y);
      if (!cell) return;
      point(cell);
      choose(cell);
    },
    drag(right, down) {
      state.point(null);
      zoom.pan(right, down);
    },
    zoom(factor, x, y) {
      if (x !== undefined && y !== undefined) zoom.by(factor, inPlot(x, y));
      else zoom.round(factor, state.hover);
    },
    reset: zoom.reset,
    release() {
      if (!zoom.isZoomed()) return state.letGo();
      zoom.reset();
      return true;
    },
    walk(down, right) {
      if (!layout || lags()) return;
      const cell = viewport.walked(layout, zoom.view(), state.hover, down, right);
      state.point(cell);
      zoom.reveal(cell);
    },
    choose() {
      if (state.hover) choose(state.hover);
    },
    alters(x, y) {
      const cell = cellAt(x, y);
      const weight = cell && !lags() && state.canPaint() ? state.weight(cell.query, cell.key) : null;
      const isSeen = cell && weight && cell.key <= state.lastKey(cell.query);
      altered.value = isSeen ? { cell, from: weight.value, to: weight.value } : null;
      return Boolean(isSeen);
    },
    alter(up) {
      const { value } = altered;
      if (value) altered.value = { ...value, to: Math.min(1, Math.max(0, value.from + up / WHOLE)) };
    },
    altered(keep) {
      const { value } = altered;
      altered.value = null;
      if (value && keep) paint(state, value.cell, value.to);
    },
  });
}
