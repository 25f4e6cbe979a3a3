// Pointer and keys on a figure: dragging handles, pressing, typing numbers, and tips.

import { element } from "../core/dom.js";

/** @import {Mark, Patch} from "../types" */
/** @import {MarkElement, Scene} from "./scene.js" */

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const REACH = 8; // CSS pixels between a finger and what it presses

/**
 * @typedef {object} Actions
 * @property {(patch: Patch, dragged: boolean) => void} patch
 * @property {(key: string, named: boolean) => void} tip what explains itself; `named` if its sum is its name
 * @property {(reason: string) => void} refuse
 */

/**
 * @param {Scene} scene
 * @param {HTMLElement} around what a field for a number is put into
 * @param {Actions} actions
 * @returns {() => void} ends it
 */
export function operate(scene, around, { patch, tip, refuse }) {
  const picture = scene.root;
  const end = new AbortController();
  const { signal } = end;
  /** @type {Mark["handle"] | undefined} */
  let held;
  let [pointed, focused] = ["", ""]; // keys of what the pointer and the focus are on

  const point = (event) => {
    const matrix = picture.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix?.inverse());
    return /** @type {[number, number]} */ ([at.x, at.y]);
  };

  picture.addEventListener(
    "pointerdown",
    (event) => {
      const mark = markOf(event.target);
      if (!mark?.handle || event.button !== 0) return;
      held = mark.handle;
      const target = /** @type {SVGElement} */ (event.target);
      target.focus({ preventScroll: true });
      picture.setPointerCapture(event.pointerId);
      event.preventDefault();
      if (held.taps) patch(held.move(...point(event)), true);
    },
    { signal },
  );
  picture.addEventListener("pointermove", (event) => held && patch(held.move(...point(event)), true), {
    signal,
  });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"]))
    picture.addEventListener(
      name,
      () => {
        if (held) patch({}, false);
        held = undefined;
      },
      { signal },
    );

  // a finger that is lifted leaves at once: what it tapped has the focus
  picture.addEventListener(
    "pointerover",
    (event) => {
      if (event.pointerType === "touch") return;
      pointed = markOf(event.target)?.tip ? keyOf(event) : "";
      explain();
    },
    { signal },
  );
  picture.addEventListener(
    "pointerleave",
    () => {
      pointed = "";
      explain();
    },
    { signal },
  );
  picture.addEventListener(
    "focusin",
    (event) => {
      [pointed, focused] = ["", keyOf(event)];
      scene.reach(focused);
      explain();
    },
    { signal },
  );
  picture.addEventListener(
    "focusout",
    () => {
      focused = "";
      explain();
    },
    { signal },
  );

  const explain = () => tip(pointed || focused, !pointed && focused === scene.stop);

  /** What is pressed: what the pointer is on, or for a finger beside it the nearest within reach. */
  function aimed(event) {
    const mark = markOf(event.target);
    if (
      mark?.press ||
      mark?.edit ||
      mark?.tip ||
      !(event instanceof PointerEvent) ||
      event.pointerType !== "touch"
    )
      return event.target;
    const [near] = [...picture.querySelectorAll("[role=button]")]
      .map((node) => ({ node, far: distanceTo(node.getBoundingClientRect(), event) }))
      .filter(({ far }) => far <= REACH)
      .sort((a, b) => a.far - b.far);
    return near?.node ?? event.target;
  }

  function press(event) {
    const target = aimed(event);
    const mark = markOf(target);
    if (mark?.press) patch(mark.press.patch, false);
    else if (mark?.edit) type(/** @type {SVGElement} */ (target), mark.edit);
    else return;
    event.preventDefault();
  }
  picture.addEventListener("click", press, { signal });
  picture.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Enter" || event.key === " ") return press(event);
      if (event.key === "Escape") {
        [pointed, focused] = ["", ""];
        return explain();
      }
      const arrow = ARROWS[event.key];
      if (!arrow || !(moved(event, arrow) || walked(event, arrow))) return;
      event.preventDefault();
      event.stopPropagation();
    },
    { signal },
  );

  /**
   * Moves the handle that has the focus.
   *
   * @param {KeyboardEvent} event
   * @param {[number, number]} arrow
   */
  function moved(event, arrow) {
    const handle = markOf(event.target)?.handle;
    if (handle) patch(handle.nudge(...arrow), false);
    return handle;
  }

  /**
   * Moves the focus from one explained number to the next, for who came to it by keyboard.
   *
   * @param {KeyboardEvent} event
   * @param {[number, number]} arrow
   */
  function walked(event, arrow) {
    if (keyOf(event) !== scene.stop || !(/** @type {Element} */ (event.target).matches(":focus-visible")))
      return false;
    const next = scene.reach(scene.next(scene.stop, ...arrow));
    next?.focus({ preventScroll: true });
    return true;
  }

  /** A field over a cell. */
  function type(target, edit) {
    const [cell, box] = [target.getBoundingClientRect(), around.getBoundingClientRect()];
    const field = element("input", "story-cell", {
      type: "text",
      inputmode: "decimal",
      "aria-label": edit.label,
    });
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
      if (!text || !Number.isFinite(value))
        refuse(`Expected a number, received “${field.value.slice(0, 20)}”.`);
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

/** From a box to a point outside it. @type {(box: DOMRect, point: PointerEvent) => number} */
const distanceTo = ({ left, right, top, bottom }, { clientX: x, clientY: y }) =>
  Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));

function markOf(at) {
  const target = at instanceof Element ? at.closest("[data-key]") : null;
  return target ? /** @type {MarkElement} */ (target).mark : undefined;
}

const keyOf = (event) => markOf(event.target)?.key ?? "";
