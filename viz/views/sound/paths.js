// The heads that the times of words are made from, and others that follow time: the map of each over the recording,
// with the path through it alone.

import { contextOf, element, moreIs } from "../../web/core/dom.js";
import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { pathOf } from "../../web/core/sources.js";
import { Quoted } from "../../web/parts/controls.js";
import { useLayoutEffect, useRef, useState } from "../../web/vendor/hooks.js";

/** @import {Aligning, AligningHead, Mode, Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const TALL = 110; // CSS pixels of a map
/** @type {Record<Mode, string>} stands out from the scale of weights */
const PATH = { light: "#c2410c", dark: "#fb923c" };
const HINT = "Point at a map to read when its head alone places a token; choose one to see it in the views.";
const DOUBT =
  "Monotony is the rank correlation of a head’s strongest moments with the order of tokens; agreement is the share" +
  " of its weight within 0.2 s of the common path. A head that follows time need not be one that the transcript" +
  " rests on.";

/** @param {{state: TextState, theme: Theme}} props */
export function Paths({ state, theme }) {
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(/** @type {{head: AligningHead, row: number} | null} */ (null));
  const { timing, site, head: chosen } = state.selection;
  const path = isOpen ? pathOf("aligning", timing ? { method: timing } : {}) : null;
  const reply = useAnswer(state.view, "aligning", path, "Following heads");
  const answer = /** @type {Aligning | null} */ (reply.answer);
  const map = (/** @type {AligningHead} */ head) => {
    const isChosen = head.site === site && head.head === chosen;
    const agreement = `${Math.round(100 * head.agreement)}\u00a0%`;
    return html`
      <button
        type="button"
        class=${`hs-aligning-head${isChosen ? " hs-current" : ""}${head.used ? " hs-used" : ""}`}
        aria-pressed=${String(isChosen)}
        onClick=${() => state.select({ site: head.site, head: head.head })}
      >
        <${Map} ...${{ head, seconds: answer?.seconds, theme }} onPoint=${(row) => setAt(row === null ? null : { head, row })} />
        <span><strong>${nameOf(head)}</strong>${head.used && " · used"}</span>
        <span class="hs-muted">${`monotony ${head.monotony.toFixed(2)} · agreement ${agreement}`}</span>
      </button>
    `;
  };
  return html`
    <details class="hs-details hs-aligning" onToggle=${({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Heads that follow time, and their paths</summary>
      <div class="hs-aligning-box">
        <p class="hs-even" role="status">${reply.reason}</p>
        ${
          answer &&
          html`
            <p class="hs-sentence">
              ${`Rows are tokens in the order in which they are written, columns are ${answer.seconds.toFixed(1)}`}
              ${` seconds. The line is the cheapest monotone path through this head alone. ${moreIs(theme.mode)} = more, up to each map’s own largest weight.`}
            </p>
            <div class="hs-aligning-list" role="group" aria-label="Heads by how well they follow time">
              ${answer.heads.map(map)}
            </div>
            <p class="hs-read" aria-live="polite">${at ? html`<${Placed} ...${{ ...at, labels: answer.labels }} />` : HINT}</p>
            <p class="hs-doubt">${DOUBT}</p>
          `
        }
      </div>
    </details>
  `;
}

const nameOf = ({ layer, head }) => `Layer ${layer}, head ${head}`;

function Placed({ head, row, labels }) {
  const [first, last] = head.steps[row];
  const what = row < labels.length ? html`<${Quoted} label=${labels[row]} />` : "the end";
  return html`${`${nameOf(head)} alone places `}${what}${` at ${first.toFixed(2)}–${last.toFixed(2)} s`}`;
}

function Map({ head, seconds, theme, onPoint }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    if (canvas.current) paint(canvas.current, head, seconds, theme);
  }, [head, theme, devicePixelRatio]);
  const point = ({ offsetY, currentTarget }) => {
    const row = Math.floor((offsetY / currentTarget.clientHeight) * head.steps.length);
    onPoint(Math.min(head.steps.length - 1, Math.max(0, row)));
  };
  return html`
    <canvas
      class="hs-aligning-map"
      aria-hidden="true"
      ref=${canvas}
      onPointerMove=${point}
      onPointerLeave=${() => onPoint(null)}
    />
  `;
}

function paint(canvas, head, seconds, theme) {
  const [ratio, wide] = [devicePixelRatio || 1, canvas.clientWidth];
  [canvas.width, canvas.height] = [Math.round(wide * ratio), Math.round(TALL * ratio)];
  const context = contextOf(canvas);
  context.imageSmoothingEnabled = false;
  context.drawImage(cellsOf(head, theme), 0, 0, canvas.width, canvas.height);
  context.scale(ratio, ratio);
  context.lineJoin = "round";
  for (const [colour, width] of /** @type {[string, number][]} */ ([
    [theme.background, 4],
    [PATH[theme.mode], 1.75],
  ])) {
    [context.strokeStyle, context.lineWidth] = [colour, width];
    context.beginPath();
    head.steps.forEach((step, row) => {
      for (const second of step)
        context.lineTo((second / seconds) * wide, ((row + 0.5) / head.steps.length) * TALL);
    });
    context.stroke();
  }
}

/** A head's weights, a pixel a cell. */
function cellsOf({ map: { rows, cols, levels } }, { ramp }) {
  const canvas = element("canvas");
  [canvas.width, canvas.height] = [cols, rows];
  const [bytes, image] = [atob(levels), new ImageData(cols, rows)];
  for (let i = 0; i < rows * cols; i++) {
    const at = 3 * Math.round(Math.sqrt(bytes.charCodeAt(i) / 255) * 255);
    image.data.set([ramp[at], ramp[at + 1], ramp[at + 2], 255], 4 * i);
  }
  contextOf(canvas).putImageData(image, 0, 0);
  return canvas;
}
