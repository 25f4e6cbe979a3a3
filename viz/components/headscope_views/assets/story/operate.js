// Pointer and keys on a figure: dragging handles, pressing, typing numbers, and tips.

import { element } from "../core/dom.js";

/** @import {Mark, Patch} from "../types" */
/** @import {MarkElement} from "./scene.js" */

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @typedef {object} Actions
 * @property {(patch: Patch, dragged: boolean) => void} patch
 * @property {(text: string) => void} tip
 * @property {(reason: string) => void} refuse
 */

/**
 * @param {SVGSVGElement} picture
 * @param {HTMLElement} around what a field for a number is put into
 * @param {Actions} actions
 * @returns {() => void} ends it
 */
export function operate(picture, around, { patch, tip, refuse }) {
  const end = new AbortController();
  const { signal } = end;
  /** @type {Mark["handle"] | undefined} */
  let held;

  /** @param {PointerEvent} event */
  const point = (event) => {
    const matrix = picture.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    return /** @type {[number, number]} */ ([at.x, at.y]);
  };

  picture.addEventListener("pointerdown", (event) => {
    const mark = markOf(event);
    if (!mark?.handle || event.button !== 0) return;
    held = mark.handle;
    const target = /** @type {SVGElement} */ (event.target);
    target.focus({ preventScroll: true });
    picture.setPointerCapture(event.pointerId);
    event.preventDefault();
  }, { signal });
  picture.addEventListener("pointermove", (event) => held && patch(held.move(...point(event)), true), { signal });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"]))
    picture.addEventListener(name, () => {
      if (held) patch({}, false);
      held = undefined;
    }, { signal });

  for (const name of /** @type {const} */ (["pointerover", "focusin"]))
    picture.addEventListener(name, (event) => tip(markOf(event)?.tip ?? ""), { signal });
  picture.addEventListener("pointerleave", () => tip(""), { signal });

  /** @param {Event} event */
  function press(event) {
    const mark = markOf(event);
    if (mark?.press) patch(mark.press.patch, false);
    else if (mark?.edit) type(/** @type {SVGElement} */ (event.target), mark.edit);
    else return;
    event.preventDefault();
  }
  picture.addEventListener("click", press, { signal });
  picture.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") return press(event);
    const handle = markOf(event)?.handle;
    const arrow = ARROWS[event.key];
    if (!handle || !arrow) return;
    patch(handle.nudge(...arrow), false);
    event.preventDefault();
    event.stopPropagation();
  }, { signal });

  /**
   * A field over a cell.
   *
   * @param {SVGElement} target
   * @param {NonNullable<Mark["edit"]>} edit
   */
  function type(target, edit) {
    const [cell, box] = [target.getBoundingClientRect(), around.getBoundingClientRect()];
    const field = element("input", "story-cell", { type: "text", inputmode: "decimal", "aria-label": edit.label });
    const before = String(Number(edit.value.toFixed(4)));
    field.value = before;
    Object.assign(field.style, {
      left: `${cell.left - box.left}px`,
      top: `${cell.top - box.top}px`,
      width: `${Math.max(44, cell.width)}px`,
      height: `${cell.height}px`,
    });
    let over = false;
    const finish = (/** @type {boolean} */ take) => {
      if (over) return;
      over = true;
      const text = field.value.trim().replace(",", ".").replace("−", "-");
      const value = Number(text);
      field.remove();
      target.focus({ preventScroll: true });
      if (!take || field.value === before) return;
      if (!text || !Number.isFinite(value)) refuse(`Expected a number, received “${field.value.slice(0, 20)}”.`);
      else patch(edit.apply(value), false);
    };
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") finish(true);
      if (event.key === "Escape") finish(false);
    });
    field.addEventListener("blur", () => finish(true));
    around.append(field);
    field.focus();
    field.select();
  }

  return () => end.abort();
}

/**
 * @param {Event} event
 * @returns {Mark | undefined}
 */
function markOf(event) {
  const target = event.target instanceof Element ? event.target.closest("[data-key]") : null;
  return target ? /** @type {MarkElement} */ (target).mark : undefined;
}
