// What the network reads: every patch unrolled into one row of numbers.

import { changes } from "../core/changes.js";
import { contextOf, element, setAttribute, setText } from "../core/dom.js";
import { fit, sheet, stretch } from "../core/overlay.js";
import { nameOf } from "./words.js";

/** @import {ImageState} from "./state.js" */

const TALL = 260; // CSS pixels
const SIDE = 96; // of the enlarged patch

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 */
export function patchesOf(state, parent) {
  const shapes = element("p", "hs-shapes");
  const patch = element("canvas", "hs-patch", {
    role: "img",
    "aria-label": "The chosen patch, enlarged",
  });
  const named = element("p", "hs-read");
  const matrix = element("canvas", "hs-layer");
  const row = element("canvas", "hs-layer hs-flat-row");
  const table = element("div", "hs-flat", { role: "img" }, matrix, row);
  const flat = element("div", "hs-unrolled", {}, table);
  const sentence = element("p", "hs-sentence");
  const section = element(
    "section",
    "hs-section hs-flattened",
    {},
    element("h3", "hs-heading", {}, "What the network reads"),
    ...[sentence, shapes],
    element("div", "hs-columns2", {}, element("div", "", {}, patch, named), flat),
  );
  parent.append(section);
  /** @type {{all: HTMLCanvasElement, source: HTMLCanvasElement} | null} */
  let unrolled = null;
  let wide = 0;
  const stale = { unrolled: changes(), table: changes(), patch: changes() };

  /** One row a patch. Numbers of one pixel stand together, or channel after channel. */
  function unroll(bitmap) {
    const { grid, patch: sides, order } = state.view.base;
    const source = sheet(bitmap.width, bitmap.height);
    const context = contextOf(source, { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    const image = context.getImageData(0, 0, source.width, source.height);
    const from = new Uint32Array(image.data.buffer);
    const [high, across] = sides;
    const pixels = high * across;
    const channels = order.startsWith("c") ? 3 : 1;
    const all = sheet(pixels * channels, grid[0] * grid[1]);
    const imageData = contextOf(all).createImageData(all.width, all.height);
    const to = new Uint32Array(imageData.data.buffer);
    for (let line = 0, at = 0; line < all.height; line++) {
      const corner = Math.floor(line / grid[1]) * high * source.width + (line % grid[1]) * across;
      for (let channel = 0; channel < channels; channel++)
        for (let i = 0; i < pixels; i++, at++) {
          const pixel = from[corner + Math.floor(i / across) * source.width + (i % across)];
          to[at] = channels === 1 ? pixel : (pixel & (0xff << (8 * channel))) | 0xff000000;
        }
    }
    contextOf(all).putImageData(imageData, 0, 0);
    return { all, source };
  }

  table.onpointermove = (event) => {
    const box = table.getBoundingClientRect();
    const rows = unrolled?.all.height ?? 0;
    const line = Math.floor(((event.clientY - box.top) / box.height) * rows);
    if (state.finest && line >= 0 && line < rows) state.pointAt(state.view.base.prefix + line);
  };
  table.onpointerleave = () => state.pointAt(null);
  table.onclick = () => {
    if (state.pointed !== null) state.select({ token: state.pointed });
  };

  const tallOf = (all) => Math.min(TALL, Math.max(all.height, 120));

  function paintTable(all) {
    const tall = tallOf(all);
    const context = fit(matrix, wide, tall);
    stretch(table, wide, tall);
    context.imageSmoothingEnabled = all.width > matrix.width || all.height > matrix.height;
    context.drawImage(all, 0, 0, wide, tall);
  }

  /** The chosen patch's row, at least three pixels high, and the patch itself. */
  function paintPatch(all, source) {
    const { prefix, patch: sides, grid } = state.view.base;
    const near = fit(patch, SIDE, Math.round((SIDE * sides[0]) / sides[1]));
    const index = state.finest ? state.token() - prefix : -1;
    row.style.visibility = patch.style.visibility = index < 0 ? "hidden" : "";
    if (index < 0) return;
    const tall = tallOf(all);
    const step = tall / all.height;
    const thick = Math.max(step, 3);
    const top = Math.min(Math.max(0, (index + 0.5) * step - thick / 2), tall - thick);
    if (row.width !== all.width) [row.width, row.height] = [all.width, 1];
    stretch(row, wide, thick);
    row.style.transform = `translateY(${top}px)`;
    contextOf(row).drawImage(all, 0, index, all.width, 1, 0, 0, all.width, 1);
    const [x, y] = [(index % grid[1]) * sides[1], Math.floor(index / grid[1]) * sides[0]];
    const high = Math.round((SIDE * sides[0]) / sides[1]);
    near.imageSmoothingEnabled = false;
    near.drawImage(source, x, y, sides[1], sides[0], 0, 0, SIDE, high);
  }

  function words() {
    const { grid, patch: sides, order, prefix } = state.view.base;
    const numbers = sides[0] * sides[1] * 3;
    const count = grid[0] * grid[1];
    setText(
      sentence,
      `Each of the ${count} patches is unrolled into one row of ${numbers} numbers (order ${order}): ` +
        `a ${count} × ${numbers} table, shown below. The network sees no more than this.`,
    );
    const token = state.token();
    const plain = `${nameOf(state, token)}: ${sides[0]} × ${sides[1]} × 3 = ${numbers} numbers`;
    const learned = `The ${nameOf(state, token)} has no pixels: it is learned.`;
    const merged = "This layer’s patches are made of several of these.";
    setText(named, state.finest ? (token < prefix ? learned : plain) : merged);
    setAttribute(table, "aria-label", `${count} patches, one row of ${numbers} numbers each`);
    const steps = state.view.base.shapes.flatMap(({ name, shape }, i) => [
      ...(i ? [element("span", "hs-arrow", { "aria-hidden": "true" }, "→")] : []),
      element("span", "hs-shape", {}, element("b", "", {}, shape), ` ${name}`),
    ]);
    setText(shapes, ...steps);
  }

  function measure() {
    wide = flat.clientWidth;
  }

  function render() {
    words();
    const { bitmap } = state;
    if (!bitmap || state.drawn !== state.trace || !wide) return;
    const { grid, patch: sides, order } = state.view.base;
    if (stale.unrolled(bitmap, ...grid, ...sides, order)) unrolled = unroll(bitmap);
    if (!unrolled) return;
    const { all, source } = unrolled;
    if (stale.table(all, wide, devicePixelRatio)) paintTable(all);
    if (stale.patch(all, wide, devicePixelRatio, state.token())) paintPatch(all, source);
  }

  return { measure, render };
}
