// What the chosen head does over corpora that the same model has read, beside what it does here.

import { changes } from "./changes.js";
import { element } from "./dom.js";
import { intervalOf } from "./interval.js";
import { pathOf } from "./sources.js";

/** @import {Corpora, Panel, Selection} from "../types" */

/**
 * @param {{view: import("./state.js").State<any>, selection: Selection}} state
 * @param {HTMLElement} parent
 * @param {HTMLElement} [line] what says what the head does here: a link to the largest corpus follows
 * @returns {Panel}
 */
export function overCorpora(state, parent, line) {
  const box = element("div", "hs-over-corpora", { "aria-live": "polite" });
  box.hidden = true;
  parent.append(box);
  const short = element("a", "hs-over-short");
  line?.append(short);
  const changed = changes();
  return {
    late: true,
    render() {
      const { view, selection } = state;
      const { site, head } = selection;
      line?.classList.toggle("hs-of-corpora", view.remote);
      const path = typeof head === "number" && view.remote ? pathOf("corpora", { site, head }) : "";
      const answer = path ? /** @type {Corpora | null} */ (view.answer("corpora", path)) : null;
      if (path && !answer) return; // what it says of the head before stays for the moment
      if (!changed(answer)) return;
      const lines = answer?.corpora ?? [];
      box.hidden = !lines.length;
      short.hidden = !lines.length;
      if (lines.length) {
        const { link, about, inputs, title, mean } = lines[0];
        const number = title && mean ? `: ${title} ${intervalOf(mean)}` : "";
        short.textContent = `Over ${inputs.toLocaleString("en")} texts${number}`;
        short.href = link;
        short.title = about;
      }
      box.replaceChildren(
        ...lines.map(({ sentence, about, link }) =>
          element(
            "p",
            "hs-sentence",
            {},
            `${sentence} `,
            element("a", "", { href: link, title: about }, "This head over the corpus"),
          ),
        ),
      );
    },
  };
}
