// Buttons for the heads and layers that are drawn together.

import { html } from "../core/html.js";
import { Menu } from "./controls.js";

/** @import {Base, Head, Selection, Theme} from "../types" */

/** @typedef {{selection: Selection, base: Base, select: (change: Partial<Selection>) => void}} Chosen */

/** @param {Head} head @param {Theme} theme */
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

/** Numbers as a link lists them, without what is none. @param {unknown[]} numbers */
export const listOf = (numbers) =>
  numbers
    .filter((each) => typeof each === "number")
    .sort((a, b) => a - b)
    .join(".");

/** The list after one was switched on or off; one always stays. @param {unknown[]} on @param {number} each */
export function toggled(on, each) {
  const others = on.filter((other) => other !== each && typeof other === "number");
  return listOf(others.length === on.length || !others.length ? [...others, each] : others);
}

/** Whether the chosen head is drawn, or several, of which there are all at first. @param {{state: Chosen}} props */
export function HowManyHeads({ state }) {
  const { site, shown: listed } = state.selection;
  const all = listOf([...Array(state.base.sites[site].heads).keys()]);
  return html`<${Menu}
    name="Heads drawn"
    title="Draws the lines of one head, or of several in their colours"
    labels=${["The chosen head", "Several heads"]}
    index=${listed ? 1 : 0}
    onChoose=${(index) => state.select({ shown: index ? all : "" })}
  />`;
}

/**
 * A button for each head, where several may be drawn: a click switches it on or off, a double click draws it alone.
 *
 * @param {{state: Chosen, theme: Theme}} props
 */
export function HeadSwitches({ state, theme }) {
  const { site, shown: listed, head: chosen } = state.selection;
  const count = state.base.sites[site].heads;
  const all = [...Array(count).keys()];
  const on = headsShown(listed, chosen, count);
  if (!listed) return null;
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
    </div>
  `;
}
