// A map of all layers together, query by key: drawn like a head's matrix, without zoom.

import { colourAt, pixelOf } from "../../web/core/colours.js";
import { html } from "../../web/core/html.js";
import { cellAt, layoutOf, whole } from "../../web/painting/layout.js";
import { Plot, widthsOf } from "../../web/painting/plot.js";
import { weightScale } from "../../web/text/scale.js";
import { useMemo } from "../../web/vendor/hooks.js";

/** @import {Cell, HiddenSinks, ModelMap, Theme} from "../../web/types" */
/** @import {Space} from "../../web/core/hooks.js" */
/** @import {TextState} from "../../web/text/state.js" */

const BELOW = 190; // pixels of the row and the words below the map
const LEAST = 260; // of its height

/**
 * @param {object} props
 * @param {TextState} props.state
 * @param {Theme} props.theme
 * @param {Space} props.space of the view
 * @param {ModelMap} props.map
 * @param {string} props.name of the method, with layer and head if it is of one
 * @param {number} props.row that is outlined
 * @param {HiddenSinks | null} props.sinks the key that is hidden
 * @param {(cell: Cell | null) => void} props.onPoint
 */
export function MapOfLayers({ state, theme, space, map, name, row, sinks, onPoint }) {
  const { queries: rows, keys: cols } = state.site();
  const labels = state.labels();
  const { wide, high, unit, family } = space;
  const layout = useMemo(() => {
    const room = Math.max(LEAST, high - BELOW * unit);
    const noted = Boolean(state.base.note);
    return layoutOf({
      ...{ wide, unit, rows, cols, noted },
      high: room,
      widths: widthsOf(labels, unit, family),
    });
  }, [theme, wide, high, unit, labels.query, labels.key]);
  const picture = useMemo(() => {
    const scale = weightScale(theme, topOf(map, sinks) || 1, true, "value");
    const part = {
      rows: /** @type {[number, number]} */ ([0, rows]),
      cols: /** @type {[number, number]} */ ([0, cols]),
      ...{ shape: map.shape, stride: map.shape[1] },
      data: Uint8Array.from(map.cells, (value) => Math.round(255 * Math.min(1, scale.place(value)))),
    };
    const matches = { query: state.matchPlaces("query"), key: state.matchPlaces("key") };
    return {
      ...{ scale, sinks, labels, theme, matches, view: whole(layout), pinned: row, inward: false },
      parts: [
        { part, table: Uint32Array.from({ length: 256 }, (_, q) => pixelOf(colourAt(theme.ramp, q / 255))) },
      ],
      note: state.base.note,
    };
  }, [layout, map, row, sinks, state.selection.find]);
  const cellOf = ({ clientX, clientY, currentTarget }) => {
    const { left, top } = currentTarget.getBoundingClientRect();
    return cellAt(layout, picture.view, clientX - left, clientY - top);
  };
  const choose = (event) => {
    const cell = cellOf(event);
    if (cell) state.select({ token: cell.query, direction: "out" });
  };
  return html`
    <div
      class="hs-stage hs-model-map"
      role="img"
      aria-label=${`${name}: rows attend, columns are attended to`}
      style=${{ height: `${layout.tall}px` }}
      onPointerMove=${(event) => onPoint(cellOf(event))}
      onPointerLeave=${() => onPoint(null)}
      onClick=${choose}
    >
      <${Plot} ...${{ layout, picture, cell: null }} />
    </div>
  `;
}

/** The largest value that is shown. @param {ModelMap} map @param {HiddenSinks | null} sinks */
export function topOf({ max, cells, shape }, sinks) {
  if (!sinks) return max;
  return cells.reduce(
    (top, value, at) => (sinks.keys.includes(at % shape[1]) ? top : Math.max(top, value)),
    0,
  );
}
