// Explore as one instrument: what the model says, the picture in one of its forms, what the chosen word looks at,
// all heads, and the Lab.

import { html } from "../core/html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { AnswerLine } from "./answer_line.js";
import { isTyped, Keys } from "./keys.js";
import { Lab } from "../lab/lab.js";

/** @import {Theme} from "../types" */

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
 * @property {unknown} tour at the foot of the picture
 * @property {unknown} reading what the chosen word looks at most
 * @property {unknown} heads
 * @property {((output: string) => void) | null} explain shows what an output rests on
 * @property {unknown} [beside] behind the answer
 * @property {{value: string, label: string, content: unknown}[]} lab more tabs of the Lab
 * @property {boolean} follows whether the picture stands beside another, which has the rest of the page
 * @property {(event: KeyboardEvent) => void} onKey
 */

/** @param {{state: any, theme: Theme, parts: Parts}} props */
export function Explore({ state, theme, parts }) {
  const { forms, switches, headline, names, picture, aside, tour, reading, heads, follows } = parts;
  const frame = parts.isBeside ? "hs-figure hs-figure-beside" : "hs-figure";
  const chosen = forms.find(({ isOn }) => isOn);
  const { missing } = state.view;
  const isPresented = (state.view.props.type_size ?? 1) > 1;
  const [isListed, setListed] = useState(false);
  const press = (/** @type {KeyboardEvent} */ event) =>
    event.key === "?" && !isTyped(event) ? setListed(!isListed) : parts.onKey(event);
  usePresentedKeys(isPresented && !follows, press);
  useEffect(() => state.view.changed(), [isPresented]); // the forms measure their room anew
  return html`
    <div class=${["hs-explore", follows && "hs-follows", isPresented && "hs-presented"].filter(Boolean).join(" ")}>
      <${AnswerLine} ...${{ state, theme, explain: parts.explain }}>${parts.beside}<//>
      <div class="hs-main">
        <div class="hs-form-row">
          ${!follows && html`<${FormTabs} forms=${forms} />`}
          <span class="hs-spring"></span>
          ${switches}
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
            <section class="hs-card hs-heads-frame" aria-label="Heads">${heads}</section>
          </div>
          <${Lab} ...${{ state, theme, more: parts.lab }} />
        `
      }
    </div>
  `;
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
