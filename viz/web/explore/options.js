// What of the weights is drawn, for who reads a long text: search, threshold, strongest keys, and the share of the
// weight that they hide.

import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { nounOf } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { percent } from "../core/ticks.js";
import { Button, Menu } from "../parts/controls.js";
import { headsShown, HowManyHeads } from "../parts/switches.js";
import { stepped } from "../text/search.js";
import { Choices } from "../../views/matrix/choices.js";
import { TimesFrom } from "../../views/sound/times_from.js";

/** @import {Form} from "../types" */
/** @import {TextState} from "../text/state.js" */

/** @type {Form[]} the forms of many tokens at once */
const AIDED = ["matrix", "lines", "text"];
const LONG = 100; // tokens, among which one is searched for
const STRONGEST = [0, 1, 2, 3, 5, 10];
const STEPS = 100; // of the threshold, which grows with the square: small weights matter most

/** @param {{state: TextState}} props */
export function Options({ state }) {
  const { form, top, least } = state.selection;
  if (form === "sound") return html`<${TimesFrom} state=${state} />`;
  if (!AIDED.includes(form)) return null;
  const noun = nounOf(state.texts().query);
  const tops = STRONGEST.includes(top) ? STRONGEST : [...STRONGEST, top];
  const title =
    form === "lines"
      ? `Draw the lines to each ${noun}’s strongest keys alone`
      : `Mark each ${noun}’s strongest keys`;
  return html`
    <div class="hs-aids" role="group" aria-label="What is drawn">
      ${state.texts().query.labels.length >= LONG && html`<${Find} ...${{ state, noun }} />`}
      <div class="hs-aid">
        <span class="hs-label" aria-hidden="true">Hide small weights</span>
        <input
          class="hs-threshold"
          type="range"
          min="0"
          max=${STEPS}
          aria-label="Hide small weights"
          aria-valuetext=${least || "off"}
          value=${stepAt(least)}
          onInput=${({ currentTarget }) => state.select({ least: leastAt(Number(currentTarget.value)) })}
        />
        <output class="hs-count">${least || "off"}</output>
      </div>
      <div class="hs-aid">
        <span class="hs-label" aria-hidden="true">Show only the top</span>
        <${Menu}
          name=${`Strongest keys of each ${noun}`}
          title=${title}
          labels=${tops.map((each) => (each ? String(each) : "All"))}
          index=${tops.indexOf(top)}
          onChoose=${(index) => state.select({ top: tops[index] })}
        />
      </div>
      ${form === "lines" && html`<div class="hs-aid"><span class="hs-label" aria-hidden="true">Lines of</span><${HowManyHeads} state=${state} /></div>`}
      ${form === "matrix" && html`<div class="hs-aid"><span class="hs-label" aria-hidden="true">Values</span><${Choices} state=${state} /></div>`}
      ${form !== "text" && html`<${HiddenShare} state=${state} />`}
    </div>
  `;
}

function Find({ state, noun }) {
  const { find } = state.selection;
  const matches = state.matches();
  const step = (by) => (state.match = stepped(state.match, by, matches.length));
  const search = (text) => {
    state.select({ find: text });
    state.match = -1;
  };
  const press = (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && find) search("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const disabled = !matches.length;
  return html`
    <div class="hs-aid hs-stepper" role="search">
      <input
        class="hs-find"
        type="search"
        autocomplete="off"
        spellcheck="false"
        placeholder=${`Find a ${noun}`}
        aria-label=${`Find a ${noun}`}
        value=${find}
        onInput=${({ currentTarget }) => search(currentTarget.value)}
        onKeyDown=${press}
      />
      <${Button} text="‹" title="Previous match" disabled=${disabled} onClick=${() => step(-1)} />
      <${Button} text="›" title="Next match" disabled=${disabled} onClick=${() => step(1)} />
      <span class="hs-count" aria-live="polite">
        ${find && `${state.match < 0 ? "" : `${state.match + 1} of `}${matches.length}`}
      </span>
    </div>
  `;
}

/** The share of the chosen head's weight, or of the first that is drawn, which filters hide. */
function HiddenShare({ state }) {
  const { form, site, shown: listed, head: chosen, block, rows, columns, top } = state.selection;
  const [head] = form === "lines" ? headsShown(listed, chosen, state.site().heads) : [chosen];
  const few = form === "lines" ? top : 0;
  const isFiltered = state.threshold() || rows || columns || block !== "all" || few || state.unheard();
  const ranges = state.ranges();
  const { sinks } = state.variant();
  const least = state.least(head);
  const path = pathOf("hidden", {
    ...{ site, head, rows: ranges.rows.join("-"), columns: ranges.cols.join("-") },
    ...{ least: least ? least.toFixed(6) : undefined, top: few || undefined },
    sinks: sinks === "shown" ? undefined : sinks,
  });
  const { answer } = useAnswer(state.view, "hidden", isFiltered && state.view.remote ? path : null);
  const sampled = answer && answer.rows < answer.total ? ` (of ${answer.rows} of ${answer.total} rows)` : "";
  const words = answer && `${percent(answer.share)}${sampled} of the weight is hidden`;
  return html`<span class="hs-hidden-share" aria-live="polite">${words}</span>`;
}

/**
 * The threshold of a slider's step, rounded to what a link shows.
 *
 * @param {number} step
 */
export const leastAt = (step) => Math.round(1e4 * (step / STEPS) ** 2) / 1e4;

/** @param {number} least */
export const stepAt = (least) => Math.round(STEPS * Math.sqrt(Math.min(1, Math.max(0, least))));
