// Explore as one instrument: what the model says, the picture in one of its forms, what the chosen word looks at,
// all heads, and the Lab.

import { html } from "../core/html.js";
import { OverCorpora } from "../core/over_corpora.js";
import { useEffect, useMemo, useState } from "../vendor/hooks.js";
import { AnswerLine } from "./answer_line.js";
import { isTyped, Keys, keysOf } from "./keys.js";
import { Lab } from "../lab/lab.js";
import { methodOf, RELEVANCE } from "../methods/choices.js";
import { AllNumbers } from "./late.js";
import { HeadSwitch, headsOff } from "./switches.js";
import { Tour } from "./tour.js";
import { useWorth, WorthSeeing } from "./worth.js";

/** @import {Theme} from "../types" */

const OVER_PATCHES = "chefer"; // the relevance of a picture, until another is chosen

/**
 * What a kind of input has of the page; what it lacks is left out.
 *
 * @typedef {object} Parts
 * @property {import("./forms.js").Form[]} forms at most five, in their order
 * @property {unknown} switches right of them
 * @property {string} headline what the picture shows, in a sentence
 * @property {unknown} names model, layer and head, and which axis attends
 * @property {unknown} picture the chosen form
 * @property {boolean} [isBeside] whether the headline stands beside the picture
 * @property {unknown} [aside] above the drawing: choices that the form has
 * @property {unknown} [tour] at the foot of the picture, in place of the tour
 * @property {boolean} [isToured] whether a tour fits the picture
 * @property {unknown} reading what the chosen word looks at most
 * @property {(row: import("../types").WorthRow) => unknown} [pictureOf] what stands before a row that is worth seeing
 * @property {(off: ReadonlySet<string>) => unknown} heads all heads, some of them switched off
 * @property {unknown} [beside] behind the answer
 * @property {unknown} numbers of the Lab, before those of all heads
 */

/** @param {{state: any, theme: Theme, parts: Parts}} props */
export function Explore({ state, theme, parts }) {
  const { forms, switches, headline, names, picture, aside, reading } = parts;
  const { view } = state;
  const { first: follows } = view;
  const { edits } = view.props;
  const worth = useWorth(view);
  const off = useMemo(() => headsOff(state), [state.trace, edits]);
  const isToured = view.remote && !follows && (parts.isToured ?? true);
  const tour = parts.tour || (isToured && html`<${Tour} ...${{ state, rows: worth }} />`);
  const numbers = html`${parts.numbers}<${OverCorpora} state=${state} /><${AllNumbers} ...${{ state, theme }} />`;
  const frame = parts.isBeside ? "hs-figure hs-figure-beside" : "hs-figure";
  const chosen = forms.find(({ isOn }) => isOn);
  const { missing } = view;
  const isPresented = (view.props.type_size ?? 1) > 1;
  const [isListed, setListed] = useState(false);
  const press = (/** @type {KeyboardEvent} */ event) =>
    event.key === "?" && !isTyped(event) ? setListed(!isListed) : keysOf(event, { state, forms });
  usePresentedKeys(isPresented && !follows, press);
  useEffect(() => view.changed(), [isPresented]); // the forms measure their room anew
  return html`
    <div class=${["hs-explore", follows && "hs-follows", isPresented && "hs-presented"].filter(Boolean).join(" ")}>
      <${AnswerLine} ...${{ state, theme, explain: explaining(state) }}>${parts.beside}<//>
      <div class="hs-main">
        <div class="hs-form-row">
          ${!follows && html`<${FormTabs} forms=${forms} />`}
          <span class="hs-spring"></span>
          ${switches} ${!follows && html`<${HeadSwitch} state=${state} />`}
        </div>
        <figure class=${frame} aria-label=${`${chosen?.label ?? "Picture"}. ${headline}`} onKeyDown=${isPresented ? undefined : press}>
          <figcaption>
            <h3 class="hs-headline" aria-live="polite">${headline || " "}</h3>
            <p class="hs-names">
              ${missing && html`<strong class="hs-missing">${missing}</strong> · `}
              ${names}
            </p>
          </figcaption>
          ${aside && html`<div class="hs-figure-choices">${aside}</div>`}
          <div class="hs-drawing">${picture}</div>
          ${tour && html`<div class="hs-tour">${tour}</div>`}
          ${isListed && html`<${Keys} onClose=${() => setListed(false)} />`}
        </figure>
      </div>
      ${
        !follows &&
        html`
          <div class="hs-side">
            <section class="hs-card hs-reading" aria-label="What it looks at">${reading}</section>
            <section class="hs-card hs-heads-frame" aria-label="Heads">
              <${WorthSeeing} ...${{ state, rows: worth, pictureOf: parts.pictureOf }} />
              ${parts.heads(off)}
            </section>
          </div>
          <${Lab} ...${{ state, theme, numbers }} />
        `
      }
    </div>
  `;
}

/**
 * Shows what an output rests on: in the present form if that explains outputs, else as parts of its
 * logit, or of a class by a relevance; null where the model has no outputs with names.
 *
 * @returns {((output: string) => void) | null}
 */
function explaining(state) {
  const { explains, patches, given } = state.base;
  if (given || !state.view.remote || (explains !== "tokens" && explains !== "classes")) return null;
  return (output) => {
    const { form, method } = state.selection;
    const isRelevance = methodOf(method).kind === "relevance";
    const first = patches ? OVER_PATCHES : RELEVANCE;
    if (explains === "classes") state.select({ output, form: "model", method: isRelevance ? method : first });
    else if (form === "lens" || (form === "model" && isRelevance)) state.select({ output });
    else state.select({ output, form: "parts" });
  };
}

/** While the page is presented, the keys of the picture act wherever the focus is. */
function usePresentedKeys(isPresented, onKey) {
  useEffect(() => {
    if (!isPresented) return undefined;
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
}

function FormTabs({ forms }) {
  return html`
    <div class="hs-tabs" role="group" aria-label="Form of the picture">
      ${forms.map(
        ({ label, title, isOn, refused, choose }) => html`
          <button
            type="button"
            class="hs-tab"
            title=${refused || title}
            disabled=${Boolean(refused) && !isOn}
            aria-pressed=${isOn}
            onClick=${choose}
          >
            ${label}
          </button>
        `,
      )}
    </div>
  `;
}
