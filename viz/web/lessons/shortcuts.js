// Lets keys move through a lesson and press its links.

import { moveStep } from "./current_step.js";
import { followChanges } from "./follow_changes.js";

/** @type {Record<string, string>} */
const PRESSES = {
  n: ".st-key-lesson_next a",
  p: ".st-key-lesson_previous a",
};
// where a key has a meaning of its own: typing, moving a slider, choosing, walking through a picture
const INTERACTIVE =
  "input, textarea, select, [contenteditable=true], [role=slider], [role=radio], [role=tab]," +
  " [role=option], [role=menuitem], .js-plotly-plot, canvas";
/** @type {Record<string, number>} arrow keys, and those of a clicker */
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
let listening = false;

/**
 * The listener stays: between two lessons there is a moment without this component, and a key that
 * is pressed then would be lost. On other pages there is nothing that it could press.
 */
export function mount() {
  if (!listening) {
    listening = true;
    document.addEventListener("keydown", pressed);
    document.documentElement.dataset.lessonKeys = "on";
  }
  return { update() {}, destroy() {} };
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const from = event.composedPath()[0];
  if (from instanceof Element && from.closest(INTERACTIVE)) return;
  const by = MOVES[event.key];
  if (by) {
    if (moveStep(by)) event.preventDefault();
    return;
  }
  const wanted = PRESSES[event.key] ?? PRESSES[event.key.toLowerCase()];
  if (!wanted) return;
  const target = document.querySelector(wanted);
  if (!target) pressSoon(wanted);
  else if (press(target)) event.preventDefault();
}

/** Whether it could be pressed. */
function press(target) {
  if (!(target instanceof HTMLElement) || target.matches(":disabled")) return false;
  target.click();
  return true;
}

/**
 * A key pressed while the lesson is being drawn, its title there and its links not yet, waits for
 * what it presses, unless the reader does something else.
 */
function pressSoon(wanted) {
  followChanges(document.body, (stop) => {
    const target = document.querySelector(wanted);
    if (!target) return;
    stop();
    press(target);
  });
}
