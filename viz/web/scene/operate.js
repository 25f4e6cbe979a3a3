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
  /** @type {Mark["handle"] | undefined} */
  let held;
  let [pointed, focused] = ["", ""]; // keys of what the pointer and the focus are on
  const explain = () => tip(pointed || focused, !pointed && focused === scene.stop);

  function drag(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM()?.inverse());
    if (held) patch(held.move(at.x, at.y), true);
  }

  function drop() {
    if (held) patch({}, false);
    held = undefined;
  }

  function press(event) {
    const target = aimed(picture, event);
    const mark = markOf(target);
    if (mark?.press) patch(mark.press.patch, false);
    else if (mark?.edit) typeInto(around, target, mark.edit, { patch, refuse });
    else return;
    event.preventDefault();
  }

  /** Moves the focus from one explained number to the next, for who came to it by keyboard. */
  function walk(event, [dx, dy]) {
    if (keyOf(event) !== scene.stop || !event.target.matches(":focus-visible")) return false;
    scene.reach(scene.next(scene.stop, dx, dy))?.focus({ preventScroll: true });
    return true;
  }

  function key(event) {
    if (event.key === "Enter" || event.key === " ") return press(event);
    if (event.key === "Escape") {
      [pointed, focused] = ["", ""];
      return explain();
    }
    const arrow = ARROWS[event.key];
    const handle = arrow && markOf(event.target)?.handle;
    if (handle) patch(handle.nudge(...arrow), false);
    if (!handle && !(arrow && walk(event, arrow))) return;
    event.preventDefault();
    event.stopPropagation();
  }

  const listeners = {
    pointerdown(event) {
      const mark = markOf(event.target);
      if (!mark?.handle || event.button !== 0) return;
      held = mark.handle;
      event.target.focus({ preventScroll: true });
      picture.setPointerCapture(event.pointerId);
      event.preventDefault();
      if (held.taps) drag(event);
    },
    pointermove: drag,
    pointerup: drop,
    pointercancel: drop,
    // a finger that is lifted leaves at once: what it tapped has the focus
    pointerover(event) {
      if (event.pointerType === "touch") return;
      pointed = markOf(event.target)?.tip ? keyOf(event) : "";
      explain();
    },
    pointerleave() {
      pointed = "";
      explain();
    },
    focusin(event) {
      [pointed, focused] = ["", keyOf(event)];
      scene.reach(focused);
      explain();
    },
    focusout() {
      focused = "";
      explain();
    },
    click: press,
    keydown: key,
  };
  const end = new AbortController();
  for (const [name, listener] of Object.entries(listeners))
    picture.addEventListener(name, listener, { signal: end.signal });
  return () => end.abort();
}

/** What is pressed: what the pointer is on, or for a finger beside it the nearest within reach. */
function aimed(picture, event) {
  const mark = markOf(event.target);
  if (mark?.press || mark?.edit || mark?.tip || event.pointerType !== "touch") return event.target;
  const far = (node) => distanceTo(node.getBoundingClientRect(), event);
  const near = [...picture.querySelectorAll("[role=button]")].filter((node) => far(node) <= REACH);
  return near.sort((a, b) => far(a) - far(b))[0] ?? event.target;
}

/** A field over a cell. */
function typeInto(around, target, edit, { patch, refuse }) {
  const [cell, box] = [target.getBoundingClientRect(), around.getBoundingClientRect()];
  const field = element("input", "story-cell", {
    type: "text",
    inputmode: "decimal",
    "aria-label": edit.label,
  });
  const before = String(Number(edit.value.toFixed(4)));
  field.value = before;
  const [left, top, width] = [cell.left - box.left, cell.top - box.top, Math.max(44, cell.width)];
  field.style.cssText = `left: ${left}px; top: ${top}px; width: ${width}px; height: ${cell.height}px`;
  let isOver = false;
  const finish = (/** @type {boolean} */ take) => {
    if (isOver) return;
    isOver = true;
    const text = field.value.trim().replace(",", ".").replace("−", "-");
    field.remove();
    target.focus({ preventScroll: true });
    if (!take || field.value === before) return;
    if (text && Number.isFinite(Number(text))) patch(edit.apply(Number(text)), false);
    else refuse(`Expected a number, received “${field.value.slice(0, 20)}”.`);
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" || event.key === "Escape") finish(event.key === "Enter");
  });
  field.addEventListener("blur", () => finish(true));
  around.append(field);
  field.focus();
  field.select();
}

/** From a box to a point outside it. @type {(box: DOMRect, point: PointerEvent) => number} */
const distanceTo = ({ left, right, top, bottom }, { clientX: x, clientY: y }) =>
  Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));

function markOf(at) {
  const target = at instanceof Element ? at.closest("[data-key]") : null;
  return target ? /** @type {MarkElement} */ (target).mark : undefined;
}

const keyOf = (event) => markOf(event.target)?.key ?? "";
