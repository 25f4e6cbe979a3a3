// The size of a picture on the page.

import { topOf } from "../core/dom.js";

const LARGEST = 560; // CSS pixels of the longer side
const LEAST = 320; // of its height
const SCALE = 44; // below it

/** @typedef {{wide: number, top: number, unit: number, family: string}} Space what the page gives */

/**
 * @param {HTMLElement} section whose letters they are
 * @param {HTMLElement} stage that the picture lies in
 * @returns {Space}
 */
export function spaceOf(section, stage) {
  const { fontSize, fontFamily: family } = getComputedStyle(section);
  const top = Math.round(topOf(stage));
  return { wide: stage.clientWidth, top, unit: parseFloat(fontSize) / 16, family };
}

/**
 * The size at which the whole picture, with its scale, is in sight before anything is scrolled.
 *
 * @param {Space} space
 * @param {ImageBitmap} bitmap
 */
export function fitted(space, { width, height }) {
  const tallest = Math.max(LEAST, Math.min(LARGEST, innerHeight - space.top - SCALE));
  const zoom = Math.min(Math.min(space.wide, LARGEST) / width, tallest / height);
  return { ...space, wide: Math.round(width * zoom), tall: Math.round(height * zoom) };
}
