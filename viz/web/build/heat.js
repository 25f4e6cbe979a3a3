// A matrix as cells on a canvas, for a look: what can be pointed at is views/head/cells.js.

import { bitmapOf } from "../../views/head/cells.js";
import { contextOf } from "../core/dom.js";
import { html } from "../core/html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {Theme} from "../types" */

/** @typedef {{shape: [number, number], of: [number, number], at: number, places?: number}} Pooled the cells of a matrix on the screen, and where in it their numbers stand */

/**
 * The numbers of a pooled matrix.
 *
 * @param {Pooled} pooled
 * @param {Uint8Array} area of its message
 */
export const valuesOf = ({ shape: [rows, cols], at }, area) =>
  new Float32Array(area.buffer, area.byteOffset + at, rows * cols);

/**
 * @param {{pooled: Pooled, area: Uint8Array, theme: Theme, isShare?: boolean}} props
 */
export function Heat({ pooled, area, theme, isShare = false }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    const [rows, cols] = pooled.shape;
    if (!canvas.current) return;
    [canvas.current.width, canvas.current.height] = [cols, rows];
    contextOf(canvas.current).drawImage(bitmapOf(valuesOf(pooled, area), cols, isShare, theme), 0, 0);
  }, [pooled, area, theme, isShare]);
  return html`<canvas class="hs-build-heat" aria-hidden="true" ref=${canvas} />`;
}
