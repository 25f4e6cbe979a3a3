// Buttons for the heads and layers that are drawn together.

import { html } from "../core/html.js";
import { groupOf, layerName } from "../core/labels.js";
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
 * The sites of the layers that a link lists, else the chosen one.
 *
 * @param {Pick<Chosen, "selection" | "base">} state
 */
export function sitesShown({ selection: { site, layers }, base }) {
  const listed = layers.split(".").filter(Boolean).map(Number);
  const matching = groupOf(base, site).filter((each) => listed.includes(base.sites[each].layer));
  return matching.length ? matching : [site];
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

/**
 * A button for each layer of the chosen kind of attention.
 *
 * @param {{state: Chosen}} props
 */
export function LayerSwitches({ state }) {
  const { base, selection } = state;
  const group = groupOf(base, selection.site);
  const layerOf = (/** @type {number} */ site) => base.sites[site].layer;
  const on = sitesShown(state).map(layerOf);
  return html`
    <div class="hs-heads" role="group" aria-label="Layers drawn">
      ${group.map((site) => {
        const name = layerName(base, site);
        return html`
          <button
            type="button"
            class="hs-head-switch hs-layer-switch"
            title=${`Layer ${name}: click switches it on or off`}
            aria-label=${`Layer ${name}`}
            aria-pressed=${on.includes(layerOf(site))}
            onClick=${() => state.select({ layers: toggled(on, layerOf(site)) })}
          >
            ${name}
          </button>
        `;
      })}
      <${Button} text="All" title="Draw all layers" onClick=${() => state.select({ layers: listOf(group.map(layerOf)) })} />
      <${Button} text="One" title="Draw the chosen layer alone" onClick=${() => state.select({ layers: "" })} />
    </div>
  `;
}
