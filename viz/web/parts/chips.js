// A row of words of which one is chosen, with a click or with the arrow keys.

import { html } from "../core/html.js";
import { rove } from "../core/keys.js";

/** @typedef {{text: unknown, title?: string, kind?: string, disabled?: boolean, share?: number}} Chip share: of an underline */

/**
 * @param {object} props
 * @param {string} props.label
 * @param {Chip[]} props.chips
 * @param {number} props.chosen −1 for none
 * @param {(index: number) => void} props.onChoose
 */
export function Chips({ label, chips, chosen, onChoose }) {
  const walk = (event) => {
    const next = rove(event);
    if (next >= 0) onChoose(next);
  };
  return html`
    <div class="hs-words" role="radiogroup" aria-label=${label} onKeyDown=${walk}>
      ${chips.map(
        ({ text, title, kind = "", disabled = false, share }, i) => html`
          <button
            type="button"
            role="radio"
            dir="auto"
            class=${`hs-chip ${kind} ${i === chosen ? "hs-current" : ""}`}
            aria-checked=${i === chosen}
            tabindex=${i === Math.max(0, chosen) ? "0" : "-1"}
            ...${{ title, disabled }}
            style=${share === undefined ? undefined : { "--share": String(Math.sqrt(share)) }}
            onClick=${() => onChoose(i)}
          >
            ${text}
          </button>
        `,
      )}
    </div>
  `;
}
