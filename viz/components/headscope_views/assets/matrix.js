// One head's matrix: rows attend, columns are attended to. Painted on two canvases, the picture
// (which is also what "Save PNG" writes) and the cross-hair above it.

import { table } from "./colours.js";
import { labelSize, layoutOf, paintPicture, slant, tallest, visible } from "./picture.js";
import { element, moreIs, mountViews, readOut, say, shown } from "./view.js";

const MAX_CELL = 72; // CSS pixels a cell may be enlarged to
const CLICK = 4; // pixels a pointer may stray in a click
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const LESS = "rows sum to less than 1, the rest of a token’s weight is not shown";

export const mount = (root, bytes, onEvent) =>
  mountViews(root, bytes, onEvent, (store) => [matrix(store, root)]);

export function matrix(store, parent) {
  const says = element("p", "hs-says");
  const canvas = element("canvas", "hs-picture", { "aria-hidden": "true" });
  const overlay = element("canvas", "hs-overlay", { role: "img", tabindex: "0" });
  const wait = element("div", "hs-wait");
  const stage = element("div", "hs-stage", {}, canvas, overlay, wait);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element(
    "p",
    "hs-doubt",
    {},
    "A large weight says where information may come from, not that it decided the output.",
  );
  const section = element("section", "hs-section hs-matrix", {}, says, stage, read, doubt);
  parent.append(section);

  let layout = null;
  let shownHead = null; // {trace, site, head} in the picture, which may lag behind the choice
  let view = null; // {row, col, scale}: token at the top left, CSS pixels a token takes
  let place = ""; // what the view belongs to: trace, size of the matrix
  let painted = "";
  let crossed = "";
  let theme = null;
  let count = 0;

  // ---- zoom and pan

  const zoomed = () => Boolean(view && layout && view.scale > layout.cell * 1.001);
  const deepest = () => Math.max(layout.cell, MAX_CELL);

  function clampView() {
    const { cell, rows, cols, width, height } = layout;
    view.scale = Math.min(Math.max(view.scale, cell), deepest());
    view.row = Math.min(Math.max(0, view.row), Math.max(0, rows - height / view.scale));
    view.col = Math.min(Math.max(0, view.col), Math.max(0, cols - width / view.scale));
  }

  /** Enlarges by a factor round a point of the plot (CSS pixels; its middle by default). */
  function zoom(factor, x = layout.width / 2, y = layout.height / 2) {
    if (!layout || !view) return;
    const row = view.row + y / view.scale;
    const col = view.col + x / view.scale;
    view.scale = Math.min(Math.max(view.scale * factor, layout.cell), deepest());
    view.row = row - y / view.scale;
    view.col = col - x / view.scale;
    moved();
  }

  function moved() {
    clampView();
    store.changed();
  }

  function reset() {
    view = null;
    store.changed();
  }

  function spot(event) {
    const box = overlay.getBoundingClientRect();
    return [event.clientX - box.left - layout.left, event.clientY - box.top - layout.top];
  }

  const inside = ([x, y]) => x >= 0 && y >= 0 && x < layout.width && y < layout.height;

  function cellAt([x, y]) {
    if (!inside([x, y])) return null;
    return { query: Math.floor(view.row + y / view.scale), key: Math.floor(view.col + x / view.scale) };
  }

  // ---- pointer, wheel, keyboard

  const pointers = new Map();
  let press = null; // {x, y, row, col, far}: where the first pointer went down

  overlay.onpointerdown = (event) => {
    if (!layout || !view || event.button > 0) return;
    const at = spot(event);
    if (!inside(at)) return;
    pointers.set(event.pointerId, at);
    press = { at, row: view.row, col: view.col, far: pointers.size > 1 };
    if (zoomed() || pointers.size > 1) overlay.setPointerCapture(event.pointerId);
  };
  overlay.onpointermove = (event) => {
    if (!layout || !view) return;
    const at = spot(event);
    const before = pointers.get(event.pointerId);
    if (before && pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      pointers.set(event.pointerId, at);
      zoom(span(at) / Math.max(1, span(before)), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
      return;
    }
    if (before && press) {
      press.far ||= Math.hypot(at[0] - press.at[0], at[1] - press.at[1]) > CLICK;
      if (press.far && zoomed()) {
        view.col = press.col - (at[0] - press.at[0]) / view.scale;
        view.row = press.row - (at[1] - press.at[1]) / view.scale;
        pointers.set(event.pointerId, at);
        overlay.style.cursor = "grabbing";
        store.hover = null;
        moved();
        return;
      }
    }
    point(cellAt(at));
  };
  overlay.onpointerup = (event) => {
    const was = pointers.delete(event.pointerId);
    overlay.style.cursor = "";
    if (!was || !press || press.far || !layout) return;
    const cell = cellAt(spot(event));
    if (cell) {
      point(cell);
      pin(cell);
    }
  };
  overlay.onpointercancel = (event) => {
    pointers.delete(event.pointerId);
    press = null;
  };
  overlay.onpointerleave = (event) => {
    if (event.pointerType === "mouse") point(null);
  };
  overlay.ondblclick = (event) => {
    if (layout && inside(spot(event))) reset();
  };
  // One turn of the wheel either scrolls the page or zooms, whatever comes under the pointer.
  let [ours, turned] = [false, 0];
  const turn = (event) => {
    if (event.timeStamp - turned > 250) ours = event.composedPath()[0] === overlay;
    turned = event.timeStamp;
  };
  addEventListener("wheel", turn, { capture: true, passive: true });
  overlay.addEventListener(
    "wheel",
    (event) => {
      if (!layout || !view) return;
      const at = spot(event);
      ours &&= inside(at) && (event.deltaY < 0 || zoomed()) && layout.cell < MAX_CELL;
      if (!ours) return;
      event.preventDefault();
      const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
      zoom(Math.exp(-Math.max(-120, Math.min(120, step)) * (event.ctrlKey ? 0.01 : 0.0025)), ...at);
    },
    { passive: false },
  );
  overlay.onkeydown = (event) => {
    if (!layout || !view || event.ctrlKey || event.metaKey || event.altKey) return;
    if (MOVES[event.key]) walk(...MOVES[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "Escape") reset();
    else if ((event.key === "Enter" || event.key === " ") && store.hover) pin(store.hover);
    else return;
    event.preventDefault();
  };

  function point(cell) {
    if (lagging()) return;
    store.point(cell);
  }

  function pin({ query, key }) {
    store.select({ token: store.selection.direction === "in" ? key : query });
  }

  function walk(down, right) {
    const { rows, cols, width, height } = layout;
    const now = store.hover ?? { query: Math.floor(view.row), key: Math.floor(view.col) };
    const first = store.hover === null;
    const query = Math.min(Math.max(0, now.query + (first ? 0 : down)), rows - 1);
    const key = Math.min(Math.max(0, now.key + (first ? 0 : right)), cols - 1);
    view.row = Math.min(Math.max(view.row, query + 1 - height / view.scale), query);
    view.col = Math.min(Math.max(view.col, key + 1 - width / view.scale), key);
    clampView();
    store.point({ query, key });
    store.changed();
  }

  // ---- painting

  const lagging = () =>
    !shownHead ||
    shownHead.trace !== store.trace ||
    shownHead.site !== store.selection.site ||
    shownHead.head !== store.selection.head;

  function fit(target, ratio) {
    target.style.width = `${layout.wide}px`;
    target.style.height = `${layout.tall}px`;
    target.width = Math.round(layout.wide * ratio);
    target.height = Math.round(layout.tall * ratio);
    const context = target.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  function pictureOf(site, head) {
    const parts = store.parts(site, head);
    return {
      parts: parts.map((part) => ({
        part,
        table: table(theme.ramp, part.max, store.top(parts[0])),
      })),
      top: store.top(parts[0]),
      own: store.selection.scale === "own",
      view,
      pinned: store.selection.token,
      inward: store.selection.direction === "in",
      names: [store.base.model, store.siteName(site), store.headName(head)],
      note: store.base.note,
      labels: store.labels(site),
      theme,
    };
  }

  function paint(site, head) {
    const ratio = devicePixelRatio || 1;
    paintPicture(fit(canvas, ratio), layout, pictureOf(site, head), ratio);
    fit(overlay, ratio);
    crossed = "";
    count += 1;
    root().dataset.painted = count;
    performance.mark("headscope:painted");
  }

  const root = () => section.closest(".headscope");

  function cross() {
    const ratio = devicePixelRatio || 1;
    const context = overlay.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, layout.wide, layout.tall);
    if (store.hover && !lagging()) crossHair(context, layout, view, store, theme);
  }

  function describe() {
    const { rows, cols } = layout;
    overlay.setAttribute(
      "aria-label",
      `Attention of ${store.base.model}, ${store.siteName()}, ${store.headName()}: ` +
        `${rows} query tokens (rows) over ${cols} key tokens (columns). ` +
        `${store.base.note ? `Note: ${store.base.note}. ` : ""}` +
        "Arrow keys move the cross-hair, plus and minus zoom, Escape resets, Enter chooses the token.",
    );
  }

  function sentence() {
    const more = `${moreIs(theme.mode)} = more.`;
    const { head } = store.selection;
    const one = store.base.complete !== false;
    if (head === "mean")
      says.textContent = `The mean over the layer’s heads: ${one ? "each row still sums to 1" : LESS}. ${more}`;
    else if (head === "max")
      says.textContent = `The largest weight any head of the layer gives: rows do not sum to 1. ${more}`;
    else
      says.textContent = `Each row is one token deciding where to look: ${one ? "its weights sum to 1" : LESS}. ${more}`;
  }

  function status() {
    const missing = lagging();
    stage.classList.toggle("hs-dim", missing);
    wait.hidden = !missing;
    if (missing) {
      const name = `${store.siteName()} · ${store.headName()}`;
      if (!store.onEvent) wait.textContent = `Not in this file: ${name}`;
      else wait.textContent = store.waiting() ? `Fetching ${name} …` : `No answer for ${name}.`;
    }
    if (missing) say(read, "");
    else if (store.hover) say(read, readOut(store, store.hover));
    else say(read, "Point at a cell to read its weight; click to pin its token.");
    read.classList.toggle("hs-muted", !store.hover);
    overlay.style.touchAction = zoomed() ? "none" : "pan-x pan-y";
  }

  function arrange(site) {
    const wide = stage.clientWidth;
    const { queries, keys } = store.site(site);
    const unit = parseFloat(getComputedStyle(section).fontSize) / 16;
    const { query, key } = store.labels(site);
    layout = layoutOf(wide, queries, keys, {
      unit,
      family: getComputedStyle(section).fontFamily,
      query,
      key,
      names: [store.base.model, store.siteName(site), "mean of heads"],
      note: store.base.note,
    });
    const now = [store.trace, queries, keys, wide, tallest()].join();
    if (now !== place || !view) {
      place = now;
      view = { row: 0, col: 0, scale: layout.cell };
    }
    clampView();
  }

  /** Everything the picture depends on. */
  function state() {
    const { site, head, scale, token, direction } = store.selection;
    return [
      ...[store.trace, site, head, scale, token, direction, theme.mode, store.pictures],
      ...[stage.clientWidth, devicePixelRatio, tallest(), getComputedStyle(section).fontSize],
      ...[view?.row, view?.col, view?.scale],
    ].join();
  }

  function render(now) {
    theme = now;
    const { site, head } = store.selection;
    if (stage.clientWidth && store.parts(site, head).length) {
      if (state() !== painted) {
        arrange(site);
        shownHead = { trace: store.trace, site, head };
        paint(site, head);
        painted = state();
        const { rows, cols } = visible(layout, view);
        store.wishTile(rows, cols, view.scale * (devicePixelRatio || 1));
        describe();
      }
    }
    sentence();
    status();
    const key = JSON.stringify([store.hover, lagging(), count, view]);
    if (layout && key !== crossed) {
      cross();
      crossed = key;
    }
  }

  /** The picture alone, twice as fine and with a margin, as a PNG file. */
  function save() {
    if (!layout || lagging()) return;
    const [fine, file] = [element("canvas"), element("canvas")];
    paintPicture(fit(fine, 2), layout, pictureOf(shownHead.site, shownHead.head), 2);
    const margin = Math.round(32 * layout.unit);
    file.width = fine.width + 2 * margin;
    file.height = fine.height + 2 * margin;
    const context = file.getContext("2d");
    context.fillStyle = theme.background;
    context.fillRect(0, 0, file.width, file.height);
    context.drawImage(fine, margin, margin);
    const { layer, kind } = store.site(shownHead.site);
    const plain = `${store.base.model}-${kind}-layer-${layer}-head-${shownHead.head}`;
    file.toBlob((blob) => {
      const link = element("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${plain.replace(/[^\w.-]+/g, "-")}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }, "image/png");
  }

  return {
    ...{ render, zoom: (factor) => zoom(factor), reset, save, zoomed },
    deepest: () => Boolean(view) && view.scale >= deepest() * 0.999,
    destroy: () => removeEventListener("wheel", turn, { capture: true }),
  };
}

function crossHair(context, layout, view, store, theme) {
  const { left, top, width, height } = layout;
  const { query, key } = store.hover;
  const x = left + (key - view.col) * view.scale;
  const y = top + (query - view.row) * view.scale;
  const side = Math.max(view.scale, 1);
  context.save();
  context.beginPath();
  context.rect(left - 1, top - 1, width + 2, height + 2);
  context.clip();
  if (view.scale < 5) thinCross(context, layout, theme, x + side / 2, y + side / 2);
  else wideCross(context, layout, theme, x, y, side);
  context.restore();
  const { query: queries, key: keys } = store.labels();
  context.font = layout.font(labelSize(layout, view) / layout.unit);
  pill(context, layout, theme, shown(queries[query]), left, y + side / 2, 0);
  pill(context, layout, theme, shown(keys[key]), x + side / 2, top, slant(layout, view));
}

function wideCross(context, { left, top, width, height }, theme, x, y, side) {
  for (const [colour, thick, alpha] of [
    [theme.background, 3, 0.55],
    [theme.text, 1, 0.75],
  ]) {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.globalAlpha = alpha;
    context.strokeRect(left - 2, y, width + 4, side);
    context.strokeRect(x, top - 2, side, height + 4);
  }
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.strokeStyle = theme.primary;
  context.strokeRect(x, y, side, side);
}

/** Where cells are smaller than lines: two hairlines that leave the cell itself free. */
function thinCross(context, { left, top, width, height }, theme, x, y) {
  const free = 6;
  context.fillStyle = theme.text;
  context.globalAlpha = 0.75;
  context.fillRect(left, y - 0.5, x - free - left, 1);
  context.fillRect(x + free, y - 0.5, left + width - x - free, 1);
  context.fillRect(x - 0.5, top, 1, y - free - top);
  context.fillRect(x - 0.5, y + free, 1, top + height - y - free);
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = theme.primary;
  context.strokeRect(x - free, y - free, 2 * free, 2 * free);
}

/** The name of a row or column under the pointer, where its label is or would be. */
function pill(context, layout, theme, label, x, y, angle) {
  const { unit } = layout;
  const words = layout.short(context, label, layout.longest);
  const wide = context.measureText(words).width;
  const tall = layout.size * 1.45;
  context.save();
  context.translate(angle ? x : x - 7 * unit - wide, angle ? y - 6 * unit : y);
  context.rotate(angle);
  context.fillStyle = theme.text;
  context.beginPath();
  context.roundRect(-4 * unit, -tall / 2, wide + 8 * unit, tall, 3 * unit);
  context.fill();
  context.fillStyle = theme.background;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(words, 0, 0);
  context.restore();
}
