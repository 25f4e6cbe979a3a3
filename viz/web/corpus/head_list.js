// Heads that were looked for, the most fitting first, as a list with bars.

import { changes } from "../core/changes.js";
import { element, setAttribute } from "../core/dom.js";

/** @import {CorpusHeads} from "../types" */
/** @import {CorpusState} from "./state.js" */

/**
 * @param {CorpusState} state
 * @param {(value: number) => string} text of a head's value
 */
export function headList(state, text) {
  const box = element("ol", "hs-finder-list");
  const listed = changes();
  const marked = changes();
  /** @type {CorpusHeads["heads"]} */
  let heads = [];

  function row({ site, head, value }, top) {
    const line = element("span", "hs-bar-line", { "aria-hidden": "true" });
    line.style.setProperty("--share", `${(100 * Math.max(0, value)) / top}%`);
    const name = `${state.siteName(site)} · ${state.headName(head, site)}`;
    const number = element("span", "hs-bar-number", {}, text(value));
    const node = element("button", "hs-finder-row", { type: "button" });
    node.append(element("span", "", {}, name), line, number);
    node.title = state.numbers?.sentence({ site, head }) ?? "";
    node.onclick = () => state.select({ site, head });
    return element("li", "", {}, node);
  }

  function show(answer) {
    const { site, head } = state.selection;
    if (listed(answer)) {
      heads = answer?.heads ?? [];
      const top = Math.max(1e-9, ...heads.map(({ value }) => value));
      box.replaceChildren(...heads.map((each) => row(each, top)));
      marked(null);
    }
    if (!marked(site, head)) return;
    [...box.children].forEach((item, i) => {
      const chosen = heads[i].site === site && heads[i].head === head;
      setAttribute(/** @type {Element} */ (item.firstChild), "aria-pressed", String(chosen));
    });
  }

  return { box, show };
}
