// Numbers as cells of a grid: a pixel each on a canvas, which its style enlarges.

import { colourAt, parse, pixelOf } from "../core/colours.js";
import { contextOf } from "../core/dom.js";
import { html } from "../core/html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {Theme} from "../types" */

/**
 * @param {{pixels: Uint32Array, across: number} & Record<string, unknown>} props across: pixels of a row; the last row
 *   may have fewer
 */
export function Pixels({ pixels, across, ...others }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const down = Math.ceil(pixels.length / across);
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const image = new ImageData(across, down);
    new Uint32Array(image.data.buffer).set(pixels);
    contextOf(canvas.current).putImageData(image, 0, 0);
  }, [pixels, across]);
  return html`<canvas class="hs-pixels" width=${across} height=${down} ref=${canvas} ...${others} />`;
}

/**
 * Colours of shares from 0 to 1, or of numbers up to the largest on both sides of zero; what is masked has that of lines.
 *
 * @param {Float32Array} values
 * @param {boolean} isShare
 * @param {Theme} theme
 */
export function pixelsOfMatrix(values, isShare, { ramp, bothWays, line }) {
  const masked = parse(line) ?? [128, 128, 128];
  const most = values.reduce((top, x) => (Number.isFinite(x) ? Math.max(top, Math.abs(x)) : top), 1e-12);
  const colour = (value) =>
    isShare ? colourAt(ramp, Math.sqrt(Math.max(0, value))) : colourAt(bothWays, 0.5 + value / (2 * most));
  return Uint32Array.from(values, (value) => pixelOf(Number.isFinite(value) ? colour(value) : masked));
}
