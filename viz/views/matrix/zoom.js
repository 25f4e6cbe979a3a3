// Which part of a matrix is in view.

import { useRef } from "../../web/vendor/hooks.js";
import {
  adapted,
  isDeepest,
  isZoomed,
  panned,
  placeOf,
  revealing,
  whole,
  zoomed,
} from "../../web/painting/viewport.js";

/** @import {Layout, View} from "../../web/painting/viewport.js" */

/**
 * The view of a layout; that of the same tokens when the layout changes. A function reads the newest view,
 * which may not have been drawn yet.
 *
 * @param {Layout | null} layout
 * @param {string} trace
 * @param {() => void} changed
 */
export function useZoom(layout, trace, changed) {
  const part = useRef(/** @type {View | null} */ (null)); // null: the whole
  const before = useRef({ layout, trace });
  if (layout && before.current.layout !== layout) {
    const { layout: old, trace: other } = before.current;
    part.current = old && trace === other ? adapted(old, layout, part.current) : null;
    before.current = { layout, trace };
  }
  const isPart = () => Boolean(layout && part.current && isZoomed(layout, part.current));
  const view = () => part.current ?? whole(/** @type {Layout} */ (layout));

  function show(next) {
    part.current = next && layout && isZoomed(layout, next) ? next : null;
    changed();
  }

  return {
    part,
    view,
    isZoomed: isPart,
    isDeepest: () => Boolean(layout && part.current && isDeepest(layout, part.current)),
    reset: () => show(null),

    pan(right, down) {
      if (layout) show(panned(layout, view(), right, down));
    },

    by(factor, point) {
      if (layout) show(zoomed(layout, view(), factor, ...(point ?? [])));
    },

    round(factor, cell) {
      if (!layout) return;
      if (!cell) return show(zoomed(layout, view(), factor));
      const from = revealing(layout, view(), cell);
      const { x, y, wide, tall } = placeOf(layout, from, cell);
      const [right, down] = [x + wide / 2 - layout.left, y + tall / 2 - layout.top];
      show(revealing(layout, zoomed(layout, from, factor, right, down), cell));
    },

    reveal(cell) {
      if (layout && isPart()) show(revealing(layout, view(), cell));
    },
  };
}
