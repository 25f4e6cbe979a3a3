// Answers in two steps: every effect by attribution, then the largest in passes of their own.

import { useAnswer } from "../core/hooks.js";
import { pathOf } from "../core/sources.js";

/**
 * The better of both answers that is there.
 *
 * @param {import("../core/state.js").State<any>} view
 * @param {string} slot the route, too
 * @param {Record<string, string | number | undefined> | null} asked null asks nothing
 * @param {string} top how many are computed exactly
 * @param {string} doing
 * @returns {{answer: any, reason: string}}
 */
export function useTwoSteps(view, slot, asked, top, doing) {
  const rough = asked && pathOf(slot, asked);
  const first = /** @type {{why?: string} | null} */ (rough && view.answer(slot, rough));
  const isExact = first && first.why === undefined;
  const { answer, reason, isRefused } = useAnswer(
    view,
    slot,
    isExact ? pathOf(slot, { ...asked, top }) : rough,
    doing,
  );
  return { answer: answer ?? (isExact && !isRefused ? first : null), reason };
}
