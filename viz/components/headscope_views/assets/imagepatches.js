// What the network reads: every patch unrolled into one row of numbers.

import { nameOf } from "./imagegrid.js";
import { fit, sheet } from "./overlay.js";
import { element, say } from "./view.js";

const TALL = 260; // CSS pixels

export function patches(store, parent) {
  const shapes = element("p", "hs-shapes");
  const patch = element("canvas", "hs-patch", { role: "img", "aria-label": "The chosen patch, enlarged" });
  const named = element("p", "hs-read");
  const matrix = element("canvas", "hs-flat", { role: "img" });
  const flat = element("div", "hs-unrolled", {}, matrix);
  const says = element("p", "hs-says");
  const section = element(
    "section",
    "hs-section hs-flattened",
    {},
    element("h3", "hs-heading", {}, "What the network reads"),
    says,
    shapes,
    element("div", "hs-columns2", {}, element("div", "", {}, patch, named), flat),
  );
  parent.append(section);
  let unrolled = null; // {key, all, source}
  let scaled = null; // {key, all}: at the canvas' size
  let painted = "";

  /** One row a patch. Numbers of one pixel stand together, or channel after channel. */
  function unroll() {
    const { bitmap } = store;
    const { grid, patch: sides, order } = store.base;
    const key = [store.drawn, grid, sides, order].join();
    if (unrolled?.key === key) return;
    const source = sheet(bitmap.width, bitmap.height);
    const context = source.getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    const from = new Uint32Array(context.getImageData(0, 0, source.width, source.height).data.buffer);
    const [high, wide] = sides;
    const pixels = high * wide;
    const channels = order.startsWith("c") ? 3 : 1;
    const all = sheet(pixels * channels, grid[0] * grid[1]);
    const image = all.getContext("2d").createImageData(all.width, all.height);
    const to = new Uint32Array(image.data.buffer);
    for (let row = 0, at = 0; row < all.height; row++) {
      const corner = Math.floor(row / grid[1]) * high * source.width + (row % grid[1]) * wide;
      for (let channel = 0; channel < channels; channel++)
        for (let i = 0; i < pixels; i++, at++) {
          const pixel = from[corner + Math.floor(i / wide) * source.width + (i % wide)];
          to[at] = channels === 1 ? pixel : (pixel & (0xff << (8 * channel))) | 0xff000000;
        }
    }
    all.getContext("2d").putImageData(image, 0, 0);
    unrolled = { key, all, source };
  }

  matrix.onpointermove = (event) => {
    const box = matrix.getBoundingClientRect();
    const rows = unrolled?.all.height ?? 0;
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
    if (row >= 0 && row < rows) store.pointAt(store.base.prefix + row);
  };
  matrix.onpointerleave = () => store.pointAt(null);
  matrix.onclick = () => {
    if (store.pointed !== null) store.select({ token: store.pointed });
  };

  function enlarged(all, width, height) {
    const made = sheet(width, height);
    const context = made.getContext("2d");
    context.imageSmoothingEnabled = all.width > width || all.height > height;
    context.drawImage(all, 0, 0, width, height);
    return made;
  }

  function paint(theme) {
    const { all, source } = unrolled;
    const { prefix, patch: sides, grid } = store.base;
    const wide = flat.clientWidth;
    const tall = Math.min(TALL, Math.max(all.height, 120));
    const context = fit(matrix, wide, tall);
    const size = [unrolled.key, matrix.width, matrix.height].join();
    if (scaled?.key !== size) scaled = { key: size, all: enlarged(all, matrix.width, matrix.height) };
    context.drawImage(scaled.all, 0, 0, wide, tall);
    const index = store.token() - prefix;
    const side = 96;
    const near = fit(patch, side, Math.round((side * sides[0]) / sides[1]));
    near.fillStyle = theme.surface;
    near.fillRect(0, 0, side, side);
    if (index < 0) return;
    const step = tall / all.height;
    const thick = Math.max(step, 3);
    const y = Math.min(Math.max(0, (index + 0.5) * step - thick / 2), tall - thick);
    context.imageSmoothingEnabled = false;
    context.drawImage(all, 0, index, all.width, 1, 0, y, wide, thick);
    context.strokeStyle = theme.primary;
    context.lineWidth = 2;
    context.strokeRect(1, y - 1, wide - 2, thick + 2);
    const [row, col] = [Math.floor(index / grid[1]), index % grid[1]];
    near.imageSmoothingEnabled = false;
    near.drawImage(
      source,
      ...[col * sides[1], row * sides[0], sides[1], sides[0]],
      ...[0, 0, side, Math.round((side * sides[0]) / sides[1])],
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
    matrix.setAttribute("aria-label", `${count} patches, one row of ${numbers} numbers each`);
    const steps = store.base.shapes.flatMap(({ name, shape }, i) => [
      ...(i ? [element("span", "hs-arrow", { "aria-hidden": "true" }, "→")] : []),
      element("span", "hs-shape", {}, element("b", "", {}, shape), ` ${name}`),
    ]);
    const text = steps.map((step) => step.textContent).join("");
    if (shapes.textContent !== text) shapes.replaceChildren(...steps);
  }

  function render(theme) {
    words();
    if (!store.bitmap || store.drawn !== store.trace || !flat.clientWidth) return;
    unroll();
    const key = [unrolled.key, store.token(), flat.clientWidth, devicePixelRatio, theme.mode].join();
    if (key === painted) return;
    painted = key;
    paint(theme);
  }

  return { render };
}
