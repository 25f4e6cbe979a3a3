// One layer whose queries and keys are cells of two grids of a picture: the cell under the pointer
// looks, and the cells it looks at are coloured. A click, or the arrow keys, choose the cell.

import { Client } from "../core/client.js";
import { Cache } from "../core/cache.js";
import { element, setText } from "../core/dom.js";
import { unpack } from "../core/pack.js";
import { HttpSource, pathOf } from "../core/sources.js";
import { colourPatches, frameSize, moveFrame, pixelsOf, stretch, veilOf } from "../core/overlay.js";

/** @import {Host} from "../types" */

/** @typedef {{rows: number, cols: number, prefix: number}} Cells */

/**
 * @typedef {object} CellsProps
 * @property {string} trace
 * @property {number} made
 * @property {string} session
 * @property {number} site
 * @property {number | "mean"} head
 * @property {Cells} query grid of the cells that look
 * @property {Cells} key of those they look at
 * @property {string} picture URL
 * @property {[number, number]} size columns and rows of its pixels
 * @property {string} ramp 256 colours of three bytes, in base64
 * @property {number} chosen the query
 * @property {string} name of layer and head
 */

const WIDEST = 560; // CSS pixels
const TALLEST = 460;
const REST_MS = 15; // of the pointer, before a row is fetched
const LEAST = 7; // CSS pixels of a frame
const ROWS = 8 << 20; // bytes that are kept
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * @param {HTMLElement} root
 * @param {CellsProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  const image = element("img", "hs-layer", { alt: "" });
  const veil = element("canvas", "hs-layer hs-veil");
  const frame = element("i", "hs-mark");
  const photo = element("div", "hs-picture hs-photo", { role: "img", tabindex: "0" }, image, veil, frame);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const stage = element("div", "hs-stage", {}, photo);
  root.replaceChildren(stage, read);
  const veiled = pixelsOf(veil);
  let now = props;
  let { chosen } = props;
  /** @type {number | null} the query under the pointer */
  let pointed = null;
  /** @type {{wide: number, tall: number}} */
  let size = { wide: 1, tall: 1 };
  /** @type {Cache<Float32Array>} by site, head and query */
  let rows = new Cache(ROWS);
  /** @type {Client | null} */
  let client = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;

  /** @param {number} query */
  const path = (query) => pathOf("row", { site: now.site, head: now.head, axis: "query", index: query });

  function open() {
    client?.destroy();
    rows = new Cache(ROWS);
    const { trace, made: serial, session } = now;
    const source =
      host.source?.(trace, session) ??
      new HttpSource(`${location.origin}/api/trace/${encodeURIComponent(trace)}/`, session);
    client = new Client(source, {
      received: (of, bytes) => {
        const { header, area } = unpack(bytes);
        const [{ count, at }] = header.rows ?? [];
        rows.set(of, new Float32Array(area.buffer, area.byteOffset + at, count), 4 * count);
        draw();
      },
      gone: () => host.trigger("trace_lost", { trace, made: serial }),
      changed: draw,
    });
  }

  function wish() {
    const wanted = path(pointed ?? chosen);
    client?.want("row", rows.has(wanted) ? null : wanted);
  }

  /** @param {number | null} query */
  function pointAt(query) {
    if (query === pointed) return;
    pointed = query;
    clearTimeout(resting);
    resting = setTimeout(wish, REST_MS);
    draw();
  }

  /** @param {number} query */
  function choose(query) {
    if (query === chosen) return;
    chosen = query;
    wish();
    draw();
    host.trigger("picked", query);
  }

  /** @param {MouseEvent} event */
  function cellAt(event) {
    const box = photo.getBoundingClientRect();
    return cellOf((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height, now.query);
  }

  photo.onpointermove = (event) => {
    if (event.pointerType === "mouse") pointAt(cellAt(event));
  };
  photo.onpointerleave = () => pointAt(null);
  photo.onclick = (event) => {
    const query = cellAt(event);
    if (query !== null) choose(query);
  };
  photo.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !MOVES[event.key]) return;
    event.preventDefault();
    pointAt(null);
    choose(besideOf(chosen, MOVES[event.key], now.query));
  };

  function measure() {
    const [width, height] = now.size;
    const room = Math.min(stage.clientWidth || WIDEST, WIDEST);
    const zoom = Math.min(room / width, TALLEST / height);
    size = { wide: Math.round(width * zoom), tall: Math.round(height * zoom) };
    for (const part of [photo, image, veil]) stretch(part, size.wide, size.tall);
  }

  function draw() {
    const { query, key, name } = now;
    const token = pointed ?? chosen;
    const grid = /** @type {[number, number]} */ ([query.rows, query.cols]);
    const box = frameSize(size.wide, size.tall, grid, LEAST);
    stretch(frame, box.wide, box.tall);
    const [row, col] = placeOf(token, query);
    moveFrame(frame, token, { base: { prefix: query.prefix }, place: () => [row, col] }, box);
    const values = rows.get(path(token));
    const who = `Cell ${row}, ${col} of ${query.rows} × ${query.cols}`;
    photo.setAttribute("aria-label", `Picture with the weights of ${name}. ${who} looks. Arrow keys choose another cell.`);
    if (!values) return;
    const pixels = veiled.image(key.cols, key.rows);
    const weights = values.subarray(key.prefix, key.prefix + key.rows * key.cols);
    const most = weights.reduce((best, value, i) => (value > weights[best] ? i : best), 0);
    const base = { prefix: 0, grid: /** @type {[number, number]} */ ([key.rows, key.cols]) };
    const table = veilOf(ramp(now.ramp));
    colourPatches(pixels, { stride: key.cols }, weights, { base, table }, 1, weights[most] || 1);
    veiled.show();
    const [down, across] = placeOf(most, { ...key, prefix: 0 });
    setText(read, `${who}: most to ${down}, ${across} of ${key.rows} × ${key.cols}, ${weights[most].toFixed(5)}; brighter = more weight`);
  }

  /** @param {CellsProps} next */
  function update(next) {
    const before = now;
    now = next;
    if (!client || before.trace !== next.trace || before.made !== next.made) open();
    if (image.src !== next.picture) image.src = next.picture;
    chosen = next.chosen;
    measure();
    wish();
    draw();
  }

  const observer = new ResizeObserver(() => {
    measure();
    draw();
  });
  observer.observe(root);
  update(props);
  return {
    update,
    destroy() {
      clearTimeout(resting);
      observer.disconnect();
      client?.destroy();
      root.replaceChildren();
    },
  };
}

