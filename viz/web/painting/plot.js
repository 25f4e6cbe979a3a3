// A matrix: cells on a canvas, and over and around them labels, lines and a colour scale.

import { colourAt, textOn } from "../core/colours.js";
import { contextOf, markPainted, textWidths } from "../core/dom.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { draw } from "../core/raster.js";
import { useLayoutEffect, useMemo, useRef } from "../vendor/hooks.js";
import { isLabelled, labelled, placeOf, visible } from "./layout.js";

/** @import {Axis, Cell, HiddenSinks, Theme} from "../types" */
/** @import {Cells} from "../core/raster.js" */
/** @import {Scale} from "../text/scale.js" */
/** @import {Range} from "../text/tokens.js" */
/** @import {Layout, View} from "./layout.js" */

/**
 * @typedef {object} Picture
 * @property {{part: Cells, table: Uint32Array}[]} parts coarse to fine
 * @property {Scale} scale
 * @property {ArrayLike<number> | null} [numbers] the weights in view, row by row, where cells have room for them
 * @property {HiddenSinks | null} sinks columns that are hidden
 * @property {View} view
 * @property {number | null} pinned
 * @property {boolean} inward whether the pinned token is a column
 * @property {{rows: Range, cols: Range} | null} [absent] a block that does not exist
 * @property {Record<Axis, ReadonlySet<number>>} matches tokens searched for
 * @property {string} note
 * @property {Record<Axis, string[]>} labels
 * @property {Theme} theme
 */

const TYPE = 12; // pixels of labels at a unit of 1
const APART = 11; // between two labels where not all have one
const LEAST = 0.045; // of a weight whose number is written
const TICKS = 0.11; // of the colour scale between two ticks
const SECONDS = /^\d+\.\d+ s$/; // a moment of a recording, which says more than its position
const AXES = /** @type {const} */ (["query", "key"]);

/** @type {(labels: Record<Axis, string[]>, unit: number, family: string) => import("./layout.js").Sizes["widths"]} */
export function widthsOf({ query, key }, unit, family) {
  const measure = (/** @type {string[]} */ labels) =>
    textWidths(family, labels.map(legible)).map((wide) => wide * TYPE * unit);
  const longest = (/** @type {number[]} */ widths) => widths.reduce((most, wide) => Math.max(most, wide), 0);
  const across = measure(key);
  const apart = longest(across.slice(1).map((wide, i) => (wide + across[i]) / 2));
  return { query: longest(key === query ? across : measure(query)), key: longest(across), apart };
}

