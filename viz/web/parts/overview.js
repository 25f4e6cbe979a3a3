// Every head at once, in one of several views; and the conditions by which heads are filtered in all of them.

import { html } from "../core/html.js";
import { conditionOf } from "../core/head_numbers.js";
import { Button, Switch } from "./controls.js";

/** @import {ManyHeads, Overview as Name, Theme} from "../types" */

/**
 * A view of all heads.
 *
 * @typedef {object} ViewOfHeads
 * @property {Name} name
 * @property {string} label
 * @property {string} title
 * @property {(props: {state: any, theme: Theme}) => unknown} View
 */

/**
 * @param {object} props
 * @param {ManyHeads} props.state
 * @param {Theme} props.theme
 * @param {ViewOfHeads[]} props.views the first is shown where another was chosen
 */
export function Overview({ state, theme, views }) {
  if (state.conditions.size) state.askNumbers();
  const view = views.find(({ name }) => name === state.selection.overview) ?? views[0];
  return html`
    <section class="hs-section hs-atlas">
      <div class="hs-row">
        <h3 class="hs-heading">Every head</h3>
        <span class="hs-spring"></span>
        ${
          views.length > 1 &&
          html`<${Switch}
            name="View of every head"
            choices=${views.map(({ name, ...rest }) => ({ value: name, ...rest }))}
            chosen=${view.name}
            onChoose=${(name) => state.select({ overview: name })}
          />`
        }
      </div>
      <${Conditions} state=${state} />
      <${view.View} ...${{ state, theme }} />
    </section>
  `;
}

/** 12 of 1056 heads: Previous token > 0.4 */
export function Conditions({ state }) {
  const { numbers } = state;
  const texts = [...state.conditions].filter(([, text]) => conditionOf(text));
  if (!numbers || !texts.length) return null;
  const names = texts.map(([key, text]) => `${numbers.measure(key).title} ${text}`).join(" and ");
  return html`
    <p class="hs-filtered">
      <span aria-live="polite">${state.passing().length} of ${state.spots().length} heads: ${names}</span>${" "}
      <${Button} text="Clear" title="Show all heads alike" onClick=${() => state.select({ conditions: "" })} />
    </p>
  `;
}
