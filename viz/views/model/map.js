// A map of all layers together, query by key: painted like a head's matrix, without zoom.

import { tableOf } from "../../web/core/colours.js";
import { fit, markPainted } from "../../web/core/dom.js";
import { html } from "../../web/core/html.js";
import { paintPicture, widthsOf } from "../../web/painting/painter.js";
import { cellAt, layoutIn, layoutOf, whole } from "../../web/painting/viewport.js";
import { weightScale } from "../../web/text/scale.js";
import { useLayoutEffect, useRef } from "../../web/vendor/hooks.js";

/** @import {Cell, HiddenSinks, ModelMap, Theme} from "../../web/types" */
/** @import {Picture} from "../../web/painting/painter.js" */
/** @import {Layout} from "../../web/painting/viewport.js" */
/** @import {TextState} from "../../web/text/state.js" */

const USUAL = 416; // height of the plot, at a unit of 1
const TALLEST = 640; // that it grows to where more of its tokens have a label then
const LABEL = 8.5; // height of a row that has one
const READ = 26; // pixels of the line below the map
const LEAST = 260; // of a map in the frame of the page

/**
 * @param {object} props
 * @param {TextState} props.state
 * @param {Theme} props.theme
 * @param {number} props.wide of the view
 * @param {ModelMap} props.map
 * @param {string[]} props.names model, layer and head if it is of one, method
 * @param {number} props.row that is outlined
 * @param {HiddenSinks | null} props.sinks the key that is hidden
 * @param {(cell: Cell | null) => void} props.onPoint
 */
export function MapOfLayers({ state, theme, wide, map, names, row, sinks, onPoint }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const drawn = useRef(/** @type {Layout | null} */ (null));
  const { queries, keys } = state.site();
  const of = [map, names.join(), row, state.selection.find, theme, sinks?.keys.join(), wide, queries, keys];
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const [layout, picture] = pictureOf(canvas.current, { state, theme, map, names, row, sinks });
    const ratio = devicePixelRatio || 1;
    paintPicture(fit(canvas.current, layout, ratio), layout, picture, ratio);
    drawn.current = layout;
    markPainted(canvas.current);
  }, [...of, devicePixelRatio]);
  const cellOf = ({ offsetX, offsetY }) => {
    const layout = drawn.current;
    return layout && cellAt(layout, whole(layout), offsetX - layout.left, offsetY - layout.top);
  };
  const choose = (event) => {
    const cell = cellOf(event);
    if (cell) state.select({ token: cell.query, direction: "out" });
  };
  return html`
    <canvas
      class="hs-model-map"
      role="img"
      aria-label=${`${names.slice(1).join(", ")}: rows attend, columns are attended to`}
      ref=${canvas}
      onPointerMove=${(event) => onPoint(cellOf(event))}
      onPointerLeave=${() => onPoint(null)}
      onClick=${choose}
    />
  `;
}

/** The height that the frame of the page leaves the map; null where it stands in none. */
function roomOf(canvas) {
  const frame = canvas.closest(".hs-drawing");
  if (!frame) return null;
  const above = canvas.getBoundingClientRect().top - frame.getBoundingClientRect().top + frame.scrollTop;
  return Math.max(LEAST, frame.clientHeight - above - READ);
}

/** @returns {[Layout, Picture]} */
function pictureOf(canvas, { state, theme, map, names, row, sinks }) {
  const { queries, keys } = state.site();
  const { fontSize, fontFamily: family } = getComputedStyle(canvas);
  const unit = parseFloat(fontSize) / 16;
  const wide = canvas.parentElement?.clientWidth ?? 0;
  const [labels, { note }] = [state.labels(), state.base];
  const sizes = {
    wide,
    unit,
    widths: widthsOf(labels, { wide, unit, family }),
    noted: Boolean(note),
    rows: queries,
    cols: keys,
    shares: Boolean(sinks),
  };
  const room = roomOf(canvas);
  const tallest = Math.max(USUAL, Math.min(TALLEST, queries * LABEL)) * unit;
  const layout = room ? layoutIn(sizes, room, false) : layoutOf({ ...sizes, tallest });
  const scale = weightScale(theme, topOf(map, sinks) || 1, true, "value");
  const part = {
    rows: /** @type {[number, number]} */ ([0, queries]),
    cols: /** @type {[number, number]} */ ([0, keys]),
    shape: map.shape,
    stride: map.shape[1],
    data: Uint8Array.from(map.cells, (value) => Math.round(255 * Math.min(1, scale.place(value)))),
  };
  const picture = {
    parts: [{ part, table: tableOf(theme.ramp, 1, 1) }],
    scale,
    view: whole(layout),
    pinned: row,
    inward: false,
    sinks,
    absent: null,
    matches: { query: state.matchPlaces("query"), key: state.matchPlaces("key") },
    names,
    note,
    labels,
    theme,
    family,
  };
  return [layout, picture];
}

/**
 * The largest value that is shown.
 *
 * @param {ModelMap} map
 * @param {HiddenSinks | null} sinks
 */
export function topOf({ max, cells, shape }, sinks) {
  if (!sinks) return max;
  return cells.reduce(
    (top, value, at) => (sinks.keys.includes(at % shape[1]) ? top : Math.max(top, value)),
    0,
  );
}
