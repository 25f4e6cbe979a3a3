// The large picture in layers: the ground, the weights (a pixel a patch), lines with numbers, and
// frames. Whatever changes redraws its own layer and no other.

import { colourPatches, fit, frameSize, grounds, moveFrame } from "./overlay.js";
import { newsOf, pixelsOf, remark, stretch } from "./overlay.js";
import { element } from "./view.js";

const NUMBERED = 21; // CSS pixels a patch must have for its number to stand in it
const LINED = 5; // and for lines between patches
const WIDE = 14; // and for bright ones
const LEAST = 9; // CSS pixels of a frame

export function stackOf(store) {
  const ground = element("canvas", "hs-layer");
  const veil = element("canvas", "hs-layer hs-veil");
  const lines = element("canvas", "hs-layer");
  const asked = element("i", "hs-mark");
  const read = element("i", "hs-mark hs-mark-read");
  const photo = element(
    "div",
    "hs-picture hs-photo",
    { role: "img", tabindex: "0" },
    ...[ground, veil, lines, asked, read],
  );
  const veiled = pixelsOf(veil);
  const news = newsOf();
  let both = null; // the picture in colour, and dim
  let frame = null;

  /** Returns whether anything changed. */
  function render({ wide, tall, family }, plain) {
    const { grid, note } = store.base;
    const rows = store.rows();
    const top = store.topOf(rows.heads[store.shown]);
    const size = [store.drawn, wide, tall, devicePixelRatio, grid];
    const layers = [
      news("size", ...size) && prepare(wide, tall),
      news("ground", ...size, plain) && paintGround(wide, tall, plain),
      news("lines", ...size, plain, note, family) && paintLines(wide, tall, plain, family),
      news("veil", rows.key, store.shown, top, plain, grid) && paintVeil(rows, top, plain),
      news("asked", ...size, store.token()) && moveFrame(asked, store.token(), store, frame),
      news("read", ...size, store.read?.token) && moveFrame(read, store.read?.token, store, frame),
    ];
    return layers.some((changed) => changed !== false);
  }

  function prepare(wide, tall) {
    const ratio = devicePixelRatio || 1;
    stretch(photo, wide, tall);
    stretch(veil, wide, tall);
    both = grounds(store.bitmap, Math.round(wide * ratio), Math.round(tall * ratio));
    frame = frameSize(wide, tall, store.base.grid, LEAST);
    for (const mark of [asked, read]) stretch(mark, frame.wide, frame.tall);
  }

  function paintGround(wide, tall, plain) {
    fit(ground, wide, tall).drawImage(plain ? both.plain : both.dim, 0, 0, wide, tall);
  }

  function paintVeil(rows, top, plain) {
    const [down, across] = store.base.grid;
    const pixels = veiled.image(across, down);
    if (plain) pixels.fill(0);
    else {
      const values = rows.heads[store.shown];
      colourPatches(pixels, { stride: across }, values, store, rows.factor, top);
    }
    veiled.show();
  }

  function paintLines(wide, tall, plain, family) {
    const context = fit(lines, wide, tall);
    context.clearRect(0, 0, wide, tall);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    rule(context, lines.width, lines.height, devicePixelRatio || 1, family);
    context.restore();
    if (!plain) remark(context, store.base.note, wide, tall, `600 12px ${family}`);
  }

  /** Lines and numbers, in device pixels. */
  function rule(context, width, height, ratio, family) {
    const [rows, cols] = store.base.grid;
    const [down, across] = [height / rows, width / cols];
    if (across < LINED * ratio) return;
    const [dark, light] = across < WIDE * ratio ? [0.2, 0] : [0.35, 0.4]; // few lines, much picture
    for (const [colour, shift] of [[`rgba(0,0,0,${dark})`, 1], [`rgba(255,255,255,${light})`, 0]]) {
      context.fillStyle = colour;
      for (let i = 1; i < cols; i++) context.fillRect(Math.round(i * across) + shift, 0, 1, height);
      for (let i = 1; i < rows; i++) context.fillRect(0, Math.round(i * down) + shift, width, 1);
    }
    if (Math.min(down, across) >= NUMBERED * ratio) number(context, down, across, ratio, family);
  }

  function number(context, down, across, ratio, family) {
    const [rows, cols] = store.base.grid;
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

  /** All layers on one canvas, in device pixels. */
  function flatten() {
    const made = document.createElement("canvas");
    [made.width, made.height] = [ground.width, ground.height];
    const context = made.getContext("2d");
    context.imageSmoothingEnabled = false;
    for (const layer of [ground, veil, lines])
      context.drawImage(layer, 0, 0, made.width, made.height);
    if (store.token() < store.base.prefix) return made;
    const ratio = devicePixelRatio || 1;
    const [row, col] = store.place(store.token());
    const { across, down, grow } = frame;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const [colour, width] of [["#000", 5], ["#fff", 2.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(col * across - grow, row * down - grow, frame.wide, frame.tall);
    }
    return made;
  }

  return { photo, render, flatten };
}
