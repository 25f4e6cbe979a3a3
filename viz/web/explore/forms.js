// The forms that a text has on the page, at most five, of which some hold two, then those of further folders; and what
// can be chosen in them.

import { TimesFrom } from "../../views/sound/times_from.js";
import { FORMS, ON_SCREEN } from "../core/declared.js";
import { html } from "../core/html.js";
import { nounOf } from "../core/labels.js";
import { Button, Menu, Switch } from "../parts/controls.js";
import { HowManyHeads } from "../parts/switches.js";
import { BLOCKS, stepped } from "../text/tokens.js";

/** @import {TextState} from "../text/state.js" */

/**
 * @typedef {object} Form
 * @property {string} label
 * @property {string} title
 * @property {boolean} isOn
 * @property {string} [refused] why it cannot be chosen
 * @property {() => void} choose
 */

const SINGLE = ["sound", "text", "lines", "matrix", "head"];
const BESIDE_HEADS = "model"; // chosen there
const NEXT = { lens: "Layer by layer", parts: "What adds to it" };

/** The forms of a text. @type {(state: TextState) => Form[]} */
export function formsOf(state) {
  const { form } = state.selection;
  const refused = state.refused();
  const { explains, sound } = state.base;
  /** @type {(name: string) => Form} */
  const plain = (name) => ({
    ...{ label: FORMS[name].label, title: FORMS[name].title, refused: refused[name], isOn: form === name },
    choose: () => state.select({ form: /** @type {any} */ (name) }),
  });
  const forms = SINGLE.filter((name) => name !== (sound ? "lines" : "sound")).map(plain);
  if (explains === "tokens" || explains === "classes") {
    const why = Object.keys(NEXT).find((name) => !(name in refused));
    forms.push({
      label: explains === "tokens" ? "Next word" : "Why this class",
      title: "What each layer would say, and what each head and each MLP adds to the answer",
      refused: why ? "" : refused.parts,
      isOn: form in NEXT,
      choose: () => state.select({ form: /** @type {any} */ (why ?? "parts") }),
    });
  }
  const further = ON_SCREEN.text.filter(
    (name) => ![...SINGLE, BESIDE_HEADS].includes(name) && !(name in NEXT),
  );
  return [...forms, ...further.map(plain)];
}

/** The two halves of “Next word”. */
export function NextWord({ state }) {
  const { form } = state.selection;
  if (!(form in NEXT)) return null;
  const refused = state.refused();
  const choices = Object.entries(NEXT).map(([value, label]) => ({
    ...{ value, label, title: refused[value] ?? FORMS[value].title },
    disabled: value in refused && value !== form,
  }));
  return html`<${Switch} name="Next word" ...${{ choices, chosen: form }} onChoose=${(next) => state.select({ form: next })} />`;
}

/** The texts of a pair, or of a joint map, that attend and are attended to. */
export function Blocks({ state }) {
  const { query, key } = state.texts();
  if (query.second === undefined && key.second === undefined) return null;
  const names = state.site().kind === "joint" ? ["source", "target"] : ["A", "B"];
  const choices = BLOCKS.map((value) => {
    const [from, to] = [...value].map((side) => names[side === "a" ? 0 : 1]);
    return value === "all"
      ? { value, label: "All", title: "Both texts" }
      : { value, label: `${from} → ${to}`, title: `From ${from} to ${to}` };
  });
  const choose = (block) => state.select({ block });
  return html`<${Switch} name="Texts of the pair" choices=${choices} chosen=${state.selection.block} onChoose=${choose} />`;
}

/** How much of a recording is left out. */
export function Unheard({ state }) {
  const unheard = state.unheard();
  return unheard ? html`<span class="hs-count">${`without ${unheard.toFixed(1)} s of padding`}</span>` : null;
}

const AIDED = ["matrix", "lines", "text"]; // the forms of many tokens at once
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
    disabled=${Boolean(state.props.difference)}
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
