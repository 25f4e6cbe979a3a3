// A map of all layers together, query by key: painted like a head's matrix, without zoom.

import { changes } from "../core/changes.js";
import { tableOf } from "../core/colours.js";
import { element, markPainted } from "../core/dom.js";
import { fileOf, fit, paintPicture, widthsOf } from "../../views/matrix/painter.js";
import { weightScale } from "./scale.js";
import { cellAt, layoutOf, whole } from "../../views/matrix/viewport.js";

/** @import {Cell, HiddenSinks, ModelMap, Theme} from "../types" */
/** @import {Picture} from "../../views/matrix/picture.js" */
/** @import {TextState} from "./state.js" */
/** @import {Layout} from "../../views/matrix/viewport.js" */

const USUAL = 416; // height of the plot, at a unit of 1
const TALLEST = 640; // that it grows to where more of its tokens have a label then
const LABEL = 8.5; // height of a row that has one

/**
 * @param {TextState} state
 * @param {(cell: Cell | null) => void} point called with the cell under the pointer
 */
export function modelMap(state, point) {
  const canvas = element("canvas", "hs-model-map", { role: "img" });
  const painted = changes();
  /** @type {{layout: Layout, picture: Picture} | null} as last painted */
  let drawn = null;

  /** @param {MouseEvent} event */
  function at({ offsetX, offsetY }) {
    if (!drawn) return null;
    const { layout } = drawn;
    return cellAt(layout, whole(layout), offsetX - layout.left, offsetY - layout.top);
  }

  canvas.onpointermove = (event) => point(at(event));
  canvas.onpointerleave = () => point(null);
  canvas.onclick = (event) => {
    const cell = at(event);
    if (cell) state.select({ token: cell.query, direction: "out" });
  };

  return {
    canvas,
    /**
     * @param {ModelMap} map
     * @param {string[]} names model, layer and head if it is of one, method
     * @param {number} row that is outlined
     * @param {Theme} theme
     * @param {HiddenSinks | null} sinks the key that is hidden
     */
    render(map, names, row, theme, sinks) {
      const wide = canvas.parentElement?.clientWidth ?? 0;
      const { queries, keys } = state.site();
      const { find } = state.selection;
      if (!painted(map, names.join(), row, find, theme, sinks?.keys.join(), wide, queries, keys, devicePixelRatio)) return;
      const { fontSize, fontFamily: family } = getComputedStyle(canvas);
      const unit = parseFloat(fontSize) / 16;
      const [labels, { note }] = [state.labels(), state.base];
      const widths = widthsOf(labels, names, { wide, unit, family });
      const sizes = { wide, unit, widths, noted: Boolean(note), rows: queries, cols: keys, shares: Boolean(sinks) };
      const tallest = Math.max(USUAL, Math.min(TALLEST, queries * LABEL)) * unit;
      const layout = layoutOf({ ...sizes, tallest });
      const scale = weightScale(theme, topOf(map, sinks) || 1, true, "value");
      const part = {
        ...{ rows: /** @type {[number, number]} */ ([0, queries]), cols: /** @type {[number, number]} */ ([0, keys]) },
        ...{ shape: map.shape, stride: map.shape[1] },
        data: Uint8Array.from(map.cells, (value) => Math.round(255 * Math.min(1, scale.place(value)))),
      };
      const picture = {
        ...{ parts: [{ part, table: tableOf(theme.ramp, 1, 1) }], scale, view: whole(layout), pinned: row, inward: false },
        ...{ sinks, absent: null, marks: null, important: [] },
        matches: { query: state.matchPlaces("query"), key: state.matchPlaces("key") },
        ...{ names, note, labels, theme, family },
      };
      paintPicture(fit(canvas, layout, devicePixelRatio || 1), layout, picture, devicePixelRatio || 1);
      canvas.setAttribute("aria-label", `${names.slice(1).join(", ")}: rows attend, columns are attended to`);
      drawn = { layout, picture };
      markPainted(canvas);
    },
    /** The picture, twice as fine and with a margin; null before the first is painted. */
    file: () => drawn && fileOf(drawn.layout, drawn.picture),
  };
}

/**
 * The largest value that is shown.
 *
 * @param {ModelMap} map
 * @param {HiddenSinks | null} sinks
 */
export function topOf({ max, cells, shape }, sinks) {
  if (!sinks) return max;
  return cells.reduce((top, value, at) => (sinks.keys.includes(at % shape[1]) ? top : Math.max(top, value)), 0);
}
