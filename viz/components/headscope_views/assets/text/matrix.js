// One head's matrix: rows attend, columns are attended to. Layout, zoom, pointer and text; the cells
// are drawn in painter.js, on two canvases: the picture (also what "Save PNG" writes) and the
// cross-hair above it.

import { changes } from "../core/changes.js";
import { tableOf } from "../core/colours.js";
import { contextOf, element, markPainted, moreIs, quoted, savePng, setText, topOf } from "../core/dom.js";
import { listen } from "./gestures.js";
import { paintCross, paintPicture, widthsOf } from "./painter.js";
import * as viewport from "./viewport.js";

/** @import {Cell, Head, Theme} from "../types" */
/** @import {Picture} from "./painter.js" */
/** @import {TextState} from "./state.js" */
/** @import {Layout, View} from "./viewport.js" */

const PARTIAL = "rows sum to less than 1, the remaining weight is not shown";
export const DOUBT =
  "A large weight says where information may come from, not that it decided the output.";
const JOINT =
  "A row of the source sums to 1; a row of the target holds two softmaxes, over the source and over" +
  " itself, and sums to 2. The source cannot attend to the target.";
const HINT =
  "Point at a cell to read its weight; click to pin its token. Ctrl or ⌘ with the wheel, or a" +
  " pinch, zooms.";
