// One number: the products that it is the sum of, one by one, and the steps from there.

import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { colourAt, textOn } from "../core/colours.js";
import { figures } from "../core/ticks.js";
import { Button, Pager } from "../parts/controls.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { brief } from "./items.js";

/** @import {Number as NumberData} from "../answers" */
/** @import {Theme} from "../types" */

const PAGE = 16; // numbers that stand beside each other

/** @param {{number: NumberData, theme: Theme, onOpen: (address: string) => void, onClose: () => void}} props */
export function Number({ number, theme, onOpen, onClose }) {
  const [chosen, setAt] = useState(0);
  const count = number.strips[0]?.values.length ?? 0;
  const at = Math.min(chosen, count - 1); // the number before may have had more
  const page = Math.floor(at / PAGE);
  useEffect(() => setAt(largestOf(number.strips)), [number]);
  const step = (by) => setAt((now) => Math.min(count - 1, Math.max(0, now + by)));
  const walk = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, m: 1, PageDown: PAGE, PageUp: -PAGE }[event.key];
    if (!by) return;
    step(by);
    event.preventDefault();
  };
  return html`
    <header class="hs-build-title">
      <h3>${legible(number.title)}</h3>
      <b class="hs-build-value">${figures(number.value ?? -Infinity)}</b>
      <span class="hs-muted">${number.leads_to && `It goes ${number.leads_to}.`}</span>
      <${Button} text="×" title="Close this number" onClick=${onClose} />
    </header>
    ${
      number.closed &&
      html`<p class="hs-doubt">
        ${`Where it comes from: ${number.closed}.`}
        ${number.opens && html` <${Button} text="Open it" title="Open the part that gives this number" onClick=${() => onOpen(number.opens)} />`}
      </p>`
    }
    <div class="hs-build-number">
      ${
        count > 0 &&
        html`
          <div class="hs-build-strips" tabindex="0" role="group" aria-label="Products; arrow keys go through them" onKeyDown=${walk}>
            <table>
              <tbody>
                ${number.strips.map((strip) => html`<${Strip} ...${{ strip, theme, page, at, setAt }} />`)}
              </tbody>
            </table>
            <p class="hs-read" aria-live="polite">${productOf(number.strips, at)}</p>
            ${
              count > PAGE &&
              html`<${Pager}
                noun="products"
                text=${`${page * PAGE} to ${Math.min(count, (page + 1) * PAGE) - 1} of ${count}`}
                isFirst=${page === 0}
                isLast=${(page + 1) * PAGE >= count}
                onTurn=${(by) => step(by * PAGE)}
              />`
            }
          </div>
        `
      }
      <ol class="hs-build-steps">
        ${number.steps.map(
          ({ name, value, how }) => html`
            <li>
              <span>${name}</span>
              <b>${figures(value ?? -Infinity)}</b>
              <small>${how}</small>
            </li>
          `,
        )}
      </ol>
    </div>
  `;
}

/** One vector, of which a page is in sight. */
function Strip({ strip: { name, values }, theme, page, at, setAt }) {
  const most = Math.max(1e-12, ...values.map((value) => Math.abs(value ?? 0)));
  const numbers = values.slice(page * PAGE, (page + 1) * PAGE);
  return html`
    <tr>
      <th scope="row">${name}</th>
      ${numbers.map((value, n) => {
        const ground = colourAt(theme.bothWays, ((value ?? 0) / most + 1) / 2);
        const index = page * PAGE + n;
        return html`
          <td
            class=${index === at ? "hs-build-here" : ""}
            style=${{ background: `rgb(${ground.join()})`, color: textOn(ground, theme.text) }}
            onPointerEnter=${() => setAt(index)}
          >
            ${brief(value)}
          </td>
        `;
      })}
    </tr>
  `;
}

/** The element with the largest last number. */
function largestOf(strips) {
  const last = strips.at(-1)?.values ?? [];
  return last.reduce((best, value, n) => (Math.abs(value ?? 0) > Math.abs(last[best] ?? 0) ? n : best), 0);
}

/** “1.78 × −1.08 = −1.93, element 14”. */
function productOf(strips, at) {
  if (strips.length < 2) return `element ${at}`;
  const [one, other, product = null] = strips.map(({ values }) => values[at]);
  if (product === null) return `${figures(one)}, ${figures(other)}: element ${at}`;
  const isProduct = Math.abs(one * other - product) <= 1e-3 * Math.max(1e-9, Math.abs(product));
  return isProduct
    ? `${figures(one)} × ${figures(other)} = ${figures(product)}: element ${at}`
    : `${strips.map(({ name, values }) => `${name} ${figures(values[at])}`).join(", ")}: element ${at}`;
}
