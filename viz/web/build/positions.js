// Positions: how many there are and how long their waves, the wave of a feature, and the hands of rotary pairs.

import { html } from "../core/html.js";
import { valuesOf } from "./items.js";

/** @import {CardData, Cell} from "./card.js" */

const LENGTHS = [8, 16, 32, 64, 128, 256, 512];
const BASES = [10, 100, 1000, 10_000, 100_000, 1_000_000];
const [WIDE, TALL, DIAL] = [300, 90, 44]; // units of a drawing
const DIALS = 8; // pairs whose hands are drawn

/** "p:PATH:LENGTH:BASE" in its parts. */
function partsOf(address) {
  const [base, length, ...path] = address.split(":").reverse();
  return { path: path.reverse().join(":"), length: parseInt(length, 10), base: parseFloat(base) };
}

/** Length and base, as sliders. @param {{card: CardData, onMove: (address: string) => void}} props */
export function PositionSettings({ card, onMove }) {
  const { path, length, base } = partsOf(card.address);
  const to = (next) => onMove([path, next.length ?? length, next.base ?? base].join(":"));
  const slider = (name, values, value, unset, key) => {
    const at = values.indexOf(value);
    return html`
      <label class="hs-build-slider">
        <span>${name} <b>${value ? value.toLocaleString("en") : unset}</b></span>
        <input
          type="range"
          min="-1"
          max=${values.length - 1}
          value=${at}
          aria-valuetext=${value ? String(value) : unset}
          onInput=${({ currentTarget }) => to({ [key]: values[currentTarget.valueAsNumber] ?? 0 })}
        />
      </label>
    `;
  };
  return html`
    <div class="hs-row">
      ${slider("Positions", LENGTHS, length, "of the input", "length")}
      ${card.waves && slider("Base", BASES, base, "of the network", "base")}
    </div>
  `;
}

/**
 * The wave of the chosen feature over the positions, and its likeness to the chosen position.
 *
 * @param {{card: CardData, area: Uint8Array, at: Cell | null}} props
 */
export function Waves({ card, area, at }) {
  const table = card.matrices.find(({ name }) => name === "positions");
  if (!table) return null;
  const [rows, cols] = table.shape;
  const values = valuesOf(table, area);
  const col = Math.min(
    cols - 1,
    Math.floor(((at?.matrix === "positions" ? at.col : 2) * cols) / table.of[1]),
  );
  const row = Math.min(rows - 1, Math.floor(((at?.row ?? rows >> 1) * rows) / table.of[0]));
  const wave = Array.from({ length: rows }, (_, n) => values[n * cols + col]);
  const most = Math.max(1e-9, ...wave.map(Math.abs));
  const x = (n) => ((n + 0.5) * WIDE) / rows;
  const points = wave.map((value, n) => `${x(n)},${TALL / 2 - (value / most) * (TALL / 2 - 4)}`).join(" ");
  const feature = Math.floor((col * table.of[1]) / cols);
  return html`
    <figure class="hs-build-matrix">
      <figcaption>${`feature ${feature} over the positions`}</figcaption>
      <svg viewBox=${`0 0 ${WIDE} ${TALL}`} width=${WIDE} height=${TALL} role="img" aria-label=${`The wave of feature ${feature}`}>
        <line x1="0" x2=${WIDE} y1=${TALL / 2} y2=${TALL / 2} stroke="var(--hs-line)" />
        <line x1=${x(row)} x2=${x(row)} y1="0" y2=${TALL} stroke="var(--hs-primary)" stroke-dasharray="3 3" />
        <polyline points=${points} fill="none" stroke="var(--hs-primary)" stroke-width="2" />
      </svg>
    </figure>
    ${card.rotary && html`<${Dials} ...${{ values, rows, cols, row }} />`}
  `;
}

/** The hands of the first pairs at one position. */
function Dials({ values, cols, row }) {
  const half = cols >> 1;
  const pairs = Array.from({ length: Math.min(DIALS, half) }, (_, n) =>
    Math.floor((n * half) / Math.min(DIALS, half)),
  );
  const middle = DIAL / 2;
  return html`
    <figure class="hs-build-matrix">
      <figcaption>${`pairs at position ${row}`}</figcaption>
      <svg viewBox=${`0 0 ${pairs.length * DIAL} ${DIAL}`} width=${pairs.length * DIAL} height=${DIAL} role="img" aria-label="The angle of each pair">
        ${pairs.map((pair, n) => {
          const [cos, sin] = [values[row * cols + pair], values[row * cols + half + pair]];
          const [cx, radius] = [n * DIAL + middle, middle - 4];
          return html`
            <circle cx=${cx} cy=${middle} r=${radius} fill="none" stroke="var(--hs-line)" />
            <line x1=${cx} y1=${middle} x2=${cx + radius * cos} y2=${middle - radius * sin} stroke="var(--hs-primary)" stroke-width="2" />
          `;
        })}
      </svg>
    </figure>
  `;
}
