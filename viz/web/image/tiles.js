// The small pictures of all heads, in layers: what goes to whom (shows through slits), labels and
// dim pictures, the weights, frames. Only weights and slits are drawn anew when the patch changes.

import { changes } from "../core/changes.js";
import { contextOf, element, setText } from "../core/dom.js";
import { fit, frameSize, grounds, moveFrame } from "../core/overlay.js";
import { pixelsOf, remark, sheet, stretch } from "../core/overlay.js";
import { massColours } from "./scale.js";
import { paintMap } from "./state.js";

/** @import {Theme} from "../types" */
/** @import {Frame} from "../core/overlay.js" */
/** @import {ImageState, Rows} from "./state.js" */

const GAP = 10; // CSS pixels between two tiles, about
const SMALLEST = 92;
const BEST = 148;
const FINE = 5; // CSS pixels of a pixel of the weights, at most
const LEAST = 7; // of a frame

const labelOf = (name) => (typeof name === "number" ? `head ${name}` : `${name} of heads`);

/**
 * Where everything goes, CSS pixels. The weights of all tiles are one small image: distances
 * between tiles are whole numbers of its pixels.
 *
 * @typedef {object} Plan
 * @property {number} across tiles beside each other
 * @property {number} down
 * @property {number} count of all
 * @property {number} wide of one
 * @property {number} tall
 * @property {number} label height of its name
 * @property {number} side pixels of the small image a patch takes
 * @property {number} stepX from one tile to the next
 * @property {number} stepY
 * @property {number} unit size of type
 * @property {[number, number]} pixels of the small image
 * @property {[number, number]} pixelStep from one tile to the next in it
 * @property {[number, number]} whole size of everything
 * @property {[number, number][]} places of the tiles
 */

/**
 * @param {number} space width there is
 * @param {{width: number, height: number}} bitmap
 * @param {number} count of tiles
 * @param {[number, number]} grid of patches
 * @param {number} unit
 * @returns {Plan}
 */
export function planOf(space, { width, height }, count, [rows, cols], unit) {
  let across = Math.max(Math.min(3, count), Math.floor((space + GAP) / (BEST * unit + GAP)));
  across = Math.min(across, count, Math.max(1, Math.floor((space + GAP) / (SMALLEST + GAP))));
  const wide = Math.floor(Math.min((space - across * FINE + GAP) / across - GAP, 1.3 * BEST * unit));
  const tall = Math.round((wide * height) / width);
  const side = Math.ceil(wide / cols / FINE);
  const [fineX, fineY] = [wide / (cols * side), tall / (rows * side)];
  const label = 20 * unit;
  const apart = Math.max(1, Math.round(GAP / fineX));
  const below = Math.ceil((label + 18 * unit) / fineY);
  const [stepX, stepY] = [wide + apart * fineX, tall + below * fineY];
  const down = Math.ceil(count / across);
  return {
    ...{ across, down, count, wide, tall, label, side, stepX, stepY, unit },
    pixels: [across * (cols * side + apart) - apart, down * (rows * side + below)],
    pixelStep: [cols * side + apart, rows * side + below],
    whole: [across * stepX - apart * fineX, down * stepY],
    places: Array.from({ length: count }, (_, i) => [
      (i % across) * stepX,
      Math.floor(i / across) * stepY,
    ]),
  };
}

