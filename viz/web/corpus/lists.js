// Heads that were looked for, as a list with bars; looking for them by the tokens that they attend from and to; and a
// list of what differs most between two runs, a head with a number in both.

import { aboutOf } from "../core/head_numbers.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { pathOf } from "../core/sources.js";
import { intervalOf, percent, signed } from "../core/ticks.js";
import { Field, Menu } from "../parts/controls.js";
import { useState } from "../vendor/hooks.js";

/** @import {CorpusHeads, Measure} from "../types" */
/** @import {CorpusState} from "./corpus.js" */

const LISTED = "Each head lists the tokens with the most weight; any other counts as 0.";
const NOTES = {
  key: `The bar is the share of all weight that goes to these tokens over the corpus. ${LISTED}`,
  query: `The bar is the share of all weight that comes from these tokens, the first token and the tokenizer’s own as keys aside. ${LISTED}`,
  both: "The bar is the share of the first tokens’ weight that goes to the second, where one of them draws most of it.",
};

/** @param {number} number */
export const counted = (number) => number.toLocaleString("en");

/** @param {{state: CorpusState, heads: CorpusHeads["heads"], textOf: (value: number) => string}} props */
export function HeadList({ state, heads, textOf }) {
  const top = Math.max(1e-9, ...heads.map(({ value }) => value));
  const { selection } = state;
  const row = ({ site, head, value }) => html`
    <li>
      <button
        type="button"
        class="hs-finder-row"
        title=${state.numbers?.sentence({ site, head })}
        aria-pressed=${String(site === selection.site && head === selection.head)}
        onClick=${() => state.select({ site, head })}
      >
        <span>${state.siteName(site)} · ${state.headName(head, site)}</span>
        <span class="hs-bar-line" aria-hidden="true" style=${{ "--share": `${(100 * Math.max(0, value)) / top}%` }} />
        <span class="hs-bar-number">${textOf(value)}</span>
      </button>
    </li>
  `;
  return html`<ol class="hs-finder-list">
    ${heads.map(row)}
  </ol>`;
}

/** @param {{state: CorpusState}} props */
export function ByToken({ state }) {
  const [typed, setTyped] = useState({ query: "", key: "" });
  const [query, key] = [typed.query.trim(), typed.key.trim()];
  const path =
    query || key ? pathOf("attending", { key: key || undefined, query: query || undefined }) : null;
  const { answer, reason } = useAnswer(state, "token", path, "Looking");
  const heads = answer?.heads ?? [];
  const none =
    answer && !heads.length ? "No head has this among the tokens and pairs that are kept." : reason;
  const { pairs } = state.base.run;
  const most = pairs
    ? ` Each head lists the ${counted(pairs)} pairs with the most weight; any other counts as 0.`
    : "";
  const entry = (side, label, placeholder) => html`
    <input
      class="hs-find hs-token-find"
      type="search"
      aria-label=${label}
      placeholder=${placeholder}
      maxlength="400"
      spellcheck="false"
      autocomplete="off"
      value=${typed[side]}
      onInput=${({ currentTarget }) => setTyped({ ...typed, [side]: currentTarget.value })}
    />
  `;
  return html`
    <details class="hs-finder hs-by-token">
      <summary>Find heads by tokens</summary>
      <div class="hs-row">
        Heads that attend from ${entry("query", "Tokens that attend", "any token")} to${" "}
        ${entry("key", "Tokens attended to", "commas")}
      </div>
      <p class="hs-doubt">Several tokens, separated by commas, count together: is, are.</p>
      <p class="hs-sentence" role="status" hidden=${!none}>${none}</p>
      <${HeadList} ...${{ state, heads, textOf: percent }} />
      <p class="hs-doubt">${query && key ? NOTES.both + most : NOTES[query ? "query" : "key"]}</p>
    </details>
  `;
}

/** @type {Measure} */
const ALL = {
  key: "",
  title: "Any share of weight",
  formula: "",
  source: "",
  low: 0,
  high: 1,
  about: "All numbers from 0 to 1.",
};

/** @param {{state: CorpusState}} props */
export function Changes({ state }) {
  const [number, setNumber] = useState("");
  const { numbers } = state;
  const compared = numbers?.answer.measures.filter(({ key }) => numbers.has(state.twinOf(key))) ?? [];
  const measures = [ALL, ...compared];
  const index = measures.findIndex(({ key }) => key === number);
  const path = pathOf("changes", { number: number || undefined });
  const { answer, ...reply } = useAnswer(state, "changes", path, "Comparing");
  const row = (change) => {
    const { key, site, head, here, there } = change;
    const open = () => state.select({ site, head, plot: [key, state.twinOf(key)].join(".") });
    const cells = [numbers?.measure(key).title ?? key, signed(here, 3), signed(there, 3), intervalOf(change)];
    const name = `${state.siteName(site)} · ${state.headName(head, site)}`;
    return html`
      <tr>
        <th scope="row"><button type="button" class="hs-sort" onClick=${open}>${name}</button></th>
        ${cells.map((text) => html`<td>${text}</td>`)}
      </tr>
    `;
  };
  return html`
    <section class="hs-compare">
      <h3 class="hs-heading">What differs most</h3>
      <div class="hs-row">
        <${Field} name="Number">
          <${Menu}
            name="Number that differs"
            title=${aboutOf(measures[index])}
            labels=${measures.map(({ title }) => title)}
            index=${index}
            onChoose=${(i) => setNumber(measures[i].key)}
          />
        <//>
      </div>
      <p class="hs-sentence" role="status" hidden=${!reply.reason}>${reply.reason}</p>
      ${
        answer &&
        html`
          <p class="hs-doubt">
            ${`${counted(answer.certain)} of ${counted(answer.of)} differ by more than their 95\u00a0% interval`}
            ${answer.changes.length < answer.certain && "; the largest are listed"}. One interval in twenty leaves 0 out by
            chance.
          </p>
          <div class="hs-scroller">
            <table class="hs-token-table hs-changes">
              <thead>
                <tr>
                  ${["Head", "Number", "A", "B", "B − A"].map((name) => html`<th scope="col">${name}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${answer.changes.map(row)}
              </tbody>
            </table>
          </div>
        `
      }
    </section>
  `;
}
