// One opened box: what is in it, or the matrices that it multiplies.

import { Cells } from "../../views/head/cells.js";
import { pixelOf } from "../core/colours.js";
import { useReply } from "../core/hooks.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { Pixels } from "../painting/pixels.js";
import { Button } from "../parts/controls.js";
import { useMemo, useState } from "../vendor/hooks.js";
import { factsOf, Items, printed, shapeOf, valuesOf } from "./items.js";
import { PositionSettings, Waves } from "./positions.js";

/** @import {Source, Theme} from "../types" */
/** @import {Pooled, Item} from "./items.js" */

/** @typedef {{name: string, title: string, rows: string, cols: string, shares: boolean} & Pooled} Matrix */

/**
 * @typedef {object} CardData
 * @property {string} address
 * @property {string} title
 * @property {string} description
 * @property {Item[]} items
 * @property {Matrix[]} matrices
 * @property {string[]} joins
 * @property {string[]} rows
 * @property {string[]} keys
 * @property {number[]} shape
 * @property {number} parameters
 * @property {number} flops
 * @property {string} closed
 * @property {{shape: [number, number], cuts: [number, number], at: number} | null} picture that it reads
 * @property {boolean} runs whether there is a pass with numbers
 * @property {boolean} untrained
 * @property {boolean} [waves] whether its positions have a base
 * @property {boolean} [rotary] whether they rotate pairs of features
 */

/** @typedef {{matrix: string, row: number, col: number}} Cell */

/** @typedef {Cell & {at: {row: number, col: number}}} Pointed a number, and the cell on the screen that shows it */

const [WIDE, TALL] = [180, 108]; // CSS pixels that a matrix may take at a unit of 1, where there is room
const JOIN = 52; // CSS pixels of what stands between two
const [LEAST, MOST] = [1.5, 14]; // of a cell

/**
 * @param {object} props
 * @param {Source} props.source
 * @param {string} props.at its address there
 * @param {CardData} props.card
 * @param {Uint8Array} props.area
 * @param {Theme} props.theme
 * @param {number} props.unit factor of the size of type
 * @param {number} props.width of the card, in CSS pixels
 * @param {string} props.next the address of the card that is open below
 * @param {Cell | null} props.cell
 * @param {(address: string) => void} props.onOpen
 * @param {(cell: Cell) => void} props.onCell
 * @param {(address: string) => void} props.onMove another address in the place of the card's
 * @param {(() => void) | null} props.onClose
 */
export function Card({ card, area, theme, unit, width, next, cell, onOpen, onCell, onMove, onClose, ...of }) {
  const [pointed, setPointed] = useState(/** @type {Pointed | null} */ (null));
  const matrix = card.matrices.find(({ name }) => name === pointed?.matrix);
  const { address } = card;
  return html`
    <header class="hs-build-title">
      <h3>${card.title}</h3>
      <span class="hs-muted">${card.description}</span>
      <span class="hs-build-facts">${factsOf(card)}</span>
      <${Code} key=${address} ...${of} />
      ${onClose && html`<${Button} text="×" title="Close this box" onClick=${onClose} />`}
    </header>
    ${card.picture && html`<${Patches} picture=${card.picture} area=${area} />`}
    ${address.startsWith("p:") && html`<${PositionSettings} ...${{ card, onMove }} />`}
    <${Items} items=${card.items} ...${{ area, theme, next, onOpen }} />
    ${
      card.matrices.length > 0 &&
      html`
        <div class="hs-build-flow">
          ${card.matrices.map((each, n) => [
            n > 0 && html`<span class="hs-build-arrow">${card.joins[n - 1]}</span>`,
            html`<${Drawn} key=${each.name} ...${{ matrix: each, card, area, theme, unit, width, cell, onCell }} pointed=${pointed} onPoint=${setPointed} />`,
          ])}
          ${address.startsWith("p:") && html`<${Waves} ...${{ card, area }} at=${pointed ?? cell} />`}
        </div>
        <p class="hs-read" aria-live="polite">
          ${pointed && matrix ? wordsOf(card, matrix, pointed, area) : "Point at a number to read it; choose it to see where it comes from."}
        </p>
      `
    }
    ${card.closed && html`<p class="hs-doubt">${card.closed}</p>`}
  `;
}

/** The picture that a part reads, and where it is cut into patches. */
function Patches({ picture: { shape, cuts, at }, area }) {
  const pixels = useMemo(() => {
    const colour = (i) =>
      /** @type {[number, number, number]} */ ([...area.subarray(at + 3 * i, at + 3 * i + 3)]);
    return Uint32Array.from({ length: shape[0] * shape[1] }, (_, i) => pixelOf(colour(i)));
  }, [at, area]);
  const [down, across] = cuts;
  return html`
    <figure class="hs-build-matrix hs-build-pixels">
      <span style=${{ "--down": down, "--across": across }}><${Pixels} ...${{ pixels, across: shape[1] }} aria-hidden="true" /></span>
      <figcaption>${`${down} × ${across} patches, read row by row: each becomes one row of numbers`}</figcaption>
    </figure>
  `;
}

