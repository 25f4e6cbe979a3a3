// Tables whose cells are buttons: arrow keys go from one to the next.

import { textOn } from "../core/colours.js";
import { html } from "../core/html.js";
import { stepOf } from "../core/keys.js";
import { legible } from "../core/labels.js";

/** @import {Theme} from "../types" */

/** @typedef {{row: number, column: number}} Place */

/**
 * @typedef {object} CellOfTable
 * @property {string} text
 * @property {string} label what is read out
 * @property {[number, number, number]} ground
 * @property {string} [kind] classes
 * @property {string} [place] classes of the place around it
 * @property {boolean} [pressed]
 */

/**
 * @typedef {object} TableProps
 * @property {string} label
 * @property {Theme} theme
 * @property {{name: string, title?: string, kind?: string, more?: unknown}[]} columns
 * @property {{name: string, label?: string, cells: (CellOfTable | null)[], after?: unknown}[]} rows
 * @property {unknown} [after] the last header
 * @property {(place: Place) => void} [onChoose]
 * @property {(place: Place | null) => void} [onPoint] with the pointer or the focus
 * @property {(place: Place | null) => void} [onFocus] with the focus or a click
 * @property {string} [kind] classes of the table
 * @property {boolean} [dim]
 * @property {{current: HTMLElement | null}} [box] what scrolls
 */

/** @param {TableProps} props */
export function CellTable({ label, theme, columns, rows, after, kind = "", dim = false, box, ...on }) {
  const { onChoose, onPoint, onFocus } = on;
  const focus = ({ target }) => {
    onPoint?.(placeOf(target));
    onFocus?.(placeOf(target));
  };
  const click = ({ target }) => {
    const place = placeOf(target);
    if (place) onChoose?.(place);
    onFocus?.(place);
  };
  return html`
    <div class=${`hs-scroller ${dim ? "hs-dim" : ""}`} role="group" aria-label=${label} ref=${box}>
      <table
        class=${`hs-cells ${kind}`}
        onClick=${click}
        onPointerOver=${({ target }) => onPoint?.(placeOf(target))}
        onFocusIn=${focus}
        onPointerLeave=${() => onPoint?.(null)}
        onKeyDown=${walk}
      >
        <thead>
          <tr>
            <th class="hs-cells-corner" scope="col">layer</th>
            ${columns.map(
              ({ name, title, kind: of, more }) =>
                html`<th scope="col" title=${title} class=${of}><bdi>${legible(name)}</bdi>${more}</th>`,
            )}
            ${after}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ name, label: full, cells, after: end }, row) => html`
              <tr>
                <th scope="row" aria-label=${full}>${name}</th>
                ${cells.map((cell, column) => html`<${Cell} ...${{ cell, row, column, theme }} />`)}${end}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function Cell({ cell, row, column, theme }) {
  if (!cell) return html`<td></td>`;
  const { text, label, ground, kind = "", place, pressed } = cell;
  return html`
    <td class=${place}>
      <button
        type="button"
        class=${`hs-cell ${kind}`}
        tabindex=${row || column ? "-1" : "0"}
        aria-label=${label}
        aria-pressed=${pressed}
        data-row=${row}
        data-column=${column}
        style=${{ background: `rgb(${ground.join()})`, color: textOn(ground, theme.text) }}
      >
        ${text}
      </button>
    </td>
  `;
}

const cellOf = (target) => target?.closest?.(".hs-cell") ?? null;

/** Of the cell's button. */
function placeOf(target) {
  const cell = cellOf(target);
  return cell && { row: Number(cell.dataset.row), column: Number(cell.dataset.column) };
}

/** Arrow keys go from cell to cell, and leave the last one in the order of tabs. */
function walk(event) {
  const step = stepOf(event);
  const cell = cellOf(event.target);
  if (!cell || !step) return;
  event.preventDefault();
  const { row, column } = cell.dataset;
  const place = `[data-row="${Number(row) + step[0]}"][data-column="${Number(column) + step[1]}"]`;
  const next = event.currentTarget.querySelector(`.hs-cell${place}`);
  if (!next) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
