// Which heads an output of a text needs; the effect of each becomes a number of heads like others.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { effectsOf, headsThatMatter, KEY } from "../matter/heads.js";

/** @import {MattersAnswer, Measure, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

/**
 * @param {MattersAnswer} answer
 * @returns {Measure}
 */
function measureOf({ number }) {
  const [formula, what] =
    number === "distance"
      ? ["1 − cosine of the embeddings with and without the head", "How far switching the head off moves the embedding"]
      : ["logit without the head − logit", "What switching the head off does to the logit of the chosen output"];
  return {
    ...{ key: KEY, title: "Effect when off", source: "Nanda 2023, “Attribution patching”; Kramár et al. 2024, “AtP*”" },
    ...{ formula, low: null, high: null },
    about: `${what}: exactly where it was switched off in a pass of its own, else by attribution`,
  };
}

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
    queueMicrotask(() => state.addNumber(measureOf(answer), values));
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
