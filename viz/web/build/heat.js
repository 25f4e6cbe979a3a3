// A matrix as cells on a canvas, for a look: what can be pointed at is views/head/cells.js.

import { html } from "../core/html.js";
import { Pixels, pixelsOfMatrix } from "../painting/pixels.js";
import { useMemo } from "../vendor/hooks.js";

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
  const inputs = [pooled, area, theme, isShare];
  const pixels = useMemo(() => pixelsOfMatrix(valuesOf(pooled, area), isShare, theme), inputs);
  return html`<${Pixels} ...${{ pixels, across: pooled.shape[1] }} class="hs-build-heat" aria-hidden="true" />`;
}
