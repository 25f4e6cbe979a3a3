// What the network reads: every patch unrolled into one row of numbers.

import { contextOf } from "../../web/core/dom.js";
import { html } from "../../web/core/html.js";
import { sheet } from "../../web/painting/over.js";
import { useLayoutEffect, useMemo, useRef } from "../../web/vendor/hooks.js";
import { nameOf } from "../../web/image/words.js";

/** @import {ImageState} from "../../web/image/state.js" */

const TALL = 260; // CSS pixels
const SIDE = 96; // of the enlarged patch

/** @param {{state: ImageState}} props */
export function Unrolled({ state }) {
  const { grid, patch, order, prefix, shapes } = state.view.base;
  const { bitmap, trace, drawn } = state;
  const isHere = bitmap && drawn === trace;
  const table = useMemo(() => isHere && unrolled(bitmap, grid, patch, order), [isHere, bitmap, order]);
  const [rows, near] = [useRef(null), useRef(null)];
  useLayoutEffect(() => {
    if (table && rows.current) contextOf(rows.current).drawImage(table, 0, 0);
  }, [table]);
  const count = grid[0] * grid[1];
  const numbers = 3 * patch[0] * patch[1];
  const token = state.token();
  const index = state.finest ? token - prefix : -1;
  useLayoutEffect(() => {
    if (!isHere || !near.current || index < 0) return;
    const [x, y] = [(index % grid[1]) * patch[1], Math.floor(index / grid[1]) * patch[0]];
    contextOf(near.current).drawImage(bitmap, x, y, patch[1], patch[0], 0, 0, patch[1], patch[0]);
  }, [isHere, bitmap, index]);
  const lineAt = ({ clientY, currentTarget }) => {
    const { top, height } = currentTarget.getBoundingClientRect();
    return prefix + Math.min(count - 1, Math.max(0, Math.floor(((clientY - top) / height) * count)));
  };
  const name = nameOf(state, token);
  const words = !state.finest
    ? "This layer’s patches are made of several of these."
    : index < 0
      ? `The ${name} has no pixels: it is learned.`
      : `${name}: ${patch[0]} × ${patch[1]} × 3 = ${numbers} numbers`;
  return html`
    <section class="hs-section hs-flattened">
      <h3 class="hs-heading">What the network reads</h3>
      <p class="hs-sentence">
        ${`Each of the ${count} patches is unrolled into one row of ${numbers} numbers (order ${order}): a ${count} × ${numbers} table, shown below. The network sees no more than this.`}
      </p>
      <p class="hs-shapes">
        ${shapes.map(
          ({ name: what, shape }, i) => html`
            ${i > 0 && html`<span class="hs-arrow" aria-hidden="true">→</span>`}
            <span class="hs-shape"><b>${shape}</b>${` ${what}`}</span>
          `,
        )}
      </p>
      <div class="hs-columns2">
        <div>
          <canvas
            class="hs-patch"
            role="img"
            aria-label="The chosen patch, enlarged"
            width=${patch[1]}
            height=${patch[0]}
            hidden=${index < 0}
            style=${{ width: `${SIDE}px` }}
            ref=${near}
          />
          <p class="hs-read">${words}</p>
        </div>
        <div
          class="hs-flat"
          role="img"
          aria-label=${`${count} patches, one row of ${numbers} numbers each`}
          onPointerMove=${(event) => state.finest && state.pointAt(lineAt(event))}
          onPointerLeave=${() => state.pointAt(null)}
          onClick=${(event) => state.finest && state.select({ token: lineAt(event) })}
        >
          ${
            table &&
            html`<canvas
            width=${table.width}
            height=${table.height}
            style=${{ height: `${Math.min(TALL, Math.max(table.height, 120))}px` }}
            ref=${rows}
          />`
          }
          ${index >= 0 && html`<i style=${{ top: `${(100 * index) / count}%`, height: `${100 / count}%` }}></i>`}
        </div>
      </div>
    </section>
  `;
}

/** One row a patch. Numbers of one pixel stand together, or channel after channel. */
function unrolled(bitmap, grid, [high, wide], order) {
  const source = sheet(bitmap.width, bitmap.height);
  const context = contextOf(source, { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const from = new Uint32Array(context.getImageData(0, 0, source.width, source.height).data.buffer);
  const pixels = high * wide;
  const channels = order.startsWith("c") ? 3 : 1;
  const all = sheet(pixels * channels, grid[0] * grid[1]);
  const image = contextOf(all).createImageData(all.width, all.height);
  const to = new Uint32Array(image.data.buffer);
  for (let line = 0, at = 0; line < all.height; line++) {
    const corner = Math.floor(line / grid[1]) * high * source.width + (line % grid[1]) * wide;
    for (let channel = 0; channel < channels; channel++)
      for (let i = 0; i < pixels; i++, at++) {
        const pixel = from[corner + Math.floor(i / wide) * source.width + (i % wide)];
        to[at] = channels === 1 ? pixel : (pixel & (0xff << (8 * channel))) | 0xff000000;
      }
  }
  contextOf(all).putImageData(image, 0, 0);
  return all;
}
