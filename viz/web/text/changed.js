// Where edits changed a weight most, and the way there.

import { button } from "../core/bar.js";
import { element, quoted } from "../core/dom.js";

/** @import {TextState} from "./state.js" */

/** @typedef {{site: number, head: number, query: number, key: number, change: number}} Changed */

/**
 * A line to stand after the sentence about a matrix of differences.
 *
 * @param {TextState} state
 */
export function changedOffer(state) {
  const words = element("span");
  const show = button("Show it", "Show the head and the token whose weight the edits changed most", () => {
    const change = changed();
    if (change && "site" in change)
      state.select({ site: change.site, head: change.head, token: change.query, direction: "out" });
  });
  show.removeAttribute("aria-label");
  const box = element("span", "hs-offer", {}, words, show);
  box.hidden = true;

  const changed = () =>
    /** @type {Changed | Record<string, never> | {why: string} | null} */ (state.view.answer("changed", "changed"));

  return {
    box,
    render() {
      const asks = state.variant().values === "difference" && state.view.remote;
      const change = asks ? changed() : null;
      box.hidden = !change || "why" in change;
      if (!asks) state.view.forget("changed");
      if (!change || box.hidden) return;
      const { site, head } = state.selection;
      const hasChange = "site" in change;
      show.hidden = !hasChange || (change.site === site && change.head === head);
      if (!hasChange) return words.replaceChildren(" The edits changed no weight.");
      const { query, key } = state.labels(change.site);
      const amount = `${change.change > 0 ? "+" : "−"}${Math.abs(change.change).toFixed(3)}`;
      words.replaceChildren(
        ` Most changed: ${state.siteName(change.site)}, head ${change.head}, `,
        ...quoted(query[change.query].trim()),
        " → ",
        ...quoted(key[change.key].trim()),
        ` ${amount} `,
      );
    },
  };
}
