// The boxes of a card, in the order in which they run: parts, layers, heads, and what joins them; their matrices as
// cells, and how numbers and shapes are written.

import { html } from "../core/html.js";
import { figures } from "../core/ticks.js";
import { Pixels, pixelsOfMatrix } from "../painting/pixels.js";
import { useMemo } from "../vendor/hooks.js";

/** @import {Theme} from "../types" */

const UNITS = ["", " k", " M", " G", " T"];

/** Three digits and a unit: 1,234,567 → “1.23 M”. */
function short(value) {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(value / 0.9995) / 3)));
  const rest = value / 1000 ** step;
  const digits = step === 0 || rest >= 99.95 ? 0 : rest >= 9.995 ? 1 : 2;
  return rest.toFixed(digits) + UNITS[step];
}

/** FLOPs of one pass: “1.43 MFLOP”. */
const flopsOf = (count) => {
  const text = short(count);
  return `${text}${text.includes(" ") ? "" : " "}FLOP`;
};

/** “14 × 64”. @param {number[]} shape */
export const shapeOf = (shape) => shape.map((size) => size.toLocaleString("en")).join(" × ");

/** A number in a small cell: two digits after the point, or three in all. @param {number | null} value */
export const brief = (value) => {
  if (value === null || !Number.isFinite(value)) return "−∞";
  const size = Math.abs(value);
  const text =
    size >= 1000
      ? value.toExponential(1)
      : size >= 100
        ? value.toFixed(0)
        : size >= 10
          ? value.toFixed(1)
          : value.toFixed(2);
  return text.replace("-", "−");
};

/** A number of a matrix, as it is printed; a share in percent. @param {number} value @param {boolean} isShare */
export const printed = (value, isShare) => {
  if (!Number.isFinite(value)) return "−∞";
  if (isShare) return `${(100 * value).toFixed(1)} %`;
  return figures(value);
};

/** @typedef {{shape: [number, number], of: [number, number], at: number, places?: number}} Pooled the cells of a matrix on the screen, and where in it their numbers stand */

/**
 * The numbers of a pooled matrix.
 *
 * @param {Pooled} pooled
 * @param {Uint8Array} area of its message
 */
export const valuesOf = ({ shape: [rows, cols], at }, area) =>
  new Float32Array(area.buffer, area.byteOffset + at, rows * cols);

function Heat({ pooled, area, theme, isShare = false }) {
  const inputs = [pooled, area, theme, isShare];
  const pixels = useMemo(() => pixelsOfMatrix(valuesOf(pooled, area), isShare, theme), inputs);
  return html`<${Pixels} ...${{ pixels, across: pooled.shape[1] }} class="hs-build-heat" aria-hidden="true" />`;
}

/**
 * @typedef {object} Item
 * @property {string} kind
 * @property {string} title
 * @property {string} opens the address of its card
 * @property {number[]} shape
 * @property {number} parameters
 * @property {number} flops
 * @property {string[]} of
 * @property {string} tower
 * @property {Pooled | null} values
 * @property {Item[]} inner
 */

/**
 * @typedef {object} ItemsProps
 * @property {Item[]} items
 * @property {Uint8Array} area
 * @property {Theme} theme
 * @property {string} next the address of the card that is open below
 * @property {(address: string) => void} onOpen
 */

/** @param {ItemsProps} props */
export function Items({ items, ...others }) {
  const towers = [...new Set(items.map(({ tower }) => tower))];
  return towers.map(
    (tower) => html`
      <div class="hs-build-row" role="group" aria-label=${tower || "In the order in which they run"} onKeyDown=${walk}>
        ${tower && html`<span class="hs-build-tower">${tower.split(".").at(-1)}</span>`}
        ${besides(items.filter((item) => item.tower === tower)).map((group, n) => {
          const boxes = group.map(
            (item) => html`<${Box} key=${item.opens || item.title} ...${{ item, ...others }} />`,
          );
          return [
            n > 0 && html`<span class="hs-build-arrow" aria-hidden="true">→</span>`,
            group.length > 1 ? html`<div class="hs-build-beside">${boxes}</div>` : boxes,
          ];
        })}
      </div>
    `,
  );
}

