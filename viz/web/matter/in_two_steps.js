// Answers in two steps: every effect by attribution, then the largest in passes of their own.

import { setText } from "../core/dom.js";
import { capital } from "../core/labels.js";
import { pathOf } from "../core/sources.js";

/** @import {Base, ImageBase} from "../types" */
/** @import {ViewState} from "../core/state.js" */

/**
 * The nodes of a panel.
 *
 * @typedef {object} Nodes
 * @property {HTMLElement} wait what is waited for, or why there is no answer
 * @property {HTMLElement} waiting around it, with the button that stops
 * @property {HTMLElement} body of the answer
 * @property {{render: () => void}} stop
 */

/**
 * The better of both answers that is there, or null, which the panel explains.
 *
 * @template {object} A
 * @template {Base | ImageBase} B
 * @param {ViewState<B>} view
 * @param {string} key of the route
 * @param {Record<string, string | number>} asked
 * @param {string} top how many are computed exactly
 * @param {Nodes} nodes
 * @param {string} work that is waited for
 * @returns {A | null}
 */
export function inTwoSteps(view, key, asked, top, { wait, waiting, body, stop }, work) {
  const answerOf = (/** @type {Record<string, string | number>} */ query) =>
    /** @type {(A & {why?: undefined}) | {why: string} | null} */ (view.answer(key, pathOf(key, query)));
  const rough = answerOf(asked);
  const exact = rough && !("why" in rough) ? answerOf({ ...asked, top }) : null;
  const answer = exact ?? rough;
  const why = answer && "why" in answer ? capital(String(answer.why)) : "";
  setText(wait, exact && !why ? "" : why || view.waitingFor(key, work));
  stop.render();
  waiting.hidden = !wait.textContent;
  body.hidden = !answer || Boolean(why);
  return !answer || "why" in answer ? null : /** @type {A} */ (answer);
}
