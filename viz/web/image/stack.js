// The large picture of a head: its weights over the picture, with lines and numbers between the
// patches, crosses over hidden ones, and a frame round the network's answer.

import { changes } from "../core/changes.js";
import { contextOf, element } from "../core/dom.js";
import { fit, frameSize } from "../core/overlay.js";
import { LEAST, overPicture } from "./over_picture.js";
import { paintMap } from "./state.js";

/** @import {ImageState} from "./state.js" */

const NUMBERED = 21; // CSS pixels a patch must have for its number to stand in it
const LINED = 5; // and for lines between patches
const WIDE = 14; // and for bright ones
const FEW = 15; // rows and columns of patches whose lines are always there

/** @param {ImageState} state */
export function stackOf(state) {
  const ruled = element("canvas", "hs-layer");
  const crossed = element("canvas", "hs-layer");
  const reached = element("canvas", "hs-layer hs-reached");
  const answer = element("i", "hs-mark hs-mark-answer", { title: "The network’s answer" });
  const picture = overPicture(state, [ruled, crossed, reached], [answer]);
  const stale = { lines: changes(), answer: changes(), reached: changes() };

  /** Returns whether anything has changed. */
  function render(bitmap, rows, size, plain) {
    const { wide, tall, family } = size;
    const { grid, mark } = state.base;
    const values = rows.heads[state.headIndex];
    const top = state.topOf(values);
    /** @type {(pixels: Uint32Array, across: number) => void} */
    const paint = (pixels, across) => {
      if (plain) pixels.fill(0);
      else paintMap(pixels, { stride: across }, values, state, rows.factor, top);
    };
    const coloured = plain || state.coloured;
    const drawn = { paint, coloured, silent: plain, framed: state.token(), read: state.read?.token ?? -1 };
    const weights = [rows, state.table, state.log, state.headIndex, top, plain];
    let changed = picture.render(bitmap, size, drawn, weights);
    const place = [wide, tall, devicePixelRatio, ...grid];
    if (stale.lines(...place, plain, family, state.hidden())) {
      changed = true;
      paintLines(wide, tall, plain, family);
    }
    if (stale.reached(...place, JSON.stringify(state.reached()))) paintReached(wide, tall);
    if (stale.answer(...place, mark?.[0], mark?.[1])) {
      changed = true;
      picture.move(answer, answered());
    }
    return changed;
  }

  /** The patch of the network's answer. */
  function answered() {
    const { mark, prefix, grid } = state.base;
    return mark ? prefix + mark[0] * grid[1] + mark[1] : undefined;
  }

  function paintLines(wide, tall, plain, family) {
    const ratio = devicePixelRatio || 1;
    for (const canvas of [ruled, crossed]) {
      const context = fit(canvas, wide, tall);
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      if (canvas === ruled) rule(context, canvas.width, canvas.height, ratio, family);
      else if (!plain) crossOut(context, canvas.width, canvas.height, ratio);
    }
    ruled.classList.toggle("hs-pointed-only", isFine());
  }

  /** The patches that a change can reach. */
  function paintReached(wide, tall) {
    const context = fit(reached, wide, tall);
    const { width, height } = reached;
    const { prefix, grid } = state.base;
    const [down, across] = [height / grid[0], width / grid[1]];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    context.fillStyle = getComputedStyle(reached).color;
    for (const [from, to] of state.reached() ?? [])
      for (let token = Math.max(prefix, from); token < to; token++) {
        const [row, col] = state.place(token);
        const [x, y] = [Math.round(col * across), Math.round(row * down)];
        context.fillRect(x, y, Math.round((col + 1) * across) - x, Math.round((row + 1) * down) - y);
      }
  }

  /** Whether there are so many patches that lines between them would cover the picture. */
  const isFine = () => Math.max(...state.base.grid) > FEW;

  /** Lines and numbers, in device pixels. */
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

  /** A cross over each patch that is hidden as a sink, in device pixels. */
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

  /** All layers on one canvas, painted anew for a size in pixels. */
  function flatten(bitmap, size, ratio, plain) {
    const coloured = plain || state.selection.ground === "colour";
    const canvas = picture.flatten(bitmap, size, ratio, { coloured, silent: plain }, (context, width, height) => {
      if (!isFine()) rule(context, width, height, ratio, size.family);
      if (!plain) crossOut(context, width, height, ratio);
    });
    if (plain || state.token() < state.base.prefix) return canvas;
    const [row, col] = state.place(state.token());
    const { across, down, grow, ...box } = frameSize(size.wide, size.tall, state.base.grid, LEAST);
    const context = contextOf(canvas);
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

  return { photo: picture.photo, render, flatten };
}
