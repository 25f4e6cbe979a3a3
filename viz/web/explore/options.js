// What the picture draws, weights or scores, and a search in a long text.

import { html } from "../core/html.js";
import { nounOf } from "../core/labels.js";
import { Button, Menu } from "../parts/controls.js";
import { HowManyHeads } from "../parts/switches.js";
import { stepped } from "../text/search.js";
import { TimesFrom } from "../../views/sound/times_from.js";

/** @import {Form} from "../types" */
/** @import {TextState} from "../text/state.js" */

/** @type {Form[]} the forms of many tokens at once */
const AIDED = ["matrix", "lines", "text"];
const LONG = 100; // tokens, among which one is searched for

/** @param {{state: TextState}} props */
export function Options({ state }) {
  const { form } = state.selection;
  if (form === "sound") return html`<${TimesFrom} state=${state} />`;
  if (!AIDED.includes(form)) return null;
  const { query } = state.texts();
  return html`
    <div class="hs-aids" role="group" aria-label="What is drawn">
      ${query.labels.length >= LONG && html`<${Find} ...${{ state, noun: nounOf(query) }} />`}
      ${form === "lines" && html`<div class="hs-aid"><span class="hs-label" aria-hidden="true">Lines of</span><${HowManyHeads} state=${state} /></div>`}
      ${form === "matrix" && html`<div class="hs-aid"><span class="hs-label" aria-hidden="true">Values</span><${Values} state=${state} /></div>`}
    </div>
  `;
}

const NO_SCORES = ["Only pairs of single tokens have scores", "Weights alone: their scores are not known"];
const VALUES = /** @type {const} */ (["weights", "scores"]);

/** Weights, or the scores before the softmax. */
function Values({ state }) {
  const has = state.hasScores();
  return html`<${Menu}
    name="Values"
    title=${has ? "Weights after the softmax, or the scores before it" : NO_SCORES[Number(Boolean(state.base.given))]}
    labels=${["Weights", "Scores"]}
    index=${Number(state.variant().values === "scores")}
    without=${has ? -1 : 1}
    onChoose=${(index) => state.select({ values: VALUES[index] })}
    disabled=${Boolean(state.view.props.difference)}
  />`;
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
