// One head's matrix: rows attend, columns are attended to. It is painted on two canvases, the picture and
// above it the cross-hair; what a pointer changes is painted, not rendered.

import { useLayoutEffect, useRef } from "../../web/vendor/hooks.js";
import { fit, markPainted } from "../../web/core/dom.js";
import { useNewest, useWanted } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { paintCross } from "./cross.js";
import { covers, density, POOLED } from "../../web/text/maps.js";
import { ChangedOffer } from "./offers.js";
import { paintPicture } from "../../web/painting/painter.js";
import { describe, layoutFor, pictureOf } from "./picture.js";
import { Reading, Tip } from "./reading.js";
import { useTouch } from "./touch.js";
import { tipPlace, visible } from "../../web/painting/viewport.js";
import { useZoom } from "./zoom.js";

/** @import {ViewProps} from "../../web/core/view_panel.js" */
/** @import {Subject} from "./picture.js" */
/** @import {Layout} from "../../web/painting/viewport.js" */

const TILE_MS = 120; // pause in zooming and panning before a finer tile is fetched

/** @param {ViewProps} props */
export function Matrix({ state, theme, space, panel }) {
  const overlay = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { subject, layout, zoom, picture } = usePicture(state, theme, space);
  const lags = () => !subject || !isChosen(state, subject);
  const touch = useTouch({ state, layout, zoom, lags });
  const canvas = usePainted(layout, picture);
  useTile(state, layout, picture, lags());
  const cell = lags() ? null : state.hover;
  useLayoutEffect(() => {
    if (!overlay.current || !layout || !picture) return;
    const context = fit(overlay.current, layout);
    context.clearRect(0, 0, layout.wide, layout.tall);
    if (cell) paintCross(context, layout, picture, cell);
  }, [layout, picture, cell]);

  panel.zoom = {
    in: () => zoom.round(1.5, state.hover),
    out: () => zoom.round(1 / 1.5, state.hover),
    reset: zoom.reset,
    isZoomed: zoom.isZoomed,
    isDeepest: zoom.isDeepest,
  };

  return html`
    <${ChangedOffer} state=${state} />
    <div class=${lags() ? "hs-stage hs-dim" : "hs-stage"} ref=${panel.stage}>
      <canvas class="hs-picture" aria-hidden="true" ref=${canvas} />
      <canvas
        class="hs-overlay"
        role="img"
        tabindex="0"
        aria-label=${layout && picture ? describe(state, layout, picture) : undefined}
        style=${{ touchAction: zoom.isZoomed() ? "none" : "pan-x pan-y" }}
        ref=${overlay}
        ...${touch}
      />
      ${
        cell &&
        layout &&
        picture &&
        html`<div class="hs-tip" aria-hidden="true" style=${{ transform: tipPlace(layout, picture.view, cell) }}>
        <${Tip} ...${{ state, cell, sinks: picture.sinks }} />
      </div>`
      }
      ${lags() && html`<div class="hs-wait">${waitingFor(state)}</div>`}
    </div>
    <p class="hs-read" aria-live="polite">
      ${cell && html`<${Reading} ...${{ state, cell, sinks: picture?.sinks }} />`}
    </p>
  `;
}

/** The newest head whose weights are here, and its picture. */
function usePicture(state, theme, space) {
  const { trace } = state;
  const { site, head, scale, token, direction, find } = state.selection;
  const variant = state.variant();
  const { values, coding, sinks } = variant;
  const parts = state.parts(site, head, variant);
  const isReady = space.wide > 0 && parts.length > 0;
  const { query, key } = state.labels(site);
  const { rows, cols } = state.ranges();
  const { wide, high, unit, family } = space;

  const of = [trace, site, head, values, coding, sinks, parts];
  const subject = useNewest(isReady, () => ({ trace, site, head, variant, parts }), of);
  const around = [theme, query, key, values, sinks, wide, high, unit, ...rows, ...cols];
  const layout = useNewest(isReady, () => layoutFor(state, site, variant, space), around);
  const zoom = useZoom(layout, trace, () => state.changed());
  useMatches(state, zoom);
  const picture = useNewest(
    isReady,
    () =>
      pictureOf(state, /** @type {Subject} */ (subject), {
        layout: /** @type {Layout} */ (layout),
        view: zoom.view(),
        theme,
        family,
      }),
    [theme, layout, ...of, scale, token, direction, zoom.part.current, find, devicePixelRatio],
  );
  return { subject, layout, zoom, picture };
}

/** Scrolls a zoomed matrix to the match that was jumped to. */
function useMatches(state, zoom) {
  const match = state.matched();
  useLayoutEffect(() => {
    if (!match || !zoom.isZoomed()) return;
    const { row, col } = zoom.view();
    const { axis, index } = match;
    const isKey = axis === "key" || state.texts().one;
    zoom.reveal({ query: axis === "query" ? index : Math.ceil(row), key: isKey ? index : Math.ceil(col) });
  }, [match?.axis, match?.index]);
}

/** The canvas of the picture, painted when the picture is another one. */
function usePainted(layout, picture) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const pixels = useRef({});
  useLayoutEffect(() => {
    if (!canvas.current || !layout || !picture) return;
    const ratio = devicePixelRatio || 1;
    paintPicture(fit(canvas.current, layout, ratio), layout, picture, ratio, pixels.current);
    markPainted(canvas.current);
  }, [layout, picture]);
  return canvas;
}

/** Asks for a finer map of what is in sight, and a little around it. */
function useTile(state, layout, picture, lags) {
  const path = layout && picture && !lags ? tilePath(state, layout, picture.view) : null;
  useWanted(state.view, "tile", path, TILE_MS);
}

function tilePath(state, layout, view) {
  const { site, head } = state.selection;
  const variant = state.variant();
  const { rows, cols } = visible(layout, view);
  const extent = Math.max(rows[1] - rows[0], cols[1] - cols[0]);
  const enough = Math.min(1, view.scale * (devicePixelRatio || 1), POOLED / (1.6 * extent)) * 0.999;
  const isFine = (part) => covers(part, rows, cols) && density(part) >= enough;
  if (state.parts(site, head, variant).some(isFine)) return null;
  const { queries, keys } = state.site();
  const pad = Math.round(extent / 4);
  const around = ([start, stop], size) => [Math.max(0, start - pad), Math.min(size, stop + pad)];
  return state.mapPath(site, head, { rows: around(rows, queries), cols: around(cols, keys) });
}

/** Whether this is the head that is chosen. */
function isChosen(state, { trace, site, head, variant }) {
  const { values, coding, sinks } = state.variant();
  const same = variant.values === values && variant.coding === coding && variant.sinks === sinks;
  return same && trace === state.trace && site === state.selection.site && head === state.selection.head;
}

function waitingFor(state) {
  const name = `${state.siteName()} · ${state.headName()}`;
  if (!state.view.remote) return `Not in this file: ${name}`;
  return state.view.client?.state("map") === "pending" ? `Fetching ${name} …` : `No answer for ${name}.`;
}
