// What differs most between two runs: a list of heads with a number in both.

import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { intervalOf } from "../core/interval.js";
import { signed } from "../core/ticks.js";
import { measureSelect, showLine } from "../text/measures.js";
import { counted } from "./words.js";

/** @import {Measure, Panel} from "../types" */
/** @import {CorpusState} from "./state.js" */

/** @type {Measure} */
const ALL = { key: "", title: "Any share of weight", formula: "", source: "", low: 0, high: 1, about: "All numbers from 0 to 1." };

/**
 * @param {CorpusState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function compare(state, parent) {
  let number = "";
  const choice = measureSelect("Number", "Number that differs", (key) => {
    number = key;
    state.changed();
  });
  const wait = element("p", "hs-sentence", { role: "status" });
  const about = element("p", "hs-doubt");
  const names = element(
    "tr",
    "",
    {},
    ...["Head", "Number", "A", "B", "B − A"].map((name) => element("th", "", { scope: "col" }, name)),
  );
  const body = element("tbody");
  const table = element("table", "hs-token-table hs-changes", {}, element("thead", "", {}, names), body);
  const box = element(
    "section",
    "hs-compare",
    {},
    element("h3", "hs-heading", {}, "What differs most"),
    element("div", "hs-row", {}, choice.box),
    ...[wait, about, element("div", "hs-scroller", {}, table)],
  );
  parent.append(box);
  const built = changes();

  function row(change) {
    const { key, site, head, here, there } = change;
    const name = `${state.siteName(site)} · ${state.headName(head, site)}`;
    const node = element("button", "hs-sort", { type: "button" }, name);
    node.onclick = () =>
      state.select({ site, head, plot: [key, state.twinOf(key)].join(".") });
    const cells = [state.numbers?.measure(key).title ?? key, signed(here, 3), signed(there, 3), intervalOf(change)];
    return element(
      "tr",
      "",
      {},
      element("th", "", { scope: "row" }, node),
      ...cells.map((text) => element("td", "", {}, text)),
    );
  }

  function build(answer) {
    body.replaceChildren(...answer.changes.map(row));
    const certain = `${counted(answer.certain)} of ${counted(answer.of)} differ by more than their 95\u00a0% interval`;
    const listed = answer.changes.length < answer.certain ? "; the largest are listed" : "";
    setText(about, `${certain}${listed}. One interval in twenty leaves 0 out by chance.`);
  }

  return {
    render() {
      const { against } = state.base.run;
      box.hidden = !against?.comparable;
      if (box.hidden) return;
      const compared = state.numbers?.answer.measures.filter(({ key }) => state.numbers?.has(state.twinOf(key))) ?? [];
      choice.show([ALL, ...compared], number);
      const answer = state.askChanges(number);
      table.hidden = about.hidden = !answer;
      showLine(wait, answer ? "" : state.waitingFor("changes", "Comparing"));
      if (answer && built(answer)) build(answer);
    },
  };
}