/** Parts that read the same stand together. */
function besides(items) {
  /** @type {Item[][]} */
  const groups = [];
  for (const item of items) {
    const last = groups.at(-1);
    const isBeside = item.kind === "box" && last?.[0].kind === "box" && item.of[0] === last[0].of[0];
    if (last && item.of.length && isBeside) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

function Box({ item, ...others }) {
  if (item.kind === "layers") return html`<${Layers} ...${{ item, ...others }} />`;
  if (item.kind === "heads") return html`<${Heads} ...${{ item, ...others }} />`;
  const { area, theme, next, onOpen } = others;
  const isPart = item.kind === "box";
  const joined = !isPart && item.of.length ? ` of ${item.of.join(" and ")}` : "";
  const title = isPart ? `${item.title}: ${factsOf(item)}` : `${item.title}${joined}: ${shapeOf(item.shape)}`;
  return html`
    <${Opener} item=${item} ...${{ next, onOpen, title }} look=${isPart ? "hs-build-box" : "hs-build-box hs-build-join"}>
      <b>${item.title}</b>
      ${isPart && item.values && html`<${Heat} pooled=${item.values} ...${{ area, theme }} />`}
      ${isPart && html`<small>${item.parameters ? short(item.parameters) : shapeOf(item.shape)}</small>`}
    <//>
  `;
}

/** A button that opens the card of an item. */
function Opener({ item: { opens }, next, onOpen, title, label, look, children }) {
  return html`
    <button
      type="button"
      class=${look}
      data-opens=${opens}
      aria-expanded=${opens === next}
      aria-label=${label}
      title=${`${title}. Open it`}
      onClick=${() => onOpen(opens)}
    >
      ${children}
    </button>
  `;
}

/** A stack of blocks: one narrow button for each. */
function Layers({ item: { title, inner, parameters, flops }, next, onOpen }) {
  return html`
    <div class="hs-build-stack">
      <b>${title}</b>
      <div class="hs-build-layers" role="group" aria-label=${title}>
        ${inner.map(
          (layer) => html`
            <${Opener} item=${layer} ...${{ next, onOpen }} title=${`Layer ${layer.title}: ${factsOf(layer)}`} look="hs-build-layer">
              ${inner.length <= 16 ? layer.title : ""}
            <//>
          `,
        )}
      </div>
      <small>${`${short(parameters)} · ${flopsOf(flops)}`}</small>
    </div>
  `;
}

/** The heads of a layer, by their weights. */
function Heads({ item: { title, inner, flops }, area, theme, next, onOpen }) {
  return html`
    <div class="hs-build-stack">
      <b>${title}</b>
      <div class="hs-build-heads" role="group" aria-label=${title}>
        ${inner.map((head) => {
          const name = `Head ${head.title}`;
          return html`
              <${Opener} item=${head} ...${{ next, onOpen }} title=${name} label=${name} look="hs-build-head">
                ${head.values ? html`<${Heat} pooled=${head.values} isShare ...${{ area, theme }} />` : head.title}
              <//>
            `;
        })}
      </div>
      <small>${flopsOf(flops)}</small>
    </div>
  `;
}

/** Shape, parameters and FLOPs of a part. @param {{shape: number[], parameters: number, flops: number}} part */
export const factsOf = ({ shape, parameters, flops }) =>
  [
    shape.length ? shapeOf(shape) : "",
    parameters ? `${parameters.toLocaleString("en")} parameters` : "",
    flops ? flopsOf(flops) : "",
  ]
    .filter(Boolean)
    .join(" · ");

/** Arrow keys go from box to box. */
function walk(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by || !(event.currentTarget instanceof HTMLElement)) return;
  const boxes = /** @type {HTMLElement[]} */ ([...event.currentTarget.querySelectorAll("[data-opens]")]);
  const at = boxes.indexOf(/** @type {HTMLElement} */ (event.target));
  if (at < 0) return;
  boxes[Math.min(boxes.length - 1, Math.max(0, at + by))].focus();
  event.preventDefault();
}
