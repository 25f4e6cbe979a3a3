// What the network reads: every patch unrolled into one row of numbers.

import { describe, nameOf } from "./imagewords.js";
import { fit, sheet, stretch } from "./overlay.js";
import { element, say } from "./view.js";

const TALL = 260; // CSS pixels
const SIDE = 96; // of the enlarged patch

export function patchesOf(store, parent) {
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
  const says = element("p", "hs-says");
  const section = element(
    "section",
    "hs-section hs-flattened",
    {},
    element("h3", "hs-heading", {}, "What the network reads"),
    ...[says, shapes],
    element("div", "hs-columns2", {}, element("div", "", {}, patch, named), flat),
  );
  parent.append(section);
  let unrolled = null; // {key, all, source}
  let wide = 0;
  let painted = "";
  let pointed = "";

  /** One row a patch. Numbers of one pixel stand together, or channel after channel. */
  function unroll() {
    const { bitmap } = store;
    const { grid, patch: sides, order } = store.base;
    const key = [store.drawn, grid, sides, order].join();
    if (unrolled?.key === key) return;
    const source = sheet(bitmap.width, bitmap.height);
    const context = source.getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    const image = context.getImageData(0, 0, source.width, source.height);
    const from = new Uint32Array(image.data.buffer);
    const [high, across] = sides;
    const pixels = high * across;
    const channels = order.startsWith("c") ? 3 : 1;
    const all = sheet(pixels * channels, grid[0] * grid[1]);
    const made = all.getContext("2d").createImageData(all.width, all.height);
    const to = new Uint32Array(made.data.buffer);
    for (let line = 0, at = 0; line < all.height; line++) {
      const corner = Math.floor(line / grid[1]) * high * source.width + (line % grid[1]) * across;
      for (let channel = 0; channel < channels; channel++)
        for (let i = 0; i < pixels; i++, at++) {
          const pixel = from[corner + Math.floor(i / across) * source.width + (i % across)];
          to[at] = channels === 1 ? pixel : (pixel & (0xff << (8 * channel))) | 0xff000000;
        }
    }
    all.getContext("2d").putImageData(made, 0, 0);
    unrolled = { key, all, source };
  }

  table.onpointermove = (event) => {
    const box = table.getBoundingClientRect();
    const rows = unrolled?.all.height ?? 0;
    const line = Math.floor(((event.clientY - box.top) / box.height) * rows);
    if (line >= 0 && line < rows) store.pointAt(store.base.prefix + line);
  };
  table.onpointerleave = () => store.pointAt(null);
  table.onclick = () => {
    if (store.pointed !== null) store.select({ token: store.pointed });
  };

  const tall = () => Math.min(TALL, Math.max(unrolled.all.height, 120));

  function paintTable() {
    const { all } = unrolled;
    const context = fit(matrix, wide, tall());
    stretch(table, wide, tall());
    context.imageSmoothingEnabled = all.width > matrix.width || all.height > matrix.height;
    context.drawImage(all, 0, 0, wide, tall());
  }

  /** The chosen patch's row, at least three pixels high, and the patch itself. */
  function paintPatch() {
    const { all, source } = unrolled;
    const { prefix, patch: sides, grid } = store.base;
    const near = fit(patch, SIDE, Math.round((SIDE * sides[0]) / sides[1]));
    const index = store.token() - prefix;
    row.style.visibility = patch.style.visibility = index < 0 ? "hidden" : "";
    if (index < 0) return;
    const step = tall() / all.height;
    const thick = Math.max(step, 3);
    const top = Math.min(Math.max(0, (index + 0.5) * step - thick / 2), tall() - thick);
    if (row.width !== all.width) [row.width, row.height] = [all.width, 1];
    stretch(row, wide, thick);
    row.style.transform = `translateY(${top}px)`;
    row.getContext("2d").drawImage(all, 0, index, all.width, 1, 0, 0, all.width, 1);
    const corner = [(index % grid[1]) * sides[1], Math.floor(index / grid[1]) * sides[0]];
    near.imageSmoothingEnabled = false;
    near.drawImage(
      ...[source, ...corner, sides[1], sides[0]],
      ...[0, 0, SIDE, Math.round((SIDE * sides[0]) / sides[1])],
    );
  }

  function words() {
    const { grid, patch: sides, order, prefix } = store.base;
    const numbers = sides[0] * sides[1] * 3;
    const count = grid[0] * grid[1];
    say(
      says,
      `Each of the ${count} patches is unrolled into one row of ${numbers} numbers (order ${order}): ` +
        `a ${count} × ${numbers} table. One row a patch, below; the network sees no more than this.`,
    );
    const token = store.token();
    say(
      named,
      token < prefix
        ? `The ${nameOf(store, token)} has no pixels: it is learned.`
        : `${nameOf(store, token)}: ${sides[0]} × ${sides[1]} × 3 = ${numbers} numbers`,
    );
    describe(table, "aria-label", `${count} patches, one row of ${numbers} numbers each`);
    const steps = store.base.shapes.flatMap(({ name, shape }, i) => [
      ...(i ? [element("span", "hs-arrow", { "aria-hidden": "true" }, "→")] : []),
      element("span", "hs-shape", {}, element("b", "", {}, shape), ` ${name}`),
    ]);
    say(shapes, ...steps);
  }

  function measure() {
    wide = flat.clientWidth;
  }

  function render() {
    words();
    if (!store.bitmap || store.drawn !== store.trace || !wide) return;
    unroll();
    const key = [unrolled.key, wide, devicePixelRatio].join();
    if (key !== painted) paintTable();
    if (key !== painted || pointed !== store.token()) paintPatch();
    [painted, pointed] = [key, store.token()];
  }

  return { measure, render };
}
