// What the chosen head does over corpora that the same model has read, beside what it does here.

import { changes } from "./changes.js";
import { element } from "./dom.js";
import { pathOf } from "./sources.js";

/** @import {Corpora, Panel, Selection} from "../types" */

/**
 * @param {{view: import("./state.js").State<any>, selection: Selection}} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function overCorpora(state, parent) {
  const box = element("div", "hs-over-corpora", { "aria-live": "polite" });
  box.hidden = true;
  parent.append(box);
  const changed = changes();
  return {
    late: true,
    render() {
      const { view, selection } = state;
      const { site, head } = selection;
      const path = typeof head === "number" && view.remote ? pathOf("corpora", { site, head }) : "";
      const answer = path ? /** @type {Corpora | null} */ (view.answer("corpora", path)) : null;
      if (path && !answer) return; // what it says of the head before stays for the moment
      if (!changed(answer)) return;
      const lines = answer?.corpora ?? [];
      box.hidden = !lines.length;
      box.replaceChildren(
        ...lines.map(({ sentence, link }) =>
          element("p", "hs-sentence", {}, `${sentence} `, element("a", "", { href: link }, "This head over the corpus")),
        ),
      );
    },
  };
}
