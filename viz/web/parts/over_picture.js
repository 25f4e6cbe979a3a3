// A picture with numbers over it: a canvas that is pointed at, chosen from and drawn upon, and its scale.

import { fit, topOf } from "../core/dom.js";
import { html } from "../core/html.js";
import { groundOf, paintOver, paintRamp, sheet } from "../painting/over.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";

/** @import {Place, Sides} from "../core/grids.js" */
/** @import {Ramp as Scale, Scene} from "../painting/over.js" */
/** @import {Theme} from "../types" */

/** @typedef {{wide: number, high: number, unit: number, family: string}} Space what the page gives a picture */
/** @typedef {{wide: number, tall: number, unit: number, family: string}} Fitted */
/** @typedef {{current: HTMLElement | null}} Ref */

const LARGEST = 760; // CSS pixels of a picture's longer side
const LEAST = 200; // of its height
const BELOW = 44; // for its scale
const HIGH = 34; // of the scale with its numbers
const POINT = 0.02; // of a side: a smaller area is a point

/**
 * The room of an element, measured after each drawing.
 *
 * @param {Ref} place
 * @returns {Space}
 */
export function useSpace(place) {
  const [space, setSpace] = useState(/** @type {Space} */ ({ wide: 0, high: 0, unit: 1, family: "" }));
  useLayoutEffect(() => {
    const node = place.current;
    if (!node) return;
    const { fontSize, fontFamily: family } = getComputedStyle(node);
    const room = node.closest(".hs-drawing");
    const above = room
      ? node.getBoundingClientRect().top - room.getBoundingClientRect().top + room.scrollTop
      : topOf(node);
    const high = Math.round((room?.clientHeight ?? innerHeight) - above);
    const next = { wide: node.clientWidth, high, unit: parseFloat(fontSize) / 16, family };
    if (next.wide && Object.entries(next).some(([name, value]) => value !== space[name])) setSpace(next);
  });
  return space;
}

/**
 * The size at which the whole picture, with its scale, is in sight before anything is scrolled.
 *
 * @param {Space} space
 * @param {{width: number, height: number} | null} bitmap
 * @param {{largest?: number, tallest?: number}} [most]
 * @returns {Fitted | null}
 */
export function fitted({ wide, high: room, ...letters }, bitmap, { largest = LARGEST, tallest } = {}) {
  if (!bitmap || !wide) return null;
  const high = tallest ?? Math.max(LEAST, Math.min(LARGEST, room - BELOW));
  const zoom = Math.min(Math.min(wide, largest) / bitmap.width, high / bitmap.height);
  return { ...letters, wide: Math.round(bitmap.width * zoom), tall: Math.round(bitmap.height * zoom) };
}

/**
 * The picture. An area is drawn upon it where `onArea` is given, by dragging; a click is no area.
 *
 * @param {object} props
 * @param {Scene} props.scene painted anew when it is another one
 * @param {Pick<Fitted, "wide" | "tall" | "family">} props.size
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
export function OverPicture({ scene, size, label, kind = "hs-photo", isArea = false, children, ...on }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const scratch = useMemo(() => sheet(1, 1), []);
  const ratio = devicePixelRatio || 1;
  const { wide, tall, family } = size;
  const { bitmap, coloured } = scene;
  const ground = useMemo(
    () => groundOf(bitmap, { wide, tall, ratio }, coloured),
    [bitmap, wide, tall, ratio, coloured],
  );
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const whole = { wide, tall, ratio, family };
    paintOver(fit(canvas.current, whole), scene, whole, ground, scratch);
    on.onPainted?.();
  }, [scene, ground, family]);
  const drawing = useDrawing(isArea ? on.onArea : undefined);
  const isChosen = Boolean(on.onChoose || on.onKey);
  return html`
    <div class=${`hs-picture ${kind}`} style=${{ width: `${wide}px`, height: `${tall}px` }}>
      <canvas
        role=${label && "img"}
        aria-label=${label}
        aria-hidden=${label ? undefined : "true"}
        tabindex=${isChosen ? "0" : undefined}
        ref=${canvas}
        onPointerDown=${drawing.begin}
        onPointerMove=${(event) => {
          if (!drawing.move(event) && event.pointerType === "mouse") on.onPoint?.(placeIn(event));
        }}
        onPointerUp=${drawing.end}
        onPointerCancel=${drawing.cancel}
        onPointerLeave=${() => on.onPoint?.(null)}
        onClick=${(event) => !drawing.isOver() && on.onChoose?.(placeIn(event))}
        onKeyDown=${on.onKey}
      />
      ${children}
    </div>
  `;
}

/**
 * @param {MouseEvent} event
 * @returns {Place}
 */
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

/**
 * An area's frame over the picture.
 *
 * @param {{sides: readonly number[]}} props
 */
export function Area({ sides: [left, top, right, bottom] }) {
  const [x, y, wide, tall] = [left, top, right - left, bottom - top].map((share) => `${100 * share}%`);
  return html`<i class="hs-area" aria-hidden="true" style=${{ left: x, top: y, width: wide, height: tall }} />`;
}

/**
 * The scale of the colours.
 *
 * @param {{scale: Scale, size: Pick<Fitted, "wide" | "unit" | "family">, theme: Theme}} props
 */
export function Ramp({ scale, size: { wide, unit, family }, theme }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const ratio = devicePixelRatio || 1;
  useLayoutEffect(() => {
    if (!canvas.current) return;
    const context = fit(canvas.current, { wide, tall: HIGH * unit });
    context.clearRect(0, 0, wide, HIGH * unit);
    paintRamp(context, scale, { wide, unit, family, colour: theme.muted });
  }, [scale, wide, unit, family, ratio, theme]);
  return html`<canvas class="hs-scale" aria-hidden="true" ref=${canvas} />`;
}