/** @param {{layout: Layout, picture: Picture, cell: Cell | null}} props cell: with a cross-hair */
export function Plot({ layout, picture, cell }) {
  const { view } = picture;
  const { left, top, width, height } = layout;
  const box = { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` };
  const still = useMemo(
    () => html`
      <${Canvas} ...${{ layout, picture, box }} />
      <div class="hs-plot-over" style=${{ ...box, ...gapsIn(layout, view) }}><${Marks} ...${{ layout, picture }} /></div>
      ${picture.note && html`<p class="hs-plot-note">${picture.note}</p>`}
      <span class="hs-plot-caption" style=${{ right: `calc(100% - ${left - 8}px)`, bottom: `calc(100% - ${top - 4}px)` }}>attends ↓</span>
      <span class="hs-plot-caption" style=${{ left: box.left, top: picture.note ? "19px" : "0" }}>attended to (key) →</span>
      ${AXES.map((axis) => html`<${Labels} key=${axis} ...${{ layout, picture, axis }} />`)}
      ${layout.legend !== "none" && html`<${Legend} ...${{ layout, picture }} />`}
    `,
    [layout, picture],
  );
  if (!cell) return still;
  const { x, y } = placeOf(view, cell);
  const size = { width: `${Math.max(view.colScale, 3)}px`, height: `${Math.max(view.rowScale, 3)}px` };
  return html`
    ${still}
    <div class="hs-plot-over hs-cross" style=${box}>
      <i style=${{ top: `${y}px`, width: "100%", height: size.height }} />
      <i style=${{ left: `${x}px`, height: "100%", width: size.width }} />
      <b style=${{ left: `${x}px`, top: `${y}px`, ...size }} />
    </div>
    ${AXES.map((axis) => html`<${Label} ...${{ layout, picture, axis, index: cell[axis], kind: "hs-at" }} />`)}
  `;
}

/** The cells, a pixel at a time. */
function Canvas({ layout, picture, box }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const ratio = devicePixelRatio || 1;
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const [wide, tall] = [layout.width, layout.height].map((size) => Math.max(1, Math.round(size * ratio)));
    Object.assign(canvas.current, { width: wide, height: tall });
    const context = contextOf(canvas.current);
    const image = context.createImageData(wide, tall);
    const { row, col, rowScale, colScale } = picture.view;
    const place = { row, col, scaleRow: rowScale * ratio, scaleCol: colScale * ratio };
    const target = new Uint32Array(image.data.buffer);
    for (const { part, table } of picture.parts) draw(target, wide, tall, part, table, place);
    context.putImageData(image, 0, 0);
    markPainted(canvas.current);
  }, [layout, picture, ratio]);
  return html`<canvas class="hs-picture" aria-hidden="true" style=${box} ref=${canvas} />`;
}

/** Thin lines of the ground between large cells. */
function gapsIn(layout, { row, col, rowScale, colScale }) {
  const line = (/** @type {string} */ to) =>
    `linear-gradient(to ${to}, var(--hs-background) 1px, transparent 1px)`;
  const none = "linear-gradient(transparent, transparent)";
  return {
    backgroundImage: `${isLabelled(layout, colScale) ? line("right") : none}, ${isLabelled(layout, rowScale) ? line("bottom") : none}`,
    backgroundSize: `${colScale}px ${rowScale}px`,
    backgroundPosition: `${-(col % 1) * colScale}px ${-(row % 1) * rowScale}px`,
  };
}

/** What lies over the cells: their numbers, hidden columns, pairs that do not exist, and the chosen row or column. */
function Marks({ layout, picture }) {
  const { view, numbers, scale, sinks, absent, pinned, inward, theme } = picture;
  const { rowScale, colScale } = view;
  const { rows, cols } = visible(layout, view);
  const block = (kind, query, key, down = 1, across = 1) => {
    const { x, y } = placeOf(view, { query, key });
    const size = {
      width: `${Math.max(2, across * colScale)}px`,
      height: `${Math.max(2, down * rowScale)}px`,
    };
    return html`<div class=${kind} style=${{ left: `${x}px`, top: `${y}px`, ...size }} />`;
  };
  const [down, across] = [rows[1] - rows[0], cols[1] - cols[0]];
  const number = (value, i) => {
    const { x, y } = placeOf(view, { query: rows[0] + Math.floor(i / across), key: cols[0] + (i % across) });
    const style = {
      ...{ left: `${x}px`, top: `${y}px`, width: `${colScale}px`, lineHeight: `${rowScale}px` },
      ...{
        fontSize: `${Math.min(13 * layout.unit, 0.72 * rowScale)}px`,
        color: textOn(colourAt(scale.ramp, scale.place(value)), theme.text),
      },
    };
    return value >= LEAST && html`<span style=${style}>${(100 * value).toFixed(0)}</span>`;
  };
  return html`
    <div class="hs-plot-numbers" aria-hidden="true">${Array.from(numbers ?? [], number)}</div>
    ${sinks?.keys.map((key) => block("hs-hatched", rows[0], key, down))}
    ${absent && block("hs-hatched", absent.rows[0], absent.cols[0], absent.rows[1] - absent.rows[0], absent.cols[1] - absent.cols[0])}
    ${pinned !== null && (inward ? block("hs-pinned", rows[0], pinned, down) : block("hs-pinned", pinned, cols[0], 1, across))}
  `;
}

/** A label for each token of an axis, or for as many as there is room, which then say their positions. */
function Labels({ layout, picture, axis }) {
  const { pinned, inward, matches, view } = picture;
  const range = visible(layout, view)[axis === "query" ? "rows" : "cols"];
  const scale = axis === "query" ? view.rowScale : view.colScale;
  const isPinned = pinned !== null && inward === (axis === "key");
  const least = isLabelled(layout, scale) ? 0 : APART * layout.unit;
  return labelled(range, scale, least, [...matches[axis], ...(isPinned ? [pinned] : [])]).map((index) => {
    const kind = [matches[axis].has(index) && "hs-match", isPinned && index === pinned && "hs-on"];
    return html`<${Label} key=${index} ...${{ layout, picture, axis, index, kind: kind.filter(Boolean).join(" ") }} />`;
  });
}

function Label({ layout, picture, axis, index, kind }) {
  const { view, labels } = picture;
  const { unit, left, top, longest, level, width, height } = layout;
  const isQuery = axis === "query";
  const scale = isQuery ? view.rowScale : view.colScale;
  const at = (index + 0.5 - (isQuery ? view.row : view.col)) * scale;
  if (at < 0 || at > (isQuery ? height : width)) return null;
  const isOwn = isLabelled(layout, scale) || SECONDS.test(labels[axis][0]) || kind === "hs-at";
  const size = Math.max(isLabelled(layout, scale) ? 8 * unit : 9 * unit, Math.min(TYPE * unit, scale * 0.92));
  const turn = level ? "translateX(-50%)" : `rotate(${scale >= 15 * unit ? -50 : -90}deg)`;
  const above = `calc(100% - ${top - (level ? 11 : 6) * unit}px)`;
  const place = isQuery
    ? { right: `calc(100% - ${left - 7 * unit}px)`, top: `${top + at}px`, transform: "translateY(-50%)" }
    : { left: `${left + at}px`, bottom: above, transform: `${turn} translateY(50%)` };
  const style = { ...place, fontSize: `${Math.min(TYPE * unit, size)}px`, maxWidth: `${longest}px` };
  const text = isOwn ? legible(labels[axis][index]) : `${index} ${legible(labels[axis][index])}`;
  return html`<bdi class=${`hs-plot-label ${kind}`} aria-hidden="true" style=${style}>${text}</bdi>`;
}

/** Colours from the least to the most, with numbers below them. @param {{ramp: Uint8Array, ticks: {share: number, text: string}[]}} props */
export function Ramp({ ramp, ticks }) {
  const stops = Array.from({ length: 33 }, (_, i) => `rgb(${colourAt(ramp, i / 32).join()})`);
  return html`
    <div class="hs-plot-ramp" style=${{ background: `linear-gradient(to right, ${stops.join()})` }}>
      ${ticks.map(({ share, text }) => html`<span style=${{ left: `${100 * share}%` }}>${text}</span>`)}
    </div>
  `;
}

/** The colour scale, with what its colours mean. */
function Legend({ layout, picture: { scale, view } }) {
  const { left, top, width, height, unit, legend } = layout;
  const { ramp, ticks, words, place, name, masks } = scale;
  const isBeside = legend === "beside";
  const style = isBeside
    ? { left: `${left + width + 24 * unit}px`, top: `${top}px`, width: `${200 * unit}px` }
    : { left: `${left}px`, top: `${top + height + 8 * unit}px`, right: "0" };
  let next = Infinity;
  const apart = ticks.toReversed().filter(({ value }) => {
    const isFree = next - place(value) >= TICKS;
    if (isFree) next = place(value);
    return isFree;
  });
  const many = Math.min(view.rowScale, view.colScale) * (devicePixelRatio || 1) < 1;
  return html`
    <div class=${isBeside ? "hs-plot-scale" : "hs-plot-scale hs-below"} style=${style}>
      <${Ramp} ramp=${ramp} ticks=${apart.map(({ value, text }) => ({ share: place(value), text }))} />
      <p>
        ${masks && html`<i class="hs-masked" /> masked · `}
        ${`${name}: ${words}`}${many && ` · several tokens per pixel: the largest ${name} is drawn`}
      </p>
    </div>
  `;
}
