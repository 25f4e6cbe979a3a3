// Who follows a presenter: where she is, where we are, and what brings us there. Nothing here knows
// the document; room.js does what `wanted` says.

/** @import {RoomLesson} from "../types" */
/** @import {ShownStep} from "../lessons/current_step.js" */

/**
 * @typedef {object} Following
 * @property {ShownStep | null} presenter what she shows; without steps where she shows a page alone
 * @property {string} page which is open here
 * @property {ShownStep | null} report the latest of a story here, maybe one of another page
 * @property {boolean} arrived whether we have been where she is since she went there
 * @property {boolean} wandering
 */

/** @type {Following} */
export const START = { presenter: null, page: "", report: null, arrived: false, wandering: false };

/**
 * What brings us to the presenter: a page to open or a step to ask for; null if we are there.
 *
 * @param {Following} state
 * @returns {{page: string} | {step: number} | null}
 */
export function towards({ presenter, page, report }) {
  if (!presenter) return null;
  if (page !== presenter.page) return { page: presenter.page };
  if (!presenter.steps) return null;
  const here = report?.page === page ? report : null;
  const step = here ? Math.min(presenter.step, here.steps - 1) : presenter.step;
  return here?.step === step ? null : { step };
}

/**
 * As `towards`; null while wandering.
 *
 * @param {Following} state
 */
export const wanted = (state) => (state.wandering ? null : towards(state));

/**
 * The state when the presenter has moved.
 *
 * @param {Following} state
 * @param {ShownStep} presenter
 */
export function presenterMoved(state, presenter) {
  const before = state.presenter;
  const same =
    before?.page === presenter.page &&
    before.step === presenter.step &&
    before.steps === presenter.steps;
  return same ? state : settled({ ...state, presenter, arrived: false });
}

/**
 * The state when we have moved: on our way to her, or away. A story that a request has scrolled may
 * report another step than it was asked for: that is nobody's wish.
 *
 * @param {Following} state
 * @param {Partial<Pick<Following, "page" | "report">>} change
 * @param {boolean} wished whether somebody here did it
 */
export function moved(state, change, wished) {
  const next = { ...state, ...change };
  const away = wished && state.arrived && !state.wandering && towards(next) !== null;
  return settled(away ? { ...next, wandering: true } : next);
}

/** @param {Following} state */
export const wander = (state) => ({ ...state, wandering: true });

/** @param {Following} state */
export const comeBack = (state) => settled({ ...state, wandering: false, arrived: false });

/**
 * @param {Following} state
 * @returns {Following}
 */
function settled(state) {
  return state.arrived || towards(state) ? state : { ...state, arrived: true };
}

/**
 * What the presenter shows: the page with the step of its story; null if the page is no lesson.
 *
 * @param {string} page which is open
 * @param {ShownStep | null} report the latest of a story
 * @param {RoomLesson[]} lessons
 * @returns {ShownStep | null}
 */
export function presented(page, report, lessons) {
  if (!lessons.some(({ name }) => name === page)) return null;
  return report?.page === page ? report : { page, step: 0, steps: 0, figure: "" };
}

/**
 * “lesson 4, step 3 of 6”.
 *
 * @param {ShownStep} place
 * @param {RoomLesson[]} lessons
 */
export function placeOf({ page, step, steps }, lessons) {
  const lesson = `lesson ${lessons.findIndex(({ name }) => name === page) + 1}`;
  return steps ? `${lesson}, step ${step + 1} of ${steps}` : lesson;
}

/**
 * The link that followers open.
 *
 * @param {string} protocol
 * @param {string} host
 * @param {string} page
 * @param {string} code
 */
export const linkOf = (protocol, host, page, code) => `${protocol}//${host}/${page}?room=${code}`;

/**
 * The rows of a chart of answers: each choice with its count, and its share in percent.
 *
 * @param {string[]} choices
 * @param {number[]} counts
 */
export function barsOf(choices, counts) {
  const all = counts.reduce((sum, count) => sum + count, 0);
  return choices.map((label, i) => ({
    label,
    count: counts[i],
    percent: all ? Math.round((100 * counts[i]) / all) : 0,
  }));
}