/** One matrix with its title and shape. */
function Drawn({ matrix, card, area, theme, unit, width, cell, onCell, pointed, onPoint }) {
  const [rows, cols] = matrix.shape;
  const count = card.matrices.length;
  const room = Math.min(WIDE * unit, Math.max(84, (width - 40 - JOIN * unit * (count - 1)) / count));
  const size = (pixels, cells) => Math.min(MOST * unit, Math.max(LEAST, pixels / cells));
  const within = ({ row, col }) => ({ row: pooledAt(row, matrix, 0), col: pooledAt(col, matrix, 1) });
  const exact = (at) => at && { matrix: matrix.name, ...exactOf(at, matrix, area), at };
  const isHere = cell?.matrix === matrix.name;
  const marks = cell ? marksOf(cell, matrix) : {};
  const place = pointed?.matrix === matrix.name ? pointed.at : isHere ? within(cell) : null;
  return html`
    <figure class="hs-build-matrix">
      <figcaption>${legible(matrix.title)}</figcaption>
      <${Cells}
        ...${{ theme, across: cols }}
        values=${valuesOf(matrix, area)}
        wide=${size(room, cols)}
        tall=${size(TALL * unit, rows)}
        isShare=${matrix.shares}
        marked=${{ row: marks.row === undefined ? null : pooledAt(marks.row, matrix, 0), col: marks.col === undefined ? null : pooledAt(marks.col, matrix, 1) }}
        at=${place}
        label=${`${matrix.title}, ${shapeOf(matrix.of).replace("×", "by")} numbers`}
        onPoint=${(at) => onPoint(exact(at))}
        onChoose=${(at) => onCell(exact(at))}
      />
      <small>${shapeOf(matrix.of)}</small>
    </figure>
  `;
}

const FROM = {
  scores: ["queries", "keys"],
  weights: ["scores"],
  output: ["weights", "values"],
  written: ["output"],
};

/** The row and column of a matrix that the chosen number comes from. */
function marksOf({ matrix: of, row, col }, { name }) {
  if (name === of) return { row };
  if (of === "weights" && name === "scores") return { row };
  if (!(FROM[of] ?? ["input", "weight"]).includes(name)) return {};
  if (name === "keys") return { row: col };
  if (name === "values" || name === "weight") return { col };
  return { row };
}

/** The number of a matrix that a cell on the screen shows. */
function exactOf({ row, col }, { shape, of, places }, area) {
  if (places === undefined) return { row, col };
  const [rows, cols] = shape;
  const there = new Int32Array(area.buffer, area.byteOffset + places, rows * cols)[row * cols + col];
  return { row: Math.floor(there / of[1]), col: there % of[1] };
}

const pooledAt = (place, { shape, of }, axis) =>
  Math.min(shape[axis] - 1, Math.floor(((place + 0.5) * shape[axis]) / of[axis]));

/** A number in words. */
function wordsOf(card, matrix, { row, col, at }, area) {
  const labels = matrix.rows === "key" ? card.keys : card.rows;
  const isPair = matrix.name === "scores" || matrix.name === "weights";
  const first = labels[row] === undefined ? `row ${row}` : `“${legible(labels[row])}”`;
  const second = isPair ? `reads “${legible(card.keys[col] ?? "")}”` : `${matrix.cols} ${col}`;
  const place = matrix.rows === "feature" ? `from feature ${row} to ${second}` : `${first} ${second}`;
  const value = valuesOf(matrix, area)[at.row * matrix.shape[1] + at.col];
  const isPooled = matrix.shape.some((count, axis) => count < matrix.of[axis]);
  return `${matrix.title}: ${place}: ${printed(value, matrix.shares)}${isPooled ? ", the largest of its cell" : ""}`;
}

/** The lines that run, asked for when they are wanted. */
function Code({ source, at }) {
  const [isOpen, setOpen] = useState(false);
  const answer = useReply(source, isOpen ? pathOf("lines", { at }) : undefined);
  return html`
    <${Button} text="Code" title="The lines that run" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)} />
    ${
      isOpen &&
      answer &&
      html`<div class="hs-build-code">
        <p class="hs-muted">${answer.why ?? (answer.file ? `${answer.file}, line ${answer.line}` : "It is no module: the code around it computes it.")}</p>
        ${answer.code && html`<pre class="hs-code" tabindex="0"><code>${answer.code}</code></pre>`}
      </div>`
    }
  `;
}
