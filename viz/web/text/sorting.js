// The order of the thumbnails, and the numbers by which heads are left out.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { measureSelect, showLine } from "./measures.js";
import { conditionOf, rankOf } from "./numbers.js";

/** @import {Measure} from "../types" */
/** @import {TextState} from "./state.js" */

const FIRST = ["induction", "previous token"]; // of the filter, where it is defined
/** @type {Measure} */
const LAYERS = {
  ...{ key: "", title: "Layer and head", formula: "", source: "", low: null, high: null },
  about: "A row for each layer, a column for each head.",
};

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function sort(state, parent) {
  const by = measureSelect("Sort by", "Sort the thumbnails by", (key) =>
    state.select(key ? { arrangement: "rank", rank: key } : { arrangement: "layers" }),
  );
  const turn = button("", "", () => {
    const { key, least } = rankOf(state.selection.rank);
    state.select({ rank: `${least ? "" : "-"}${key}` });
  });
  const which = measureSelect("Filter", "Number to filter by", (key) => {
    filtered = key;
    showFilter();
    text.focus();
  });
  const text = element("input", "hs-filter", {
    ...{ type: "text", placeholder: "> 0.3", maxlength: "24", spellcheck: "false" },
    autocomplete: "off",
  });
  const wait = element("p", "hs-sentence", { role: "status" });
  const filter = element("span", "hs-sort-filter", {}, which.box, text);
  const row = element("div", "hs-row", {}, by.box, turn, filter);
  const box = element("details", "hs-sorting", {}, element("summary", "", {}, "Sort and filter"));
  box.append(wait, row);
  parent.append(box);

  let filtered = ""; // the number in the filter
  const arranged = changes();
  const listed = changes();
  box.ontoggle = () => state.changed();
  text.oninput = () => state.filter({ [filtered]: text.value });

  /** The condition on the number that is chosen, which may come from another view. */
  function showFilter() {
    const condition = state.conditions.get(filtered) ?? "";
    if (condition.trim() !== text.value.trim()) text.value = condition;
    setAttribute(text, "aria-label", `Filter by ${which.title()}`);
    setAttribute(text, "aria-invalid", String(condition !== "" && !conditionOf(condition)));
  }

  function list(numbers) {
    const conditions = [...state.conditions.keys()].filter((key) => numbers.has(key));
    filtered = conditions.at(-1) ?? numbers.firstDefined(FIRST, state.spots());
    which.show(numbers.measures, filtered);
  }

  return {
    render() {
      const { arrangement, rank } = state.selection;
      if (arranged(arrangement) && arrangement === "rank") box.open = true;
      if (!box.open && arrangement !== "rank") return;
      const numbers = state.askNumbers();
      row.hidden = !numbers;
      showLine(wait, numbers ? "" : state.waitingFor("numbers", "Computing the numbers of every head"));
      if (!numbers) return;
      if (listed(numbers, state.group()[0])) list(numbers);
      const { key, least } = rankOf(rank);
      const sorted = arrangement === "rank" && numbers.has(key);
      by.show([LAYERS, ...numbers.measures.slice(1)], sorted ? key : "");
      turn.hidden = !sorted;
      setText(turn, least ? "Least first" : "Most first");
      turn.title = least ? "Show those with the most first" : "Show those with the least first";
      setAttribute(turn, "aria-label", `${least ? "Least first" : "Most first"}: ${turn.title}`);
      which.show(numbers.measures, filtered);
      showFilter();
    },
  };
}
