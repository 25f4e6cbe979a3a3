// Which heads an output of a text needs; the effect of each becomes a number of heads like others.

import { html } from "../../web/core/html.js";
import { effectsOf, HeadsThatMatter, KEY } from "../../web/matter/heads.js";
import { Button } from "../../web/parts/controls.js";
import { useRef } from "../../web/vendor/hooks.js";

/** @import {Swept, Measure, Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

/** @param {{state: TextState, theme: Theme}} props */
export function Matter({ state, theme }) {
  const latest = useRef(/** @type {{answer: Swept, trace: string} | null} */ (null));
  /** The numbers of heads get one more. */
  const receive = (answer) => {
    const numbers = state.askNumbers();
    const isNew = latest.current?.answer !== answer || latest.current?.trace !== state.trace;
    if (!numbers || !(isNew || !numbers.has(KEY))) return;
    latest.current = { answer, trace: state.trace };
    /** @type {(number | null)[][]} */
    const values = state.base.sites.map(() => []);
    for (const { site, head, rough, exact } of effectsOf(answer)) values[site][head] = exact ?? rough;
    queueMicrotask(() => state.addNumber(measureOf(answer), values));
  };
  const sort = () => state.select({ lab: "numbers", rank: `-${KEY}` });
  const more = html`
    <${Button} text="Sort the heads" title="Every head in the order of this number" onClick=${sort} />
  `;
  return html`
    <${HeadsThatMatter}
      ...${{ view: state.view, theme, more, receive, ask: state.ask }}
      site=${state.group()[0] ?? state.selection.site}
      select=${(change) => state.select(change)}
    />
  `;
}

/** @returns {Measure} */
function measureOf({ number }) {
  const isDistance = number === "distance";
  const what = isDistance
    ? "How far switching the head off moves the embedding"
    : "What switching the head off does to the logit of the chosen output";
  return {
    key: KEY,
    title: "Effect when off",
    source: "Nanda 2023, “Attribution patching”; Kramár et al. 2024, “AtP*”",
    formula: isDistance
      ? "1 − cosine of the embeddings with and without the head"
      : "logit without the head − logit",
    low: null,
    high: null,
    about: `${what}: exactly where it was switched off in a pass of its own, else by attribution`,
  };
}