const MARGIN = 32; // round a saved picture

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function matrix(state, parent) {
  const sentence = element("p", "hs-sentence");
  const canvas = element("canvas", "hs-picture", { "aria-hidden": "true" });
  const overlay = element("canvas", "hs-overlay", { role: "img", tabindex: "0" });
  const tip = element("div", "hs-tip", { "aria-hidden": "true" });
  const wait = element("div", "hs-wait");
  const stage = element("div", "hs-stage", {}, canvas, overlay, tip, wait);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const section = element("section", "hs-section hs-matrix", {}, sentence, stage, read, doubt);
  parent.append(section);

  /** @type {Layout | null} */
  let layout = null;
  /** @type {View | null} null: the whole matrix */
  let zoom = null;
  /** @type {{trace: string, site: number, head: Head} | null} in the picture, which may lag behind */
  let drawn = null;
  /** @type {Picture | null} as last painted */
  let picture = null;
  let count = 0;
  let family = "";
  const arranged = changes();
  const painted = changes();
  const crossed = changes();

  const view = () => zoom ?? viewport.whole(/** @type {Layout} */ (layout));
  const isZoomed = () => Boolean(layout && zoom && viewport.isZoomed(layout, zoom));

  /** Whether the picture is still that of another head. */
  const lags = () =>
    !drawn ||
    drawn.trace !== state.trace ||
    drawn.site !== state.selection.site ||
    drawn.head !== state.selection.head;

  // ---- what the user does

  /** @param {View | null} next */
  function show(next) {
    zoom = next && layout && viewport.isZoomed(layout, next) ? next : null;
    state.changed();
  }

  /**
   * @param {number} factor
   * @param {number} [x]
   * @param {number} [y]
   */
  function zoomBy(factor, x, y) {
    if (layout) show(viewport.zoomed(layout, view(), factor, x, y));
  }

  /** @type {(x: number, y: number) => [number, number]} */
  const inPlot = (x, y) => (layout ? [x - layout.left, y - layout.top] : [NaN, NaN]);

  /**
   * @param {number} x
   * @param {number} y
   */
  const cellAt = (x, y) => layout && viewport.cellAt(layout, view(), ...inPlot(x, y));

  /** @param {Cell | null} cell */
  function point(cell) {
    if (!lags()) state.point(cell);
  }

  /** @param {Cell} cell */
  function pin({ query, key }) {
    if (!lags()) state.select({ token: state.selection.direction === "in" ? key : query });
  }

  listen(overlay, {
    grabs: (x, y) => Boolean(layout && viewport.isInside(layout, ...inPlot(x, y))),
    drags: isZoomed,
    hover: (x, y) => point(cellAt(x, y)),
    leave: () => point(null),
    press: (x, y) => {
      const cell = cellAt(x, y);
      if (!cell) return;
      point(cell);
      pin(cell);
    },
    drag: (right, down) => {
      if (!layout) return;
      state.point(null);
      show(viewport.panned(layout, view(), right, down));
    },
    zoom: (factor, x, y) => (Number.isNaN(x) ? zoomBy(factor) : zoomBy(factor, ...inPlot(x, y))),
    reset: () => show(null),
    walk: (down, right) => {
      if (!layout || lags()) return;
      const { hover } = state;
      const now = view();
      const from = hover ?? { query: Math.floor(now.row), key: Math.floor(now.col) };
      /** @type {(place: number, step: number, size: number) => number} */
      const step = (place, by, size) =>
        Math.min(Math.max(0, place + (hover ? by : 0)), size - 1);
      const query = step(from.query, down, layout.rows);
      const key = step(from.key, right, layout.cols);
      state.point({ query, key });
      if (isZoomed()) show(viewport.revealing(layout, now, { query, key }));
    },
    choose: () => {
      if (state.hover) pin(state.hover);
    },
  });

  // ---- drawing

  /**
   * Sizes a canvas for the layout; its context then counts in CSS pixels.
   *
   * @param {HTMLCanvasElement} target
   * @param {Layout} to
   * @param {number} ratio
   */
  function fit(target, to, ratio) {
    target.style.width = `${to.wide}px`;
    target.style.height = `${to.tall}px`;
    const [width, height] = [Math.round(to.wide * ratio), Math.round(to.tall * ratio)];
    if (target.width !== width || target.height !== height)
      [target.width, target.height] = [width, height];
    const context = contextOf(target);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  /** @param {number} site */
  function arrange(site) {
    const { queries, keys } = state.site(site);
    const labels = state.labels(site);
    const style = getComputedStyle(section);
    const unit = parseFloat(style.fontSize) / 16;
    family = style.fontFamily;
    const names = [state.base.model, state.siteName(site), "mean of heads"];
    const wide = stage.clientWidth;
    const widths = widthsOf(labels, names, { wide, unit, family });
    const noted = Boolean(state.base.note);
    const sizes = { wide, rows: queries, cols: keys, unit, widths, noted };
    const free = viewport.layoutOf({ ...sizes, tallest: 760 });
    const around = free.tall - free.height;
    const tallest = viewport.tallestPlot(innerHeight, topOf(stage), around);
    const next = viewport.layoutOf({ ...sizes, tallest });
    zoom = layout && drawn?.trace === state.trace ? viewport.adapted(layout, next, zoom) : null;
    layout = next;
  }

  /**
   * @param {number} site
   * @param {Head} head
   * @param {Theme} theme
   * @returns {Picture}
   */
  function pictureOf(site, head, theme) {
    const parts = state.parts(site, head);
    const top = state.top(parts[0]);
    const { scale, token, direction } = state.selection;
    return {
      parts: parts.map((part) => ({ part, table: tableOf(theme.ramp, part.max, top) })),
      top,
      own: scale === "own",
      view: view(),
      pinned: token,
      inward: direction === "in",
      names: [state.base.model, state.siteName(site), state.headName(head)],
      note: state.base.note,
      labels: state.labels(site),
      theme,
      family,
    };
  }

  /**
   * @param {Layout} to
   * @param {Picture} what
   */
  function paint(to, what) {
    const ratio = devicePixelRatio || 1;
    paintPicture(fit(canvas, to, ratio), to, what, ratio);
    picture = what;
    count += 1;
    markPainted(section);
    const { rows, cols } = viewport.visible(to, what.view);
    state.setView(rows, cols, what.view.scale * ratio);
  }

  /** The cross-hair, and the number at the pointer. */
  function cross() {
    if (!layout || !picture) return;
    const context = fit(overlay, layout, devicePixelRatio || 1);
    context.clearRect(0, 0, layout.wide, layout.tall);
    const cell = lags() ? null : state.hover;
    if (cell) paintCross(context, layout, picture, cell);
    tip.hidden = !cell;
    if (!cell) return;
    const weight = state.weight(cell.query, cell.key);
    setText(tip, weight ? numberOf(weight) : "…");
    const { x, y, side } = viewport.placeOf(layout, picture.view, cell);
    const right = x + side + 10 + 76 * layout.unit < layout.wide;
    const below = y + side + 10 + 28 * layout.unit < layout.tall;
    tip.style.transform =
      `translate(${right ? x + side + 8 : x - 8}px, ${below ? y + side + 8 : y - 8}px) ` +
      `translate(${right ? 0 : -100}%, ${below ? 0 : -100}%)`;
  }

  function describe() {
    if (!layout) return;
    const { model, note } = state.base;
    overlay.setAttribute(
      "aria-label",
      `Attention of ${model}, ${state.siteName()}, ${state.headName()}: ` +
        `${layout.rows} query tokens (rows) over ${layout.cols} key tokens (columns). ` +
        `${note ? `Note: ${note}. ` : ""}` +
        "Arrow keys move the cross-hair, plus and minus zoom, Escape resets, Enter chooses the token.",
    );
  }

  /** @param {Theme} theme */
  function explain(theme) {
    const more = `${moreIs(theme.mode)} = more.`;
    const { head } = state.selection;
    const complete = state.base.complete !== false;
    const mean = complete ? "each row still sums to 1" : PARTIAL;
    const one = complete ? "its weights sum to 1" : PARTIAL;
    if (state.site().kind === "joint") setText(sentence, `${JOINT} ${more}`);
    else if (head === "mean") setText(sentence, `The mean over the layer’s heads: ${mean}. ${more}`);
    else if (head === "max")
      setText(
        sentence,
        `The largest weight any head of the layer gives: rows do not sum to 1. ${more}`,
      );
    else setText(sentence, `Each row is one token deciding where to look: ${one}. ${more}`);
  }

  function status() {
    const missing = lags();
    stage.classList.toggle("hs-dim", missing);
    wait.hidden = !missing;
    if (missing) {
      const name = `${state.siteName()} · ${state.headName()}`;
      if (!state.view.remote) setText(wait, `Not in this file: ${name}`);
      else setText(wait, state.waiting() ? `Fetching ${name} …` : `No answer for ${name}.`);
      setText(read, "");
    } else if (state.hover) setText(read, reading(state, state.hover));
    else setText(read, HINT);
    read.classList.toggle("hs-muted", !state.hover);
    overlay.style.touchAction = isZoomed() ? "none" : "pan-x pan-y";
  }

  /** @param {Theme} theme */
  function render(theme) {
    const { site, head, scale, token, direction, form } = state.selection;
    const parts = state.parts(site, head);
    section.hidden = form !== "matrix";
    if (stage.clientWidth && parts.length) {
      const { query, key } = state.labels(site);
      const { fontSize } = getComputedStyle(section);
      if (arranged(theme, query, key, stage.clientWidth, innerHeight, fontSize)) arrange(site);
      if (layout && painted(theme, layout, parts, site, head, scale, token, direction, zoom, devicePixelRatio)) {
        drawn = { trace: state.trace, site, head };
        paint(layout, pictureOf(site, head, theme));
        describe();
      }
    }
    explain(theme);
    status();
    const exact = state.hover && state.exactRow("query", state.hover.query);
    if (crossed(state.hover, exact, lags(), count)) cross();
  }

  /** The picture alone, twice as fine and with a margin, as a PNG file. */
  function save() {
    if (!layout || !picture || !drawn || lags()) return;
    const file = element("canvas");
    const margin = 2 * Math.round(MARGIN * layout.unit);
    file.width = Math.round(2 * layout.wide) + 2 * margin;
    file.height = Math.round(2 * layout.tall) + 2 * margin;
    const fine = element("canvas");
    paintPicture(fit(fine, layout, 2), layout, picture, 2);
    const context = contextOf(file);
    context.fillStyle = picture.theme.background;
    context.fillRect(0, 0, file.width, file.height);
    context.drawImage(fine, margin, margin);
    const { layer, kind } = state.site(drawn.site);
    savePng(file, `${state.base.model}-${kind}-layer-${layer}-head-${drawn.head}`);
  }

  tip.hidden = true;
  return {
    render,
    save,
    zoom: {
      in: () => zoomBy(1.5),
      out: () => zoomBy(1 / 1.5),
      reset: () => show(null),
      isZoomed,
      isDeepest: () => Boolean(layout && zoom && viewport.isDeepest(layout, zoom)),
    },
  };
}

/** @param {import("../types").Weight} weight */
const numberOf = ({ value, sign }) => (sign ? `${sign} ${value.toFixed(3)}` : value.toFixed(5));

/**
 * “tired” (11) → “animal” (2): 0.41327 · row sum 1.000000, as nodes.
 *
 * @param {TextState} state
 * @param {Cell} cell
 */
function reading(state, { query, key }) {
  const labels = state.labels();
  const weight = state.weight(query, key);
  const pair = [
    ...[...quoted(labels.query[query]), ` (${query}) → `],
    ...[...quoted(labels.key[key]), ` (${key}): `],
  ];
  if (!weight) return [...pair, "…"];
  const sum = weight.sum === undefined ? "" : ` · row sum ${weight.sum.toFixed(6)}`;
  return [...pair, numberOf(weight) + sum];
}
