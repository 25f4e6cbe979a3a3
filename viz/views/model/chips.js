// The tokens of a text, shaded by their numbers.

import { colourOf, textOn } from "../../web/core/colours.js";
import { html } from "../../web/core/html.js";
import { legible } from "../../web/core/labels.js";
import { largest, number } from "../../web/methods/choices.js";

/** @import {Text, Theme} from "../../web/types" */

/**
 * @param {object} props
 * @param {Theme} props.theme
 * @param {Text} props.text
 * @param {number[]} props.values
 * @param {string} props.label
 * @param {(text: string) => void} props.onRead with what a token has, "" when it is left
 * @param {(token: number) => void} [props.onChoose]
 * @param {number} [props.current]
 */
export function Chips({ theme, text: { labels, special }, values, label, onRead, onChoose, current }) {
  const signed = values.some((value) => value < 0);
  const top = largest(values);
  const chip = (token, i) => {
    const value = values[i];
    const title = value === undefined ? "" : `“${legible(token)}” (${i}): ${number(value)}`;
    const ground = value === undefined ? null : colourOf(theme, value, top, signed);
    const style = ground ? { background: `rgb(${ground.join()})`, color: textOn(ground, theme.text) } : {};
    const kinds = ["hs-chip", special.includes(i) && "hs-special", i === current && "hs-current"];
    const read = () => onRead(title);
    const leave = () => onRead("");
    return html`
      <button
        type="button"
        dir="auto"
        class=${kinds.filter(Boolean).join(" ")}
        ...${{ title, style }}
        aria-label=${title || legible(token)}
        onPointerEnter=${read}
        onFocus=${read}
        onPointerLeave=${leave}
        onBlur=${leave}
        onClick=${() => onChoose?.(i)}
      >
        ${legible(token)}
      </button>
    `;
  };
  return html`<div class="hs-chips" role="group" aria-label=${label}>${labels.map(chip)}</div>`;
}
