// The numbers that come out of a network without words: a stripe each, and how far edits moved them.

import { colourOf } from "../core/colours.js";
import { contextOf } from "../core/dom.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

const WIDE = 450;
const HIGH = 18;

/** @param {{view: import("../core/state.js").State<any>, theme: import("../types").Theme}} props */
export function Barcode({ view, theme }) {
  const { newest } = useAnswer(view, "vector", view.holds("vector") ? "vector" : null);
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const values = newest?.values;
  useLayoutEffect(() => {
    if (!canvas.current || !values) return;
    canvas.current.width = values.length;
    canvas.current.height = 1;
    const most = Math.max(...values.map(Math.abs)) || 1;
    const pixels = contextOf(canvas.current).createImageData(values.length, 1);
    values.forEach((value, i) => {
      pixels.data.set([...colourOf(theme, value, most, true), 255], 4 * i);
    });
    contextOf(canvas.current).putImageData(pixels, 0, 0);
  }, [values, theme]);
  if (!newest) return html`<span class="hs-answer-lead">Comes out</span>`;
  const { of, like } = newest;
  const { length } = newest.values;
  return html`
    <span class="hs-answer-lead">Comes out</span>
    <canvas
      class="hs-barcode"
      style=${{ width: `${WIDE}px`, height: `${HIGH}px` }}
      role="img"
      aria-label=${`The ${length} numbers, brown below zero, blue above`}
      ref=${canvas}
    />
    <span class="hs-answer-note">${`${length.toLocaleString("en")} numbers that stand for the ${of}`}</span>
    ${like !== null && html`<b class="hs-answer-effect">${`${(100 * like).toFixed(like > 0.999 ? 2 : 1)} % like before`}</b>`}
  `;
}
