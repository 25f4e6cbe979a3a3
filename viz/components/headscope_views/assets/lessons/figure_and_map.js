// From the lit part of the map into the figure of the lesson, and back out: by the part, by a button of
// the story, and by a key.

import { fly } from "./zoom.js";

/**
 * @typedef {object} Shown a story on the page
 * @property {HTMLElement} place that takes the focus
 * @property {() => Element | undefined} picture
 * @property {() => void} enter brings the step shown to where it is read
 */

/** @type {Shown | null} */
let story = null;
/** @type {HTMLElement | null} */
let map = null;
let inside = false; // whether the last way led into the figure

/**
 * Makes a story the one that is entered.
 *
 * @param {Shown} shown
 * @returns {() => void} ends it
 */
export function holdStory(shown) {
  story = shown;
  inside = false;
  return () => {
    if (story === shown) story = null;
  };
}

/**
 * Makes a map the one that is left to.
 *
 * @param {HTMLElement} root
 * @returns {() => void} ends it
 */
export function holdMap(root) {
  map = root;
  return () => {
    if (map === root) map = null;
  };
}

const litPart = () => /** @type {SVGElement | null | undefined} */ (map?.querySelector(".hs-map-part.lit"));

/**
 * From a part of the map into the figure.
 *
 * @param {Element | null} [part] the first one that is lit by default
 * @returns {boolean} whether there is a figure
 */
export function enterFigure(part = litPart()) {
  const picture = story?.picture();
  if (!story || !picture || !part) return false;
  const from = part.getBoundingClientRect();
  story.enter();
  inside = true;
  story.place.focus({ preventScroll: true });
  fly(picture, from, picture.getBoundingClientRect());
  return true;
}

/**
 * From the figure back out to its part of the map.
 *
 * @returns {boolean} whether there is a map with a lit part
 */
export function leaveFigure() {
  const [picture, part] = [story?.picture(), litPart()];
  if (!story || !picture || !part) return false;
  const from = picture.getBoundingClientRect();
  const fold = part.closest("details");
  if (fold) fold.open = true;
  part.scrollIntoView({ block: "center" });
  part.focus({ preventScroll: true });
  inside = false;
  fly(picture, from, part.getBoundingClientRect());
  return true;
}

/** Into the figure, or back out if that was the last way. */
export const toggleFigure = () => (inside ? leaveFigure() : enterFigure());
