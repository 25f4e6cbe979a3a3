// Heads of another model that are most like the chosen one, on the same text: both maps over the
// pieces of text that both models have tokens for.

import { shade } from "../core/colours.js";
import { contextOf } from "../core/dom.js";
import { useAnswer, useFrameSignal } from "../core/hooks.js";
import { html } from "../core/html.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { Entry, Field } from "../parts/controls.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {AlikeAnswer, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const SLOT = "alike";
const SIDE = 132; // CSS pixels of a map
const NAMED = "named";
const SENTENCE =
  "The share of the weight that two heads put on the same pieces of text: 1 for equal maps. Special tokens are left" +
  " out, and rows sum to 1 without them.";

/** @param {{state: TextState, theme: Theme}} props */
export function Alike({ state, theme }) {
  const { others, named, text = "" } = state.view.props;
  const { site, head, form } = state.selection;
  const isOpen = useFrameSignal(state, false);
  const chosen = useFrameSignal(state, others?.[0]?.value ?? NAMED);
  const typed = useFrameSignal(state, "");
  const { queries, keys } = state.site();
  const isOffered = state.view.remote && others && form !== "model" && queries === keys;
  const model = chosen.value === NAMED ? sourceOf(typed.value) : chosen.value;
  const isOne = typeof head === "number";
  const asks = isOffered && isOpen.value && model && isOne;
  const path = asks ? pathOf(SLOT, { site, head, model }) : null;
  const { answer, reason } = useAnswer(state.view, SLOT, path, "Running the other model");
  if (!isOffered) return null;
  const options = [...others, ...(named ? [{ value: NAMED, title: "a folder or hub id …" }] : [])];
  return html`
    <details class="hs-details hs-alike-box" open=${isOpen.value} onToggle=${({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>Heads of another model most like this one</summary>
      <div class="hs-row">
        <${Field} name="in">
          <select
            class="hs-select"
            aria-label="Another model"
            value=${chosen.value}
            onChange=${({ currentTarget }) => (chosen.value = currentTarget.value)}
          >
            ${options.map(({ value, title }) => html`<option value=${value}>${title}</option>`)}
          </select>
        <//>
        ${
          chosen.value === NAMED &&
          html`<${Entry}
          class="hs-select hs-second"
          maxlength="1000"
          aria-label="Folder or hub id of another model"
          placeholder="a folder, or owner/name"
          value=${typed.value}
          onCommit=${(name) => (typed.value = name)}
        />`
        }
      </div>
      <p class="hs-sentence">${SENTENCE}</p>
      <p class="hs-even" role="status">${isOne ? reason : "Choose one head."}</p>
      ${answer && html`<${Maps} ...${{ state, theme, answer, model, text }} />`}
    </details>
  `;
}

/** A model as requests name it: a hub id, or a folder. */
function sourceOf(name) {
  if (!name) return "";
  return /^[\w.-]+\/[\w.-]+$/.test(name) ? `hub:${name}` : `folder:${name}`;
}

/** @param {{state: TextState, theme: Theme, answer: AlikeAnswer, model: string, text: string}} props */
function Maps({ state, theme, answer: { pieces, weights, heads }, model, text }) {
  const here = `${capital(state.siteName())}, ${state.headName()}, here`;
  return html`
    <div class="hs-alike">
      <figure class="hs-alike-head">
        <${Map} ...${{ theme, pieces, weights, name: here }} />
        <figcaption>${here}</figcaption>
      </figure>
      ${heads.map(({ layer, head, overlap, weights: other }) => {
        const name = `Layer ${layer}, head ${head}`;
        const title = "Open this head in a page of its own";
        return html`
          <figure class="hs-alike-head">
            <${Map} ...${{ theme, pieces, weights: other, name: `${name} of the other model` }} />
            <figcaption>
              <a href=${linkTo(model, text, layer, head)} target="_blank" title=${title}>${name}</a>${`: ${overlap.toFixed(2)}`}
            </figcaption>
          </figure>
        `;
      })}
    </div>
  `;
}

function linkTo(model, text, layer, head) {
  const [place, ...name] = model.split(":");
  const isKnown = place === "catalogue";
  const query = new URLSearchParams(isKnown ? {} : { place });
  query.set(isKnown ? "model" : place, name.join(":"));
  query.set("input", text);
  query.set("layer", String(layer));
  query.set("head", String(head));
  return `?${query}`;
}

function Map({ theme, pieces, weights, name }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    if (canvas.current) paint(canvas.current, weights, theme);
  }, [weights, theme, devicePixelRatio]);
  const point = ({ clientX, clientY, currentTarget }) => {
    const { left, top } = currentTarget.getBoundingClientRect();
    const placeAt = (at) => Math.min(pieces.length - 1, Math.max(0, Math.floor((at / SIDE) * pieces.length)));
    const [row, column] = [placeAt(clientY - top), placeAt(clientX - left)];
    const pair = `“${legible(pieces[row])}” → “${legible(pieces[column])}”`;
    currentTarget.title = `${pair}: ${weights[row][column].toFixed(3)}`;
  };
  return html`<canvas class="hs-thumb" role="img" aria-label=${name} ref=${canvas} onPointerMove=${point} />`;
}

function paint(canvas, weights, theme) {
  canvas.width = canvas.height = Math.round(SIDE * (devicePixelRatio || 1));
  canvas.style.width = canvas.style.height = `${SIDE}px`;
  const context = contextOf(canvas);
  const cell = canvas.width / weights.length;
  weights.forEach((row, i) =>
    row.forEach((weight, j) => {
      context.fillStyle = `rgb(${shade(theme.ramp, Math.sqrt(weight), 1).join()})`;
      context.fillRect(Math.floor(j * cell), Math.floor(i * cell), Math.ceil(cell), Math.ceil(cell));
    }),
  );
}
