// A picture in layers: the ground, a pixel of colour for each patch, the network's note, and frames
// round the chosen patch and the one that is pointed at. Whatever changes redraws its own layer.

import { changes } from "../core/changes.js";
import { contextOf, element } from "../core/dom.js";
import { fit, frameSize, grounds, moveFrame } from "../core/overlay.js";
import { pixelsOf, remark, sheet, stretch } from "../core/overlay.js";

/** @import {Context, Frame} from "../core/overlay.js" */
/** @import {ImageState} from "./state.js" */

export const LEAST = 9; // CSS pixels of a frame

/**
 * What is drawn.
 *
 * @typedef {object} Drawn
 * @property {(pixels: Uint32Array, across: number) => void} paint writes a pixel for each patch
 * @property {boolean} coloured whether the picture is in its own colours
 * @property {boolean} [silent] whether the network's note is left out
 * @property {number} [framed] the token in the frame; the chosen one where it is not said
 * @property {number} [read] the token in the other frame; the one pointed at where it is not said
 */

/** @typedef {{wide: number, tall: number, family: string}} Size */

/**
 * @param {ImageState} state
 * @param {HTMLCanvasElement[]} [above] layers between the colours and the note
 * @param {HTMLElement[]} [marks] other frames
 */
export function overPicture(state, above = [], marks = []) {
  const ground = element("canvas", "hs-layer");
  const veil = element("canvas", "hs-layer hs-veil");
  const said = element("canvas", "hs-layer");
  const current = element("i", "hs-mark");
  const read = element("i", "hs-mark hs-mark-read");
  const photo = element(
    "div",
    "hs-picture hs-photo",
    { role: "img", tabindex: "0" },
    ...[ground, veil, ...above, said, ...marks, current, read],
  );
  const veiled = pixelsOf(veil);
  const stale = { size: changes(), ground: changes(), said: changes(), veil: changes(), frames: changes() };
  /** @type {{plain: HTMLCanvasElement, dim: HTMLCanvasElement} | null} in colour, and dim */
  let both = null;
  /** @type {Frame | null} */
  let frame = null;

  /**
   * Draws what has changed; returns whether anything has.
   *
   * @param {ImageBitmap} bitmap
   * @param {Size} size
   * @param {Drawn} drawn
   * @param {unknown[]} key what the colours depend on
   */
  function render(bitmap, { wide, tall, family }, drawn, key) {
    const { base, selection } = state;
    const [down, across] = base.grid;
    const place = [bitmap, wide, tall, devicePixelRatio, down, across];
    const { coloured, silent = false, framed = selection.token, read: other = state.pointed } = drawn;
    let changed = false;
    /** @type {(layer: keyof typeof stale, paint: () => void, ...needs: unknown[]) => void} */
    const update = (layer, paint, ...needs) => {
      if (!stale[layer](...place, ...needs)) return;
      changed = true;
      paint();
    };
    update("size", () => prepare(bitmap, wide, tall));
    update("ground", () => {
      if (both) fit(ground, wide, tall).drawImage(coloured ? both.plain : both.dim, 0, 0, wide, tall);
    }, coloured);
    update("said", () => {
      const context = fit(said, wide, tall);
      context.clearRect(0, 0, wide, tall);
      if (!silent) remark(context, base.note, wide, tall, `600 12px ${family}`);
    }, silent, base.note, family);
    update("veil", () => {
      drawn.paint(veiled.image(across, down), across);
      veiled.show();
      veil.style.opacity = String(selection.opacity / 100);
      veil.classList.toggle("hs-smooth", selection.paint === "smooth");
    }, selection.opacity, selection.paint, ...key);
    update("frames", () => {
      move(current, framed ?? undefined);
      move(read, other ?? undefined);
    }, framed, other);
    return changed;
  }

  /**
   * @param {ImageBitmap} bitmap
   * @param {number} wide
   * @param {number} tall
   */
  function prepare(bitmap, wide, tall) {
    const ratio = devicePixelRatio || 1;
    stretch(photo, wide, tall);
    stretch(veil, wide, tall);
    both = grounds(bitmap, Math.round(wide * ratio), Math.round(tall * ratio));
    frame = frameSize(wide, tall, state.base.grid, LEAST);
    for (const mark of [current, read, ...marks]) stretch(mark, frame.wide, frame.tall);
  }

  /**
   * Moves a frame to a token's patch.
   *
   * @param {HTMLElement} mark
   * @param {number | undefined} token
   */
  function move(mark, token) {
    if (frame) moveFrame(mark, token, state, frame);
  }

  /**
   * All layers on one canvas, painted anew for a size in pixels.
   *
   * @param {ImageBitmap} bitmap
   * @param {Size} size as shown
   * @param {number} ratio pixels of a CSS pixel
   * @param {Pick<Drawn, "coloured" | "silent">} drawn
   * @param {(context: Context, width: number, height: number) => void} [draw] the layers above, in pixels
   */
  function flatten(bitmap, { wide, tall, family }, ratio, { coloured, silent }, draw) {
    const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    const canvas = sheet(width, height);
    const context = contextOf(canvas);
    const fine = grounds(bitmap, width, height);
    context.drawImage(coloured ? fine.plain : fine.dim, 0, 0);
    context.imageSmoothingEnabled = state.selection.paint === "smooth";
    context.globalAlpha = state.selection.opacity / 100;
    context.drawImage(veil, 0, 0, width, height);
    context.globalAlpha = 1;
    draw?.(context, width, height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!silent) remark(context, state.base.note, wide, tall, `600 12px ${family}`);
    return canvas;
  }

  return { photo, render, move, flatten };
}
