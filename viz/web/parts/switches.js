// Buttons for the heads and layers that are drawn together.

import { html } from "../core/html.js";
import { Button } from "./controls.js";

/** @import {Base, Head, Selection, Theme} from "../types" */

/** @typedef {{selection: Selection, base: Base, select: (change: Partial<Selection>) => void}} Chosen */

/**
 * @param {Head} head
 * @param {Theme} theme
 */
export const headColour = (head, theme) =>
  typeof head === "number" ? theme.heads[head % theme.heads.length] : theme.primary;

/**
 * The heads that are drawn: those that a link lists, else the chosen one.
 *
 * @param {string} listed numbers joined by dots
 * @param {Head} head the chosen one
 * @param {number} count heads of the site
 * @returns {Head[]}
 */
export function headsShown(listed, head, count) {
  const numbers = listed.split(".").filter(Boolean).map(Number);
  const heads = [...new Set(numbers)].filter((each) => each < count).sort((a, b) => a - b);
  return heads.length ? heads : [head];
}

/**
 * Numbers as a link lists them, without what is none.
 *
 * @param {unknown[]} numbers
 */
export const listOf = (numbers) =>
  numbers
    .filter((each) => typeof each === "number")
    .sort((a, b) => a - b)
    .join(".");

/**
 * The list after one was switched on or off; one always stays.
 *
 * @param {unknown[]} on
 * @param {number} each
 */
export function toggled(on, each) {
  const others = on.filter((other) => other !== each && typeof other === "number");
  return listOf(others.length === on.length || !others.length ? [...others, each] : others);
}

/**
 * A button for each head: a click switches it on or off, a double click draws it alone.
 *
 * @param {{state: Chosen, theme: Theme}} props
 */
export function HeadSwitches({ state, theme }) {
  const { site, shown: listed, head: chosen } = state.selection;
  const count = state.base.sites[site].heads;
  const all = [...Array(count).keys()];
  const on = headsShown(listed, chosen, count);
  return html`
    <div class="hs-heads" role="group" aria-label="Heads drawn">
      ${all.map(
        (head) => html`
          <button
            type="button"
            class="hs-head-switch"
            title=${`Head ${head}: click switches it on or off, a double click draws it alone`}
            aria-label=${`Head ${head}`}
            aria-pressed=${on.includes(head)}
            style=${{ "--head": headColour(head, theme) }}
            onClick=${() => state.select({ shown: toggled(on, head) })}
            onDblClick=${() => state.select({ head, shown: "" })}
          >
            ${head}
          </button>
        `,
      )}
      <${Button} text="All" title="Draw all heads of the layer" onClick=${() => state.select({ shown: listOf(all) })} />
      <${Button} text="One" title="Draw the chosen head alone" onClick=${() => state.select({ shown: "" })} />
    </div>
  `;
}
