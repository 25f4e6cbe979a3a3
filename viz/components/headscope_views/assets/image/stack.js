// The large picture in layers: the ground, the weights (a pixel a patch), lines with numbers, and
// frames. Whatever changes redraws its own layer and no other.

import { changes } from "../core/changes.js";
import { contextOf, element } from "../core/dom.js";
import { fit, frameSize, grounds, moveFrame } from "../core/overlay.js";
import { pixelsOf, remark, sheet, stretch } from "../core/overlay.js";
import { paintMap } from "./state.js";

/** @import {Context, Frame} from "../core/overlay.js" */
/** @import {ImageState, Rows} from "./state.js" */

const NUMBERED = 21; // CSS pixels a patch must have for its number to stand in it
const LINED = 5; // and for lines between patches
const WIDE = 14; // and for bright ones
const FEW = 15; // rows and columns of patches whose lines are always there
const LEAST = 9; // CSS pixels of a frame

/** @typedef {{wide: number, tall: number, family: string}} Size */

/** @param {ImageState} state */
export function stackOf(state) {
  const ground = element("canvas", "hs-layer");
  const veil = element("canvas", "hs-layer hs-veil");
  const ruled = element("canvas", "hs-layer");
  const lines = element("canvas", "hs-layer");
  const current = element("i", "hs-mark");
  const read = element("i", "hs-mark hs-mark-read");
  const answer = element("i", "hs-mark hs-mark-answer", { title: "The network’s answer" });
  const photo = element(
    "div",
    "hs-picture hs-photo",
    { role: "img", tabindex: "0" },
    ...[ground, veil, ruled, lines, answer, current, read],
  );
  const veiled = pixelsOf(veil);
  const stale = {
    size: changes(),
    ground: changes(),
    lines: changes(),
    veil: changes(),
    current: changes(),
    read: changes(),
    answer: changes(),
  };
  /** @type {{plain: HTMLCanvasElement, dim: HTMLCanvasElement} | null} in colour, and dim */
  let both = null;
  /** @type {Frame | null} */
  let frame = null;

  /**
   * Returns whether anything has changed.
   *
   * @param {ImageBitmap} bitmap
   * @param {Rows} rows
   * @param {Size} size
   * @param {boolean} plain without weights
   */
  function render(bitmap, rows, { wide, tall, family }, plain) {
    const { note, grid } = state.base;
    const { paint: how, opacity } = state.selection;
    const colour = plain || state.coloured;
    const top = state.topOf(rows.heads[state.headIndex]);
    const size = [bitmap, wide, tall, devicePixelRatio, ...grid];
    let changed = false;
    /** @type {(layer: keyof typeof stale, paint: () => void, ...needs: unknown[]) => void} */
    const update = (layer, paint, ...needs) => {
      if (!stale[layer](...needs)) return;
      changed = true;
      paint();
    };
    update("size", () => prepare(bitmap, wide, tall), ...size);
    update("ground", () => paintGround(wide, tall, colour), ...size, colour);
    const hidden = state.hidden();
    const drawn = [...size, plain, note, family, hidden];
    update("lines", () => paintLines(wide, tall, plain, family), ...drawn);
    const weights = [rows, state.table, state.log, state.headIndex, top, plain, how, opacity];
    update("veil", () => paintVeil(rows, top, plain), ...weights);
    update("current", () => move(current, state.token()), ...size, state.token());
    update("read", () => move(read, state.read?.token), ...size, state.read?.token);
    const { mark } = state.base;
    update("answer", () => move(answer, answered()), ...size, mark?.[0], mark?.[1]);
    return changed;
  }

  /** The patch of the network's answer. */
  function answered() {
    const { mark, prefix, grid } = state.base;
    return mark ? prefix + mark[0] * grid[1] + mark[1] : undefined;
  }

  /**
   * @param {HTMLElement} mark
   * @param {number | undefined} token
   */
  function move(mark, token) {
    if (frame) moveFrame(mark, token, state, frame);
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
    for (const mark of [current, read, answer]) stretch(mark, frame.wide, frame.tall);
  }

  /**
   * @param {number} wide
   * @param {number} tall
   * @param {boolean} colour
   */
  function paintGround(wide, tall, colour) {
    if (both) fit(ground, wide, tall).drawImage(colour ? both.plain : both.dim, 0, 0, wide, tall);
  }

  /**
   * @param {Rows} rows
   * @param {number} top
   * @param {boolean} plain
   */
  function paintVeil(rows, top, plain) {
    const { paint, opacity } = state.selection;
    const [down, across] = state.base.grid;
    const pixels = veiled.image(across, down);
    const values = rows.heads[state.headIndex];
    if (plain) pixels.fill(0);
    else paintMap(pixels, { stride: across }, values, state, rows.factor, top);
    veiled.show();
    veil.style.opacity = String(opacity / 100);
    veil.classList.toggle("hs-smooth", paint === "smooth");
  }

  /**
   * @param {number} wide
   * @param {number} tall
   * @param {boolean} plain
   * @param {string} family
   */
  function paintLines(wide, tall, plain, family) {
    const under = fit(ruled, wide, tall);
    under.clearRect(0, 0, wide, tall);
    under.setTransform(1, 0, 0, 1, 0, 0);
    rule(under, ruled.width, ruled.height, devicePixelRatio || 1, family);
    ruled.classList.toggle("hs-pointed-only", isFine());
    const context = fit(lines, wide, tall);
    context.clearRect(0, 0, wide, tall);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (!plain) crossOut(context, lines.width, lines.height, devicePixelRatio || 1);
    context.restore();
    if (!plain) remark(context, state.base.note, wide, tall, `600 12px ${family}`);
  }

  /** Whether there are so many patches that lines between them would cover the picture. */
  const isFine = () => Math.max(...state.base.grid) > FEW;

  /**
   * Lines and numbers, in device pixels.
   *
   * @param {Context} context
   * @param {number} width
   * @param {number} height
   * @param {number} ratio
   * @param {string} family
   */
  function rule(context, width, height, ratio, family) {
    const [rows, cols] = state.base.grid;
    const [down, across] = [height / rows, width / cols];
    if (across < LINED * ratio) return;
    const [dark, light] = across < WIDE * ratio ? [0.2, 0] : [0.35, 0.4]; // few lines, much picture
    /** @type {[string, number][]} */
    const strokes = [
      [`rgba(0,0,0,${dark})`, ratio],
      [`rgba(255,255,255,${light})`, 0],
    ];
    for (const [colour, shift] of strokes) {
      context.fillStyle = colour;
      for (let i = 1; i < cols; i++)
        context.fillRect(Math.round(i * across) + shift, 0, ratio, height);
      for (let i = 1; i < rows; i++)
        context.fillRect(0, Math.round(i * down) + shift, width, ratio);
    }
    if (Math.min(down, across) >= NUMBERED * ratio) number(context, down, across, ratio, family);
  }

  /**
   * @param {Context} context
   * @param {number} down
   * @param {number} across
   * @param {number} ratio
   * @param {string} family
   */
  function number(context, down, across, ratio, family) {
    const [rows, cols] = state.base.grid;
    const letters = Math.min(12, (Math.min(down, across) / ratio) * 0.36) * ratio;
    context.font = `500 ${letters}px ${family}`;
    context.textBaseline = "top";
    context.lineWidth = 2.5 * ratio;
    context.lineJoin = "round";
    context.strokeStyle = "rgba(0,0,0,.5)";
    context.fillStyle = "rgba(255,255,255,.9)";
    for (let i = 0; i < rows * cols; i++) {
      const [x, y] = [(i % cols) * across + 3 * ratio, Math.floor(i / cols) * down + 3 * ratio];
      context.strokeText(String(i), x, y);
      context.fillText(String(i), x, y);
    }
  }

  /**
   * A cross over each patch that is hidden as a sink, in device pixels.
   *
   * @param {Context} context
   * @param {number} width
   * @param {number} height
   * @param {number} ratio
   */
  function crossOut(context, width, height, ratio) {
    const { prefix, grid } = state.base;
    const [down, across] = [height / grid[0], width / grid[1]];
    /** @type {[string, number][]} */
    const strokes = [
      ["rgba(0,0,0,.75)", 3 * ratio],
      ["#fff", 1.25 * ratio],
    ];
    for (const token of state.hidden()?.keys ?? []) {
      if (token < prefix) continue;
      const [row, col] = state.place(token);
      const [x, y] = [col * across, row * down];
      for (const [colour, thick] of strokes) {
        context.strokeStyle = colour;
        context.lineWidth = thick;
        context.beginPath();
        for (const [from, to] of [[0.2, 0.8], [0.8, 0.2]]) {
          context.moveTo(x + from * across, y + 0.2 * down);
          context.lineTo(x + to * across, y + 0.8 * down);
        }
        context.stroke();
      }
    }
  }

  /**
   * All layers on one canvas, painted anew for a size in pixels.
   *
   * @param {ImageBitmap} bitmap
   * @param {Size} size as shown
   * @param {number} ratio pixels of a CSS pixel
   * @param {boolean} plain
   */
  function flatten(bitmap, { wide, tall, family }, ratio, plain) {
    const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    const canvas = sheet(width, height);
    const context = contextOf(canvas);
    const fine = grounds(bitmap, width, height);
    const { ground: shade, paint, opacity } = state.selection;
    context.drawImage(plain || shade === "colour" ? fine.plain : fine.dim, 0, 0);
    context.imageSmoothingEnabled = paint === "smooth";
    context.globalAlpha = opacity / 100;
    context.drawImage(veil, 0, 0, width, height);
    context.globalAlpha = 1;
    if (!isFine()) rule(context, width, height, ratio, family);
    if (!plain) crossOut(context, width, height, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!plain) remark(context, state.base.note, wide, tall, `600 12px ${family}`);
    if (plain || state.token() < state.base.prefix) return canvas;
    const [row, col] = state.place(state.token());
    const { across, down, grow, ...box } = frameSize(wide, tall, state.base.grid, LEAST);
    /** @type {[string, number][]} */
    const strokes = [
      ["#000", 5],
      ["#fff", 2.5],
    ];
    for (const [colour, thick] of strokes) {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.strokeRect(col * across - grow, row * down - grow, box.wide, box.tall);
    }
    return canvas;
  }

  return { photo, render, flatten };
}
