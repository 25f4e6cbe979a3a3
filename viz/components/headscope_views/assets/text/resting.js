// Where over half of a head's weight rests on one token: says so, and offers the matrix without it.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, quoted } from "../core/dom.js";

/** @import {TextState} from "./state.js" */

const MOST = 0.5; // of a row, on average; as in analysis/sinks.py

/**
 * The token that takes over half of a head's weight, and the share: the mean over the rows that see
 * it, which are at least half of all. Null where there is none, or while the weights of single tokens
 * are not known.
 *
 * @param {TextState} state
 * @returns {{key: number, share: number} | null}
 */
export function restingOn(state) {
  const { site, head } = state.selection;
  if (head === "max" || state.variant().values !== "weights") return null;
  const { queries, keys } = state.site();
  const weights = state.maps.window(site, head, [0, queries], [0, keys]);
  if (!weights) return null;
  /** @type {{key: number, share: number} | null} */
  let most = null;
  for (let key = 0; key < keys; key++) {
    let [total, seen] = [0, 0];
    for (let at = key; at < weights.length; at += keys) {
      total += weights[at];
      if (weights[at] > 0) seen += 1;
    }
    if (2 * seen < queries || total <= MOST * seen) continue;
    if (!most || total > most.share * seen) most = { key, share: total / seen };
  }
  return most;
}

/**
 * A button, Without “[CLS]”, to stand after a sentence about the matrix; and the way back.
 *
 * @param {TextState} state
 */
export function restingOffer(state) {
  const without = button("", "", () => state.select({ sinks: "hidden" }));
  const back = button("Show all tokens", "Show the tokens again on which heads of this layer rest", () =>
    state.select({ sinks: "shown" }),
  );
  back.removeAttribute("aria-label");
  const box = element("span", "hs-offer", {}, without, back);
  const stale = changes();
  return {
    box,
    render() {
      const { site, head, sinks } = state.selection;
      if (!stale(state.trace, site, head, sinks, state.variant().values, state.parts(site, head))) return;
      const resting = sinks === "shown" ? restingOn(state) : null;
      without.hidden = !resting;
      back.hidden = sinks === "shown";
      box.hidden = without.hidden && back.hidden;
      if (!resting) return;
      const share = `${(100 * resting.share).toFixed(0)} % of the weight rests on this token.`;
      without.title = `${share} Hide it, and those on which other heads of this layer rest`;
      without.removeAttribute("aria-label");
      without.replaceChildren("Without ", ...quoted(state.texts().key.labels[resting.key].trim()));
    },
  };
}
