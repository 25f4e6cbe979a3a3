// Which step of which lesson is shown: the story reports it, and a key may ask for another one.

/** @typedef {(page: string, step: number) => void} Listener steps count from 0 */

/** @type {Set<Listener>} */
const stories = new Set();
/** @type {{page: string, step: number, steps: number} | null} */
let latest = null;

/**
 * Reports the step a lesson shows.
 *
 * @param {string} page
 * @param {number} step
 * @param {number} steps how many there are
 */
export function reportStep(page, step, steps) {
  latest = { page, step, steps };
}

/**
 * Calls a listener with every step that is asked for.
 *
 * @param {Listener} listener
 * @returns {() => void} ends it
 */
export function onRequest(listener) {
  stories.add(listener);
  return () => stories.delete(listener);
}

/**
 * Asks the story on the page for the step before or after the one it shows.
 *
 * @param {number} by −1 or 1
 * @returns {boolean} whether there is one
 */
export function moveStep(by) {
  if (!stories.size || !latest) return false;
  const { page, steps } = latest;
  const step = latest.step + by;
  if (step < 0 || step >= steps) return false;
  for (const story of stories) story(page, step);
  return true;
}
