// Numbers as cells on a canvas: pointed at, walked through by arrow keys, and chosen.

import { html } from "../../web/core/html.js";
import { stepOf } from "../../web/core/keys.js";
import { Pixels, pixelsOfMatrix } from "../../web/painting/pixels.js";
import { useMemo } from "../../web/vendor/hooks.js";

/** @import {Theme} from "../../web/types" */

/** @typedef {{row: number, col: number}} Place */

/**
 * @param {object} props
 * @param {Theme} props.theme
 * @param {Float32Array} props.values row by row
 * @param {number} props.across columns
 * @param {number} props.wide pixels of a cell
 * @param {number} props.tall
 * @param {boolean} props.isShare whether colours go from 0 to 1, or to the largest number both ways
 * @param {{row?: number | null, col?: number | null}} props.marked
 * @param {Place | null} props.at
 * @param {string} props.label
 * @param {(at: Place | null) => void} props.onPoint
 * @param {(at: Place) => void} props.onChoose
 */
export function Cells({ theme, values, across, wide, tall, isShare, marked, at, label, onPoint, onChoose }) {
  const down = Math.ceil(values.length / across);
  const pixels = useMemo(() => pixelsOfMatrix(values, isShare, theme), [values, isShare, theme]);
  const frame = (row, col, rows, cols, kind = "") => {
    const corner = { left: `${col * wide}px`, top: `${row * tall}px` };
    return html`<i class=${kind} style=${{ ...corner, width: `${cols * wide}px`, height: `${rows * tall}px` }} />`;
  };
  const { row = null, col = null } = marked;
  const isThere = (place) =>
    Math.min(place.row, place.col) >= 0 &&
    place.col < across &&
    place.row * across + place.col < values.length;
  const under = ({ offsetX, offsetY }) => {
    const place = { row: Math.floor(offsetY / tall), col: Math.floor(offsetX / wide) };
    return isThere(place) ? place : null;
  };
  const choose = (place) => place && onChoose(place);
  const walk = (event) => {
    const step = stepOf(event);
    if (event.key === "Enter") choose(at);
    else if (step) {
      const next = at ? { row: at.row + step[0], col: at.col + step[1] } : { row: row ?? 0, col: 0 };
      if (isThere(next)) onPoint(next);
    } else return;
    event.preventDefault();
  };
  return html`
    <div
      class="hs-panel"
      role="img"
      tabindex="0"
      aria-label=${label}
      style=${{ width: `${across * wide}px`, height: `${down * tall}px` }}
      onPointerMove=${(event) => onPoint(under(event))}
      onPointerLeave=${() => onPoint(null)}
      onClick=${(event) => choose(under(event))}
      onKeyDown=${walk}
    >
      <${Pixels} ...${{ pixels, across }} />
      ${row !== null && down > 1 && frame(row, 0, 1, across)}
      ${col !== null && frame(0, col, down, 1)}
      ${at && frame(at.row, at.col, 1, 1, "hs-at")}
    </div>
  `;
}