/** @param {ImageState} state */
export function tilesOf(state) {
  const slits = element("canvas", "hs-layer hs-veil");
  const ground = element("canvas", "hs-layer");
  const veil = element("canvas", "hs-layer hs-veil");
  const current = element("div", "hs-layer hs-marks");
  const read = element("div", "hs-layer hs-marks hs-marks-read");
  const label = element("span", "hs-tile-label");
  const chosen = element("div", "hs-tile", { "aria-hidden": "true" }, label, element("i"));
  const tiles = element(
    "div",
    "hs-picture hs-tiles",
    { role: "img", tabindex: "0" },
    ...[slits, ground, veil, current, read, chosen],
  );
  const veiled = pixelsOf(veil);
  const stale = {
    size: changes(),
    ground: changes(),
    veil: changes(),
    slits: changes(),
    current: changes(),
    read: changes(),
    chosen: changes(),
  };
  /** @type {{plain: HTMLCanvasElement, dim: HTMLCanvasElement} | null} */
  let both = null;
  /** @type {Frame | null} */
  let frame = null;

  function render(plan, bitmap, rows, theme, family) {
    const { grid, note } = state.base;
    const { scale, head, opacity, paint } = state.selection;
    const { wide, across, count, unit } = plan;
    const size = [bitmap, wide, across, count, unit, devicePixelRatio, ...grid];
    if (stale.size(...size)) prepare(plan, bitmap);
    if (stale.ground(...size, theme, note, family, state.coloured)) paintGround(plan, theme, family);
    const top = state.topOf(rows.heads[0]);
    if (stale.veil(...size, rows, scale, opacity, paint, top)) paintVeil(plan, rows);
    if (stale.slits(...size, rows, theme)) paintSlits(plan, rows, theme);
    if (stale.current(...size, state.token())) move(current, state.token());
    if (stale.read(...size, state.read?.token)) move(read, state.read?.token);
    if (stale.chosen(...size, head, theme)) choose(plan);
  }

  function move(mark, token) {
    if (frame) moveFrame(mark, token, state, frame);
  }

  function prepare(plan, bitmap) {
    const ratio = devicePixelRatio || 1;
    const { wide, tall, places } = plan;
    both = grounds(bitmap, Math.round(wide * ratio), Math.round(tall * ratio));
    stretch(tiles, plan.whole[0], plan.whole[1] + (state.base.note ? 22 : 0));
    const box = frameSize(wide, tall, state.base.grid, LEAST);
    frame = box;
    for (const marks of [current, read])
      marks.replaceChildren(
        ...places.map(([x, y]) => {
          const mark = element("i", "hs-mark");
          stretch(mark, box.wide, box.tall);
          [mark.style.left, mark.style.top] = [`${x}px`, `${y + plan.label}px`];
          return mark;
        }),
      );
    stretch(chosen, wide, plan.label + tall);
    chosen.style.gridTemplateRows = `${plan.label}px ${tall}px`;
    slits.style.top = "0";
    veil.style.top = `${plan.label}px`;
  }

  function paintGround({ wide, tall, label: high, unit, places, whole }, theme, family) {
    const note = state.base.note ? 22 : 0;
    const picture = state.coloured ? both?.plain : both?.dim;
    const context = fit(ground, whole[0], whole[1] + note);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, whole[0] + 1, whole[1] + note + 1); // over the fraction of a last pixel
    context.textBaseline = "alphabetic";
    state.heads().forEach((name, i) => {
      const [x, y] = places[i];
      context.font = `400 ${12.5 * unit}px ${family}`;
      context.fillStyle = theme.text;
      context.fillText(labelOf(name), x, y + high - 6 * unit);
      if (picture) context.drawImage(picture, x, y + high, wide, tall);
      context.clearRect(x, y + high + tall + 3 * unit, wide, 5 * unit);
    });
    remark(context, state.base.note, whole[0], whole[1] + note, `600 ${11 * unit}px ${family}`);
  }

  /**
   * @param {Plan} plan
   * @param {Rows} rows
   */
  function paintVeil(plan, rows) {
    veil.style.opacity = String(state.selection.opacity / 100);
    stretch(veil, ...plan.whole);
    if (state.selection.paint === "smooth") return paintSmooth(plan, rows);
    const { side, across, pixels: [width, height], pixelStep } = plan;
    const pixels = veiled.image(width, height);
    rows.heads.forEach((values, i) => {
      const at = Math.floor(i / across) * pixelStep[1] * width + (i % across) * pixelStep[0];
      const top = state.topOf(values);
      paintMap(pixels, { at, stride: width, side }, values, state, rows.factor, top);
    });
    veiled.show();
  }

  /**
   * Colours that run into each other within a tile, and not into the next one.
   *
   * @param {Plan} plan
   * @param {Rows} rows
   */
  function paintSmooth({ wide, tall, places, whole }, rows) {
    const [down, across] = state.base.grid;
    const context = fit(veil, ...whole);
    context.clearRect(0, 0, ...whole);
    context.imageSmoothingEnabled = true;
    const one = pixelsOf(sheet(1, 1));
    rows.heads.forEach((values, i) => {
      paintMap(one.image(across, down), { stride: across }, values, state, rows.factor, state.topOf(values));
      one.show();
      context.drawImage(one.canvas, ...places[i], wide, tall);
    });
  }

  /**
   * One line of pixels a row of tiles: it lies below the ground, which lets it through in slits.
   *
   * @param {Plan} plan
   * @param {Rows} rows
   * @param {Theme} theme
   */
  function paintSlits({ across, down, wide, places, whole }, rows, theme) {
    const width = Math.round(whole[0]);
    if (slits.width !== width || slits.height !== down) [slits.width, slits.height] = [width, down];
    stretch(slits, ...whole);
    const context = contextOf(slits);
    context.clearRect(0, 0, width, down); // there may have been more heads before
    const colours = massColours(theme);
    if (state.difference) return; // changes are shares of nothing
    rows.whole.forEach((values, i) => {
      const mass = state.mass(values, rows.factor);
      let [from] = places[i];
      [mass.first, mass.registers, mass.patches].forEach((value, part) => {
        const long = (wide * value) / (mass.whole || 1);
        context.fillStyle = colours[part];
        context.fillRect(from, Math.floor(i / across), long, 1);
        from += long;
      });
    });
  }

  /** The chosen head's label and frame are one element that moves. */
  function choose({ places }) {
    const [x, y] = places[state.headIndex];
    chosen.style.transform = `translate(${x}px, ${y}px)`;
    setText(label, labelOf(state.selection.head));
  }

  return { tiles, render };
}
