// Which heads an output of a text needs; the effect of each becomes a number of heads like others.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { effectsOf, headsThatMatter, KEY } from "../matter/heads.js";

/** @import {MattersAnswer, Measure, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

/** @type {Measure} */
const MEASURE = {
  ...{ key: KEY, title: "Effect when off", source: "Nanda 2023, “Attribution patching”; Kramár et al. 2024, “AtP*”" },
  ...{ formula: "logit without the head − logit", low: null, high: null },
  about: "What switching the head off does to the logit of the chosen output: exactly where it was switched off in a pass of its own, else by attribution",
};

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function matter(state, parent) {
  const order = button("Sort the thumbnails", "Every head in the order of this number", () =>
    state.select({ overview: "atlas", arrangement: "rank", rank: `-${KEY}` }),
  );
  const news = changes();

  /**
   * The numbers of heads get one more.
   *
   * @param {MattersAnswer} answer
   */
  function receive(answer) {
    const numbers = state.askNumbers();
    if (!numbers || !(news(answer, state.trace) || !numbers.has(KEY))) return;
    /** @type {(number | null)[][]} */
    const values = state.base.sites.map(() => []);
    for (const { site, head, rough, exact } of effectsOf(answer)) values[site][head] = exact ?? rough;
    queueMicrotask(() => state.addNumber(MEASURE, values));
  }

  const panel = headsThatMatter(
    {
      ...{ view: state.view, more: [order], receive },
      site: () => state.group()[0] ?? state.selection.site,
      select: (change) => state.select(change),
      edit: () => state.edit,
    },
    parent,
  );
  return { render: (/** @type {Theme} */ theme) => panel.render(theme) };
}
