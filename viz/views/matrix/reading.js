// What is said beside a matrix: of all of it in one sentence, of the cell at the pointer its number.

import { html } from "../../web/core/html.js";
import { nounOf } from "../../web/core/labels.js";
import { Quoted } from "../../web/parts/controls.js";
import { hiddenShare, jointSentence, sumOf, weightsSentence } from "./claims.js";

/** @import {Cell, HiddenSinks} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const TIP_LABEL = 16; // characters

/** @typedef {{state: TextState, cell: Cell, sinks: HiddenSinks | null | undefined}} CellProps */

/**
 * What the matrix shows.
 *
 * @param {TextState} state
 */
export function sentenceOf(state) {
  const { values, sinks } = state.variant();
  const { head } = state.selection;
  const { key, query } = state.texts();
  const hidden = sinks === "shown" ? "" : ` The bars are the shares that went to hidden ${nounOf(key)}s.`;
  if (values === "scores") {
    const what = head === "mean" ? "the mean score" : head === "max" ? "the largest score" : "a score";
    const of = typeof head === "number" ? "" : " of the layer’s heads";
    return `Each cell is ${what}${of} before the softmax: query · key with scale, bias and mask.${hidden}`;
  }
  if (values === "difference") {
    const whose = { mean: "the mean weight", max: "any head’s weight" };
    const of = typeof head === "number" ? "the weight" : whose[head];
    return `Each cell is what the edits changed in ${of}: after minus before, orange for more, blue for less.`;
  }
  const sum = sumOf(state.base.complete !== false, sinks);
  const joint = state.site().kind === "joint";
  return `${joint ? jointSentence(sum) : weightsSentence(head, sum, nounOf(query))}${hidden}`;
}

/**
 * “tired” (11) → “animal” (2): 0.41327 · row sum 1.000000
 *
 * @param {CellProps} props
 */
export function Reading({ state, cell: { query, key }, sinks }) {
  const labels = state.labels();
  const { values } = state.variant();
  const sum = state.weight(query, key, state.variant())?.sum;
  return html`
    <${Quoted} label=${labels.query[query]} />${` (${query}) → `}<${Quoted} label=${labels.key[key]} />${` (${key}): `}
    ${values === "scores" ? "score " : values === "difference" ? "change " : ""}
    ${numberAt(state, { query, key }, sinks)}${sum ? ` · row sum ${sum.toFixed(6)}` : ""}
    ${sinks ? ` · ${hiddenShare(sinks, query)}` : ""}
  `;
}

/**
 * Query → key: weight; below it the share that went to hidden sinks.
 *
 * @param {CellProps} props
 */
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

function numberAt(state, { query, key }, sinks) {
  if (sinks?.keys.includes(key)) return "hidden";
  const weight = state.weight(query, key, state.variant());
  if (!weight) return "…";
  const more = state.variant().values === "difference" && weight.value > 0;
  return `${more ? "+" : ""}${numberOf(weight)}`;
}

function numberOf({ value, sign }) {
  if (value === -Infinity) return "masked";
  return sign ? `${sign} ${value.toFixed(3)}` : value.toFixed(5);
}
