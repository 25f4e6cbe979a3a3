// A row of words of which one is chosen, with a click or with the arrow keys.

import { html } from "../core/html.js";

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
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const now = [...event.currentTarget.children].indexOf(event.target);
    if (!by || now < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.min(Math.max(0, now + by), chips.length - 1);
    event.currentTarget.children[next].focus();
    onChoose(next);
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