/** @type {Map<string, Uint8Array>} */
const ramps = new Map();

/** @param {string} text in base64 */
function ramp(text) {
  const table = ramps.get(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  ramps.set(text, table);
  return table;
}

/**
 * The query at a place of the picture, as shares of its sides; null outside.
 *
 * @param {number} across
 * @param {number} down
 * @param {Cells} cells
 */
export function cellOf(across, down, { rows, cols, prefix }) {
  const [row, col] = [Math.floor(down * rows), Math.floor(across * cols)];
  if (row < 0 || col < 0 || row >= rows || col >= cols) return null;
  return prefix + row * cols + col;
}

/**
 * Row and column of a token.
 *
 * @param {number} token
 * @param {Cells} cells
 * @returns {[number, number]}
 */
export function placeOf(token, { cols, prefix }) {
  return [Math.floor((token - prefix) / cols), (token - prefix) % cols];
}

/**
 * The cell beside another one; the same at the edges.
 *
 * @param {number} token
 * @param {[number, number]} move rows down and columns to the right
 * @param {Cells} cells
 */
export function besideOf(token, [down, right], cells) {
  const [row, col] = placeOf(token, cells);
  const line = Math.min(Math.max(0, row + down), cells.rows - 1);
  const place = Math.min(Math.max(0, col + right), cells.cols - 1);
  return cells.prefix + line * cells.cols + place;
}
