// Numbers as cells on a canvas: pointed at, walked through by arrow keys, and chosen.

import { colourAt, parse } from "../../web/core/colours.js";
import { contextOf, element } from "../../web/core/dom.js";
import { html } from "../../web/core/html.js";
import { stepOf } from "../../web/core/keys.js";
import { useLayoutEffect, useMemo, useRef } from "../../web/vendor/hooks.js";

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
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const bitmap = useMemo(() => bitmapOf(values, across, isShare, theme), [values, across, isShare, theme]);
  const ratio = devicePixelRatio || 1;
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const [width, height] = [across * wide, down * tall];
    Object.assign(canvas.current.style, { width: `${width}px`, height: `${height}px` });
    Object.assign(canvas.current, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const context = contextOf(canvas.current);
    context.scale(ratio, ratio);
    context.imageSmoothingEnabled = false;
    context.drawImage(bitmap, 0, 0, width, height);
    outline(context, theme.line, 0, 0, width, height);
    const { row = null, col = null } = marked;
    if (row !== null && down > 1) outline(context, theme.primary, 0, row * tall, width, tall);
    if (col !== null) outline(context, theme.primary, col * wide, 0, wide, height);
    if (at) outline(context, theme.text, at.col * wide, at.row * tall, wide, tall);
  }, [bitmap, wide, tall, ratio, marked.row, marked.col, at?.row, at?.col]);

  const isThere = ({ row, col }) =>
    row >= 0 && col >= 0 && row < down && col < across && row * across + col < values.length;
  const under = ({ offsetX, offsetY }) => {
    const place = { row: Math.floor(offsetY / tall), col: Math.floor(offsetX / wide) };
    return isThere(place) ? place : null;
  };
  const choose = (place) => place && onChoose(place);
  const walk = (event) => {
    const step = stepOf(event);
    if (event.key === "Enter") choose(at);
    else if (step) {
      const next = at ? { row: at.row + step[0], col: at.col + step[1] } : { row: marked.row ?? 0, col: 0 };
      if (isThere(next)) onPoint(next);
    } else return;
    event.preventDefault();
  };
  return html`
    <canvas
      class="hs-panel"
      role="img"
      tabindex="0"
      aria-label=${label}
      ref=${canvas}
      onPointerMove=${(event) => onPoint(under(event))}
      onPointerLeave=${() => onPoint(null)}
      onClick=${(event) => choose(under(event))}
      onKeyDown=${walk}
    />
  `;
}

function outline(context, colour, x, y, wide, tall) {
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.strokeRect(x, y, wide, tall);
}

/** One pixel a cell; what is masked in the colour of lines. */
export function bitmapOf(values, across, isShare, theme) {
  const canvas = element("canvas");
  [canvas.width, canvas.height] = [across, Math.ceil(values.length / across)];
  const context = contextOf(canvas);
  const image = context.createImageData(canvas.width, canvas.height);
  const ramp = isShare ? theme.ramp : theme.bothWays;
  const masked = parse(theme.line) ?? [128, 128, 128];
  const most = values.reduce((top, x) => (Number.isFinite(x) ? Math.max(top, Math.abs(x)) : top), 1e-12);
  values.forEach((value, i) => {
    const share = isShare ? Math.sqrt(Math.max(0, value)) : 0.5 + value / (2 * most);
    image.data.set([...(Number.isFinite(value) ? colourAt(ramp, share) : masked), 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}
