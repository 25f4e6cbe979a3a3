// What differs most between two runs: a list of heads with a number in both.

import { aboutOf } from "../core/about.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { intervalOf } from "../core/interval.js";
import { pathOf } from "../core/sources.js";
import { signed } from "../core/ticks.js";
import { Field, Menu } from "../parts/controls.js";
import { useState } from "../vendor/hooks.js";
import { counted } from "./lists.js";

/** @import {Measure} from "../types" */
/** @import {CorpusState} from "./state.js" */

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
  const { answer, ...reply } = useAnswer(state.view, "changes", path, "Comparing");
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
