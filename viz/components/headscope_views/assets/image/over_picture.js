// A picture with one colour for each patch over it, and frames round the chosen patch and the one
// that is pointed at.

import { changes } from "../core/changes.js";
import { contextOf, element } from "../core/dom.js";
import { fit, frameSize, grounds, moveFrame } from "../core/overlay.js";
import { pixelsOf, remark, sheet, stretch } from "../core/overlay.js";
import { pointing } from "./pointing.js";

/** @import {ImageState} from "./state.js" */

const LEAST = 9; // CSS pixels of a frame

/**
 * What is drawn.
 *
 * @typedef {object} Drawn
 * @property {(pixels: Uint32Array, across: number) => void} paint writes a pixel for each patch
 * @property {boolean} coloured whether the picture is in its own colours
 * @property {number} [framed] the token in the frame; the chosen one where it is not said
 */

/** @typedef {{wide: number, tall: number, family: string}} Size */

/** @param {ImageState} state */
export function overPicture(state) {
  const ground = element("canvas", "hs-layer");
  const veil = element("canvas", "hs-layer hs-veil");
  const said = element("canvas", "hs-layer");
  const current = element("i", "hs-mark");
  const read = element("i", "hs-mark hs-mark-read");
  const photo = element(
    "div",
    "hs-picture hs-photo",
    { role: "img", tabindex: "0" },
    ...[ground, veil, said, current, read],
  );
  pointing(state, photo);
  const veiled = pixelsOf(veil);
  const stale = { ground: changes(), veil: changes(), frames: changes() };

  /**
   * Draws what has changed; returns whether the picture or its colours have.
   *
   * @param {ImageBitmap} bitmap
   * @param {Size} size
   * @param {Drawn} drawn
   * @param {unknown[]} key what the colours depend on
   */
  function render(bitmap, { wide, tall, family }, { paint, coloured, framed }, key) {
    const [down, across] = state.base.grid;
    const place = [bitmap, wide, tall, devicePixelRatio, down, across];
    const frame = frameSize(wide, tall, state.base.grid, LEAST);
    let changed = false;
    if (stale.ground(...place, coloured, family, state.base.note)) {
      changed = true;
      const ratio = devicePixelRatio || 1;
      stretch(photo, wide, tall);
      stretch(veil, wide, tall);
      const both = grounds(bitmap, Math.round(wide * ratio), Math.round(tall * ratio));
      fit(ground, wide, tall).drawImage(coloured ? both.plain : both.dim, 0, 0, wide, tall);
      const context = fit(said, wide, tall);
      context.clearRect(0, 0, wide, tall);
      remark(context, state.base.note, wide, tall, `600 12px ${family}`);
      for (const mark of [current, read]) stretch(mark, frame.wide, frame.tall);
    }
    const { opacity, paint: how } = state.selection;
    if (stale.veil(...place, opacity, how, ...key)) {
      changed = true;
      paint(veiled.image(across, down), across);
      veiled.show();
      veil.style.opacity = String(opacity / 100);
      veil.classList.toggle("hs-smooth", how === "smooth");
    }
    const chosen = framed ?? state.selection.token ?? undefined;
    if (stale.frames(...place, chosen, state.pointed)) {
      moveFrame(current, chosen, state, frame);
      moveFrame(read, state.pointed ?? undefined, state, frame);
    }
    return changed;
  }

  /**
   * The picture with its colours on one canvas.
   *
   * @param {ImageBitmap} bitmap
   * @param {Size} size as shown
   * @param {number} ratio pixels of a CSS pixel
   * @param {boolean} coloured
   */
  function flatten(bitmap, { wide, tall, family }, ratio, coloured) {
    const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    const canvas = sheet(width, height);
    const context = contextOf(canvas);
    const both = grounds(bitmap, width, height);
    context.drawImage(coloured ? both.plain : both.dim, 0, 0);
    context.imageSmoothingEnabled = state.selection.paint === "smooth";
    context.globalAlpha = state.selection.opacity / 100;
    context.drawImage(veil, 0, 0, width, height);
    context.globalAlpha = 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    remark(context, state.base.note, wide, tall, `600 12px ${family}`);
    return canvas;
  }

  return { photo, render, flatten };
}
