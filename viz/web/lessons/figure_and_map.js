// From the lit part of the map into the figure of the lesson, and back out: by the part, by a button of
// the story, and by a key.

import { fly } from "./zoom.js";

/**
 * @typedef {object} StoryEntry a story on the page
 * @property {HTMLElement} place that takes the focus
 * @property {() => Element | undefined} picture
 * @property {() => void} enter brings the step shown to where it is read
 */

/** @type {StoryEntry | null} */
let story = null;
/** @type {HTMLElement | null} */
let map = null;
let inside = false; // whether the last way led into the figure

/**
 * Registers the story that the map opens.
 *
 * @param {StoryEntry} entry
 * @returns {() => void} unregisters it
 */
export function holdStory(entry) {
  story = entry;
  inside = false;
  return () => {
    if (story === entry) story = null;
  };
}

/**
 * Registers the map that focus returns to.
 *
 * @param {HTMLElement} root
 * @returns {() => void} unregisters it
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
