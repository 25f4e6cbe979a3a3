// Explore as one instrument: what the model says, the picture in one of its forms, what the chosen word looks at,
// all heads, and the Lab.

import { asking } from "../core/edits.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { mountView } from "../core/mounting.js";
import { START } from "../core/selection.js";
import { pathOf } from "../core/sources.js";
import { Lab } from "../lab/lab.js";
import { methodOf, RELEVANCE } from "../methods/choices.js";
import { VIEWS } from "../text/forms.js";
import { Halves } from "../text/second.js";
import { useEffect, useLayoutEffect, useMemo, useState } from "../vendor/hooks.js";
import { AnswerLine } from "./answer_line.js";
import { headsOff, HeadSwitch, isTyped, Keys, keysOf } from "./switches.js";
import { Tour, useWorth, WorthSeeing } from "./tour.js";

/** @import {Theme, ViewProps} from "../types" */
/** @import {TextState} from "../text/state.js" */

const OVER_PATCHES = "chefer"; // the relevance of a picture, until another is chosen

/** What the forms of all layers show, in a sentence. */
export const HEADLINES = {
  features: "Patches with similar last states share a colour.",
  lens: "The likeliest token after each layer.",
  model: "Every layer at once.",
  parts: "What each head and MLP adds to the output.",
};
export const switchedOff = () => html`<b>switched off</b>: it still looks, but adds nothing`;

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
  const { first: follows, props, missing } = state;
  const { edits } = props;
  const worth = useWorth(state);
  const off = useMemo(() => headsOff(state), [state.trace, edits]);
  const isToured = state.remote && !follows && (parts.isToured ?? true);
  const tour = parts.tour || (isToured && html`<${Tour} ...${{ state, rows: worth }} />`);
  const numbers = html`${parts.numbers}<${OverCorpora} state=${state} /><${AllNumbers} ...${{ state, theme }} />`;
  const frame = parts.isBeside ? "hs-figure hs-figure-beside" : "hs-figure";
  const chosen = forms.find(({ isOn }) => isOn);
  const isPresented = (props.type_size ?? 1) > 1;
  const [isListed, setListed] = useState(false);
  const press = (/** @type {KeyboardEvent} */ event) =>
    event.key === "?" && !isTyped(event) ? setListed(!isListed) : keysOf(event, { state, forms });
  usePresentedKeys(isPresented && !follows, press);
  useEffect(() => state.changed(), [isPresented]); // the forms measure their room anew
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
 * Shows what an output rests on: in the present form if that explains outputs, else as parts of its logit, or of a
 * class by a relevance; null where the model has no outputs with names.
 */
function explaining(state) {
  const { explains, patches, given } = state.base;
  if (given || !state.remote || (explains !== "tokens" && explains !== "classes")) return null;
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

function OverCorpora({ state }) {
  const { site, head } = state.selection;
  const path = typeof head === "number" ? pathOf("corpora", { site, head }) : null;
  const { newest } = useAnswer(state, "corpora", path);
  const lines = path ? newest?.corpora : [];
  return html`
    <div class="hs-over-corpora" aria-live="polite">
      ${lines?.map(
        ({ sentence, link }) => html`
          <p class="hs-sentence">${sentence} <a href=${link}>This head over the corpus</a></p>
        `,
      )}
    </div>
  `;
}

const NUMBERS = () => import("../../views/numbers/view.js").then((view) => view.Numbers);
const Missing = () => "A part of this page could not be loaded. Reload the page.";

/** @param {{load: () => Promise<any>} & Record<string, unknown>} props load: imports the view */
export function Late({ load, ...props }) {
  const [View, setView] = useState(null);
  const show = (view) => setView(() => view);
  useLayoutEffect(() => void load().then(show, () => show(Missing)), [load]);
  return View ? html`<${View} ...${props} />` : html`<p class="hs-card-doubt">Loading …</p>`;
}

/** Every head by its numbers. */
const AllNumbers = (props) => html`<${Late} load=${NUMBERS} ...${props} />`;

/** A form of the picture. @param {{state: import("../text/state.js").TextState, theme: import("../types").Theme}} props */
export function Form({ state, theme }) {
  const { form } = state.selection;
  useMemo(() => (state.panel = {}), [form]);
  return html`
    <div class="hs-forms">
      <section class=${`hs-section hs-${form}`}>
        <${Late} key=${form} load=${VIEWS[form]} ...${{ state, theme }} />
      </section>
    </div>
  `;
}

/**
 * @param {typeof TextState} Kind of state
 * @param {(props: any) => unknown} Page of a state
 * @returns {import("../types").Mount<ViewProps>}
 */
export function mounting(Kind, Page) {
  /** A view with its state. @type {import("../text/second.js").Open} */
  function open(root, props, host, first) {
    const state = new Kind(root, props, host, first);
    if (!first) state.ask = asking(host);
    root.onkeydown = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && state.letGo()) event.preventDefault();
    };
    const mounted = mountView(root, state, (theme) => {
      const page = html`<${Page} ...${{ state, theme, host }} />`;
      return first ? page : html`<${Halves} ...${{ first: state, host, open }}>${page}<//>`;
    });
    loadAhead(root, state.start?.form ?? START.form);
    return { state, ...mounted };
  }

  return (root, props, host) => open(root, props, host);
}

/** Imports the form that is drawn first while its numbers are fetched, and the others once somebody comes to them. */
function loadAhead(root, first) {
  const load = (/** @type {string} */ name) => void VIEWS[name]?.().catch(() => {}); // the form says so
  load(first);
  for (const event of ["pointerover", "focusin"])
    root.addEventListener(event, () => Object.keys(VIEWS).forEach(load), { once: true });
}
