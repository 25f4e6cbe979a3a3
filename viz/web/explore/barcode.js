// The numbers that come out of a network without words: a stripe each, and how far edits moved them.

import { colourOf, pixelOf } from "../core/colours.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { Pixels } from "../painting/pixels.js";
import { useMemo } from "../vendor/hooks.js";

const WIDE = 450;
const HIGH = 18;

/** @param {{view: import("../core/state.js").State<any>, theme: import("../types").Theme}} props */
export function Barcode({ view, theme }) {
  const { newest } = useAnswer(view, "vector", view.holds("vector") ? "vector" : null);
  const values = newest?.values ?? [];
  const pixels = useMemo(() => {
    const most = Math.max(...values.map(Math.abs)) || 1;
    return Uint32Array.from(values, (value) => pixelOf(colourOf(theme, value, most, true)));
  }, [newest, theme]);
  if (!newest) return html`<span class="hs-answer-lead">Comes out</span>`;
  const { of, like } = newest;
  const { length } = values;
  return html`
    <span class="hs-answer-lead">Comes out</span>
    <${Pixels}
      ...${{ pixels, across: length }}
      class="hs-barcode"
      style=${{ width: `${WIDE}px`, height: `${HIGH}px` }}
      role="img"
      aria-label=${`The ${length} numbers, brown below zero, blue above`}
    />
    <span class="hs-answer-note">${`${length.toLocaleString("en")} numbers that stand for the ${of}`}</span>
    ${like !== null && html`<b class="hs-answer-effect">${`${(100 * like).toFixed(like > 0.999 ? 2 : 1)} % like before`}</b>`}
  `;
}
