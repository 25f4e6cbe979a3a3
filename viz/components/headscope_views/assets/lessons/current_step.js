// Which step of which lesson is shown: the story reports it, and others may ask for another one.

/** @typedef {{text: string, choices: string[]}} Asked a question as it is read on the screen */
/** @typedef {{page: string, step: number, steps: number, figure: string, asked?: () => Asked | null}} ShownStep steps count from 0; the figure's inputs as in a link; the step's question, if any */
/** @typedef {{page: string, step: number, figure?: string}} WantedStep */

/** @type {Set<(step: ShownStep) => void>} */
const readers = new Set();
/** @type {Set<(wanted: WantedStep) => void>} */
const stories = new Set();
/** @type {ShownStep | null} */
let latest = null;

/**
 * Reports the step a lesson shows.
 *
 * @param {string} page
 * @param {number} step
 * @param {number} steps how many there are
 * @param {string} [figure] its inputs
 * @param {() => Asked | null} [asked] the question of the step
 */
export function reportStep(page, step, steps, figure = "", asked) {
  if (latest?.page === page && latest.step === step && latest.steps === steps && latest.figure === figure) return;
  latest = { page, step, steps, figure, asked };
  for (const reader of readers) reader(latest);
}

/**
 * Calls a listener with the step shown now, if there is one, and with every later one.
 *
 * @param {(step: ShownStep) => void} listener
 * @returns {() => void} ends it
 */
export function onStep(listener) {
  readers.add(listener);
  if (latest) listener(latest);
  return () => readers.delete(listener);
}

/**
 * Asks the story on the page to show a step.
 *
 * @param {string} page
 * @param {number} step
 * @param {string} [figure] the inputs of its figure; those that it has if left out
 */
export function requestStep(page, step, figure) {
  for (const story of stories) story({ page, step, figure });
}

/**
 * Calls a listener with every step that is asked for.
 *
 * @param {(wanted: WantedStep) => void} listener
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
  const step = latest.step + by;
  if (step < 0 || step >= latest.steps) return false;
  requestStep(latest.page, step);
  return true;
}
