// A picture with numbers over it: it is pointed at, chosen from and drawn upon; and the scale of its colours.

import { extentOf, joined } from "../core/grids.js";
import { html } from "../core/html.js";
import { Pixels } from "../painting/pixels.js";
import { Ramp } from "../painting/plot.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {Place, Sides} from "../core/grids.js" */
/** @import {TokenGrid} from "../types" */

/** @typedef {{wide: number, tall: number}} Fitted */
/** @typedef {{grid: TokenGrid, pixels: Uint32Array}} Layer a pixel for each cell */
/** @typedef {{ramp: Uint8Array, numberAt: (share: number) => string, words: string}} Scale of colours */

const LARGEST = 760; // CSS pixels of a picture's longer side
const LEAST = 200; // of its height
const BELOW = 44; // for its scale
const POINT = 0.02; // of a side: a smaller area is a point
const SEEN = 9; // CSS pixels of a frame at least
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/**
 * The size at which the whole picture, with its scale, is in sight before anything is scrolled.
 *
 * @param {{wide: number, high: number}} space
 * @param {{width: number, height: number} | null} bitmap
 * @param {number} [tallest]
 * @returns {Fitted | null}
 */
export function fitted({ wide, high: room }, bitmap, tallest) {
  if (!bitmap || !wide) return null;
  const high = tallest ?? Math.max(LEAST, Math.min(LARGEST, room - BELOW));
  const zoom = Math.min(Math.min(wide, LARGEST) / bitmap.width, high / bitmap.height);
  return { wide: Math.round(bitmap.width * zoom), tall: Math.round(bitmap.height * zoom) };
}

/**
 * The picture. An area is drawn upon it where `onArea` is given, by dragging; a click is no area.
 *
 * @param {object} props
 * @param {ImageBitmap} props.bitmap
 * @param {Layer[]} props.layers the numbers
 * @param {boolean} [props.isGrey] whether the picture is ground for them, without its own colours
 * @param {Fitted} props.size
 * @param {unknown} [props.marks] upon it
 * @param {string} [props.label] without one it is decoration
 * @param {string} [props.kind] classes
 * @param {(place: Place | null) => void} [props.onPoint] with the mouse; null when it leaves
 * @param {(place: Place) => void} [props.onChoose]
 * @param {(event: KeyboardEvent) => void} [props.onKey]
 * @param {(sides: Sides, isDone: boolean) => void} [props.onArea]
 * @param {boolean} [props.isArea] whether areas can be drawn now
 * @param {() => void} [props.onPainted]
 * @param {unknown} [props.children] above the picture
 */
export function OverPicture({ bitmap, layers, isGrey, size, marks, label, kind = "hs-photo", ...on }) {
  const { wide, tall } = size;
  useLayoutEffect(
    () => on.onPainted?.(),
    [bitmap, isGrey, wide, tall, ...layers.map(({ pixels }) => pixels)],
  );
  const drawing = useDrawing(on.isArea ? on.onArea : undefined);
  const isChosen = Boolean(on.onChoose || on.onKey);
  const grids = layers.map(({ grid }) => grid);
  const across = joined(grids.flatMap(({ box }) => [box[0], box[2]]));
  const down = joined(grids.flatMap(({ box }) => [box[1], box[3]]));
  const seen = grids.length ? extentOf(grids) : [0, 0, 1, 1];
  return html`
    <div class=${kind} style=${{ width: `${wide}px`, height: `${tall}px` }}>
      <div
        class="hs-face"
        role=${label && "img"}
        aria-label=${label}
        aria-hidden=${label ? undefined : "true"}
        tabindex=${isChosen ? "0" : undefined}
        onPointerDown=${drawing.begin}
        onPointerMove=${(event) => {
          if (!drawing.move(event) && event.pointerType === "mouse") on.onPoint?.(placeIn(event));
        }}
        onPointerUp=${drawing.end}
        onPointerCancel=${drawing.cancel}
        onPointerLeave=${() => on.onPoint?.(null)}
        onClick=${(event) => !drawing.isOver() && on.onChoose?.(placeIn(event))}
        onKeyDown=${on.onKey}
      >
        <${Photo} ...${{ bitmap, isGrey, isLarge: wide > bitmap.width }} />
        ${seen.join() !== "0,0,1,1" && html`<i class="hs-seen" style=${placed(seen)} />`}
        ${layers.map(({ grid, pixels }) => {
          const sides = /** @type {Sides} */ (
            grid.box.map((side, i) => (i % 2 ? down : across).get(side) ?? side)
          );
          return html`<${Pixels} ...${{ pixels, across: grid.shape[1], style: placed(sides) }} />`;
        })}
        ${marks}
      </div>
      ${on.children}
    </div>
  `;
}

