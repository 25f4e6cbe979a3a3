// What is said of the cell at the pointer.

import { html } from "../../web/core/html.js";
import { Quoted } from "../../web/parts/controls.js";

/** @import {Cell, HiddenSinks} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const TIP_LABEL = 16; // characters

/** @typedef {{state: TextState, cell: Cell, sinks: HiddenSinks | null | undefined}} CellProps */

/** @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%`;

const hiddenShare = ({ shares }, query) => `${percent(shares[query])} of its weight is hidden`;

/** “tired” (11) → “animal” (2): 0.41327 · row sum 1.000000 @param {CellProps} props */
export function Reading({ state, cell: { query, key }, sinks }) {
  const labels = state.labels();
  const { values } = state.variant();
  const sum = weightAt(state, { query, key })?.sum;
  return html`
    <${Quoted} label=${labels.query[query]} />${` (${query}) → `}<${Quoted} label=${labels.key[key]} />${` (${key}): `}
    ${values === "scores" ? "score " : values === "difference" ? "change " : ""}
    ${numberAt(state, { query, key }, sinks)}${sum ? ` · row sum ${sum.toFixed(6)}` : ""}
    ${sinks ? ` · ${hiddenShare(sinks, query)}` : ""}
  `;
}

/** Query → key: weight; below it the share that went to hidden sinks. @param {CellProps} props */
export function Tip({ state, cell: { query, key }, sinks }) {
  const labels = state.labels();
  return html`
    <${Quoted} label=${brief(labels.query[query])} />${" → "}<${Quoted} label=${brief(labels.key[key])} />${": "}
    <b>${numberAt(state, { query, key }, sinks)}</b>
    ${sinks && html`<div class="hs-tip-more">${hiddenShare(sinks, query)}</div>`}
  `;
}

function brief(label) {
  const letters = Array.from(label);
  return letters.length > TIP_LABEL ? `${letters.slice(0, TIP_LABEL - 1).join("")}…` : label;
}

function weightAt(state, { query, key }) {
  const { site, head } = state.selection;
  return state.maps.weight(site, head, query, key, state.variant());
}

function numberAt(state, cell, sinks) {
  if (sinks?.keys.includes(cell.key)) return "hidden";
  const weight = weightAt(state, cell);
  if (!weight) return "…";
  const more = state.variant().values === "difference" && weight.value > 0;
  return `${more ? "+" : ""}${numberOf(weight)}`;
}

function numberOf({ value, sign }) {
  if (value === -Infinity) return "masked";
  return sign ? `${sign} ${value.toFixed(3)}` : value.toFixed(5);
}
