// Every head of the chosen layer at once: where the token in question looks, or who looks at it.

import { cellOf } from "../../web/core/grids.js";
import { useNewest, useSpace } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { rove } from "../../web/core/keys.js";
import { walk } from "../../web/image/map.js";
import { Area, fitted, OverPicture } from "../../web/parts/over_picture.js";
import { useRef } from "../../web/vendor/hooks.js";
import { pixelsOfRow } from "./view.js";

/** @import {PatchState} from "../../web/image/state.js" */

const LEAST = 56; // CSS pixels of a small picture
const AROUND = 26; // of its name
const MOST = 12; // pictures side by side
const GAP = 10;

const labelOf = (name) => (typeof name === "number" ? `head ${name}` : `${name} of heads`);

/** @param {{state: PatchState}} props */
export function Heads({ state }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(box);
  const { title } = state.props;
  const { head } = state.selection;
  const rows = state.complete ? state.rows() : null;
  const names = state.heads();
  const { scale } = state.selection;
  const token = state.token();
  const shared = state.topBeside;
  const inputs = [rows, state.ramp, state.base, state.bitmap, scale, token, shared];
  const drawn = useNewest(Boolean(rows), () => mapsOf(state, rows), inputs);
  const { bitmap } = state;
  const newest = useNewest(Boolean(rows), () => rows, [rows]);
  const shape = bitmap ? bitmap.height / bitmap.width : 1;
  const { wide, across } = largestTiles(names.length, space, shape);
  const size = fitted({ ...space, wide }, bitmap, Infinity);
  const keyed = (event) => {
    const next = rove(event, across);
    if (next >= 0) state.select({ head: names[next] });
  };
  return html`
    <section class="hs-section">
      <${Prefix} ...${{ state, rows: newest }} />
      <div class=${state.complete ? "hs-stage" : "hs-stage hs-dim"}>
        <div
          class="hs-tiles"
          role="radiogroup"
          aria-label=${`${title ? `${title}: ` : ""}${state.site().heads} heads of ${state.siteName()}, then their mean and maximum`}
          style=${{ gridTemplateColumns: `repeat(${across}, max-content)` }}
          ref=${box}
          onKeyDown=${keyed}
        >
          ${names.map(
            (name, i) => html`
              <button
                type="button"
                class="hs-tile"
                role="radio"
                aria-checked=${name === head}
                aria-label=${labelOf(name)}
                tabindex=${name === head ? "0" : "-1"}
                onClick=${() => state.select({ head: name })}
              >
                <span class="hs-tile-label">${labelOf(name)}</span>
                ${drawn?.[i] && size && html`<${OverPicture} ...${{ bitmap, size, ...drawn[i] }} kind="hs-small" />`}
              </button>
            `,
          )}
        </div>
      </div>
    </section>
  `;
}

/** The tokens without a place, each with what it gets or gives. */
function Prefix({ state, rows }) {
  const { prefix } = state;
  if (!prefix) return null;
  const isShare = state.axis === "query" && state.selection.head !== "max";
  const shareOf = (token) => {
    if (!rows) return "";
    const value = rows.whole[state.headIndex][token];
    const sign = !rows.exact ? "≈ " : state.difference && value > 0 ? "+" : "";
    return `${sign}${isShare ? `${(100 * value).toFixed(1)}\u00a0%` : value.toFixed(3)}`;
  };
  const chip = (token) => (token === state.token() ? "hs-chip hs-current" : "hs-chip");
  return html`
    <div class="hs-prefix" role="group" aria-label="Tokens without a position">
      ${state
        .labels()
        .query.slice(0, prefix)
        .map(
          (label, token) => html`
            <button
              type="button"
              class=${chip(token)}
              aria-pressed=${token === (state.selection.token ?? 0)}
              onClick=${() => state.select({ token })}
              onPointerEnter=${(event) => event.pointerType === "mouse" && state.pointAt(token)}
              onPointerLeave=${() => state.pointAt(null)}
              onKeyDown=${(event) => walk(state, event)}
            >
              ${label} <span class="hs-muted">${shareOf(token)}</span>
            </button>
          `,
        )}
    </div>
  `;
}

/** How many pictures stand side by side, so that all are in sight and as large as they can be. */
function largestTiles(count, { wide, high }, shape) {
  const widths = Array.from({ length: Math.min(MOST, count) }, (_, i) => {
    const rows = Math.ceil(count / (i + 1));
    return Math.min((wide - GAP * i) / (i + 1) - 4, ((high - 2) / rows - AROUND - GAP) / shape);
  });
  const best = Math.max(...widths);
  return { wide: Math.max(LEAST, best), across: widths.indexOf(best) + 1 };
}

function mapsOf(state, rows) {
  const grid = state.grid();
  const marks = html`<${Area} kind="hs-at-chosen" sides=${cellOf([grid], state.token())} />`;
  return rows.heads.map((values) => ({
    layers: [{ grid, pixels: pixelsOfRow(state, values) }],
    ...{ marks, isGrey: state.difference },
  }));
}