function Photo({ bitmap, isGrey, isLarge }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => canvas.current?.getContext("2d")?.drawImage(bitmap, 0, 0), [bitmap]);
  const kind = `${isGrey ? "hs-grey" : ""} ${isLarge ? "hs-pixels" : ""}`;
  return html`<canvas class=${kind} width=${bitmap.width} height=${bitmap.height} ref=${canvas} />`;
}

/** @type {(event: MouseEvent) => Place} */
function placeIn({ currentTarget, clientX, clientY }) {
  const { left, top, width, height } = /** @type {Element} */ (currentTarget).getBoundingClientRect();
  const inside = (/** @type {number} */ share) => Math.min(1 - 1e-9, Math.max(0, share));
  return [inside((clientX - left) / width), inside((clientY - top) / height)];
}

/** An area that the pointer draws. */
function useDrawing(onArea) {
  const drag = useRef({
    from: /** @type {Place | null} */ (null),
    sides: /** @type {Sides | null} */ (null),
  });
  const cancel = () => {
    drag.current = { from: null, sides: null };
  };
  return {
    cancel,
    isOver: () => drag.current.sides !== null, // the click that ends it chooses nothing
    begin(event) {
      const begins = onArea && event.button === 0 && event.pointerType !== "touch";
      drag.current = { from: begins ? placeIn(event) : null, sides: null };
    },
    /** Whether the pointer draws. */
    move(event) {
      const { from, sides } = drag.current;
      if (!from || !(event.buttons & 1)) return false;
      const next = between(from, placeIn(event));
      if (!sides && !isLarge(next)) return true;
      event.currentTarget.setPointerCapture(event.pointerId);
      drag.current.sides = next;
      onArea(next, false);
      return true;
    },
    end() {
      const { from, sides } = drag.current;
      if (from && sides && isLarge(sides)) onArea(sides, true);
      drag.current.from = null;
    },
  };
}

/** @param {Place} from @param {Place} to @returns {Sides} */
const between = ([x, y], [across, down]) => [
  Math.min(x, across),
  Math.min(y, down),
  Math.max(x, across),
  Math.max(y, down),
];

const isLarge = ([left, top, right, bottom]) => right - left >= POINT && bottom - top >= POINT;

/** Where a part of a picture lies, as a style; a small one is still seen. @param {readonly number[]} sides */
export function placed([left, top, right, bottom], least = 0) {
  const along = (from, to) => [
    least ? `min(${100 * from}%, calc(${50 * (from + to)}% - ${least / 2}px))` : `${100 * from}%`,
    least ? `max(${least}px, ${100 * (to - from)}%)` : `${100 * (to - from)}%`,
  ];
  const [[x, width], [y, height]] = [along(left, right), along(top, bottom)];
  return { left: x, top: y, width, height };
}

/**
 * A frame over the picture: of an area, or of the cell that is chosen, read or answered.
 *
 * @param {{sides: readonly number[] | null | undefined, kind?: string}} props
 */
export const Area = ({ sides, kind = "hs-area" }) =>
  sides && html`<i class=${kind} aria-hidden="true" style=${placed(sides, SEEN)} />`;

/** The scale of the colours, with words beside it. @param {{scale: Scale, wide: number}} props */
export const Legend = ({ scale: { ramp, numberAt, words }, wide }) => html`
  <div class="hs-ramp" aria-hidden="true" style=${{ width: `${wide}px` }}>
    <${Ramp} ramp=${ramp} ticks=${TICKS.map((share) => ({ share, text: numberAt(share) }))} />
    <span>${words}</span>
  </div>
`;
