// Lets keys move through a lesson and press its links, and brings what a button has set into view.

import { moveStep } from "./current_step.js";
import { toggleFigure } from "./figure_and_map.js";
import { followChanges, followPage } from "./follow_changes.js";

/** @type {Record<string, string>} */
const PRESSES = {
  n: ".st-key-lesson_next a",
  p: ".st-key-lesson_previous a",
};
// where a key has a meaning of its own: typing, moving a slider, choosing, walking through a picture
const OWN =
  "input, textarea, select, [contenteditable=true], [role=slider], [role=radio], [role=tab]," +
  " [role=option], [role=menuitem], .js-plotly-plot, canvas";
/** @type {Record<string, number>} arrow keys, and those of a clicker */
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
const STEPS = "[class*='st-key-lesson_step_']";
let listening = false;

/**
 * @typedef {object} KeysProps
 * @property {string} page the lesson
 * @property {number} revision of its controls
 * @property {string[]} show the settings that began this revision, whose controls come into view
 */

/**
 * The listener stays: between two lessons there is a moment without this component, and a key that
 * is pressed then would be lost. On other pages there is nothing that it could press.
 *
 * @param {HTMLElement} _root
 * @param {KeysProps} props
 */
export function mount(_root, props) {
  if (!listening) {
    listening = true;
    document.addEventListener("keydown", pressed);
    document.documentElement.dataset.lessonKeys = "on";
  }
  let { page, revision } = props;
  let stop = () => {};
  /** @param {KeysProps} next */
  const update = (next) => {
    if (next.page === page && next.revision === revision) return;
    ({ page, revision } = next);
    stop();
    stop = next.show.length ? showFirst(next) : () => {};
  };
  return { update, destroy: () => stop() };
}

/**
 * What has changed may be far above the button that changed it: its first control comes into view,
 * and stays there while the page grows or shrinks, unless the reader does something.
 *
 * @param {KeysProps} props
 */
function showFirst({ page, revision, show }) {
  const places = show.map((name) => `.st-key-${page}-${revision}-0-${name}`);
  return followPage(() => {
    const found = [...places, STEPS]
      .map((place) => document.querySelector(place))
      .find((place) => place?.getClientRects().length);
    if (!(found instanceof HTMLElement)) return;
    found.style.scrollMarginTop = "5.5rem"; // the bar lies over the top of the page
    found.scrollIntoView({ block: "start" });
  });
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const from = event.composedPath()[0];
  if (from instanceof Element && from.closest(OWN)) return;
  const by = MOVES[event.key];
  if (by) {
    if (moveStep(by)) event.preventDefault();
    return;
  }
  if (event.key.toLowerCase() === "m") {
    if (toggleFigure()) event.preventDefault();
    return;
  }
  const wanted = PRESSES[event.key] ?? PRESSES[event.key.toLowerCase()];
  if (!wanted) return;
  const found = document.querySelector(wanted);
  if (!found) pressSoon(wanted);
  else if (press(found)) event.preventDefault();
}

/**
 * @param {Element} target
 * @returns {boolean} whether it could be pressed
 */
function press(target) {
  if (!(target instanceof HTMLElement) || target.matches(":disabled")) return false;
  target.click();
  return true;
}

/**
 * A key pressed while the lesson is being drawn, its title there and its links not yet, waits for
 * what it presses, unless the reader does something else.
 *
 * @param {string} wanted
 */
function pressSoon(wanted) {
  followChanges(document.body, (stop) => {
    const found = document.querySelector(wanted);
    if (!found) return;
    stop();
    press(found);
  });
}
