// One head's matrix: rows attend, columns are attended to.

import { useAnswer, useNewest, useSpace, useWanted } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { legible, nounOf } from "../../web/core/labels.js";
import { layoutOf, hasNumbers, placeOf, visible } from "../../web/painting/layout.js";
import { Plot, widthsOf } from "../../web/painting/plot.js";
import { Button, Quoted } from "../../web/parts/controls.js";
import { covers, density, POOLED } from "../../web/text/maps.js";
import { differenceScale, scoreScale, tableFor, weightScale } from "../../web/text/scale.js";
import { useLayoutEffect, useRef } from "../../web/vendor/hooks.js";
import { percent, Reading, Tip } from "./reading.js";
import { useTouch, useZoom } from "./touch.js";

/** @import {Layout} from "../../web/painting/layout.js" */

const TILE_MS = 120; // pause in zooming and panning before a finer tile is fetched
const READ = 24; // pixels of the line below the picture

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export function Matrix({ state, theme }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(stage);
  const { lags, layout, zoom, picture } = usePicture(state, theme, space);
  const touch = useTouch({ state, layout, zoom, lags });
  useWanted(state, "tile", layout && !lags ? tilePath(state, layout, zoom.view()) : null, TILE_MS);
  const cell = lags ? null : state.hover;
  const { round, reset, isZoomed, isDeepest } = zoom;
  state.panel.zoom = {
    ...{ reset, isZoomed, isDeepest },
    in: () => round(1.5, state.hover),
    out: () => round(1 / 1.5, state.hover),
  };
  const sinks = picture?.sinks;
  return html`
    <${ChangedOffer} state=${state} />
    <div class=${lags ? "hs-stage hs-dim" : "hs-stage"} style=${{ height: layout ? `${layout.tall}px` : "" }} ref=${stage}>
      ${layout && picture && html`<${Plot} ...${{ layout, picture, cell }} />`}
      <div
        class="hs-overlay"
        role="img"
        tabindex="0"
        aria-label=${layout && picture ? describe(state, layout, picture) : undefined}
        style=${{ touchAction: isZoomed() ? "none" : "manipulation" }}
        ...${touch}
      />
      ${
        cell &&
        layout &&
        picture &&
        html`<div class="hs-tip" aria-hidden="true" style=${tipPlace(layout, picture.view, cell)}>
          <${Tip} ...${{ state, cell, sinks }} />
        </div>`
      }
      ${lags && html`<div class="hs-wait">${waitingFor(state)}</div>`}
    </div>
    <p class="hs-read" aria-live="polite">${cell && html`<${Reading} ...${{ state, cell, sinks }} />`}</p>
  `;
}

/** The picture of the newest head whose weights have come; it lags while those of the chosen one are on their way. */
function usePicture(state, theme, space) {
  const { trace } = state;
  const { site, head, scale, token, direction, find } = state.selection;
  const variant = state.variant();
  const { values, sinks } = variant;
  const parts = state.parts(site, head, variant);
  const isReady = space.wide > 0 && parts.length > 0;
  const { query, key } = state.labels(site);
  const { rows, cols } = state.ranges();
  const { wide, high, unit } = space;
  const of = [trace, site, head, values, sinks, parts];
  const around = [theme, query, key, values, sinks, wide, high, unit, ...rows, ...cols];
  const layout = useNewest(isReady, () => layoutFor(state, variant, space), around);
  const zoom = useZoom(layout, trace, () => state.changed());
  useMatches(state, zoom);
  const picture = useNewest(
    isReady,
    () => pictureOf(state, parts, /** @type {Layout} */ (layout), zoom.view(), theme),
    [theme, layout, ...of, scale, token, direction, zoom.part.current, find],
  );
  return { lags: !isReady, layout, zoom, picture };
}

/** Scrolls a zoomed matrix to the match that was jumped to. */
function useMatches(state, zoom) {
  const match = state.matched();
  useLayoutEffect(() => {
    if (!match) return;
    const { row, col } = zoom.isZoomed() ? zoom.view() : { row: 0, col: 0 };
    const { axis, index } = match;
    const isKey = axis === "key" || state.texts().one;
    zoom.reveal({ query: axis === "query" ? index : Math.ceil(row), key: isKey ? index : Math.ceil(col) });
  }, [match?.axis, match?.index]);
}

function layoutFor(state, { values, sinks }, { wide, high, unit, family }) {
  const { rows, cols } = state.ranges();
  return layoutOf({
    ...{ wide, high: high - READ, unit },
    rows: rows[1] - rows[0],
    cols: cols[1] - cols[0],
    first: { row: rows[0], col: cols[0] },
    widths: widthsOf(state.labels(), unit, family),
    noted: Boolean(ownNote(state)) || sinks !== "shown",
    numbered: values === "weights",
  });
}

function pictureOf(state, parts, layout, view, theme) {
  const { site, head, token, direction, scale: range } = state.selection;
  const variant = state.variant();
  const [{ sinks }] = parts;
  const scale =
    variant.values === "scores"
      ? scoreScale(theme, parts[0])
      : variant.values === "difference"
        ? differenceScale(theme, parts[0])
        : weightScale(theme, state.top(parts[0]), range === "own");
  const { rows, cols } = visible(layout, view);
  const isNumbered = variant.values === "weights" && hasNumbers(layout, view);
  const { labels, second } = state.texts().query;
  const hidden = sinks && `${sinkNames(state, sinks)} hidden: ${percent(sinks.share)} of the weight`;
  return {
    ...{ view, theme, scale, sinks, pinned: token, inward: direction === "in" },
    parts: parts.map((part) => ({ part, table: tableFor(part, scale, theme) })),
    numbers: isNumbered ? state.maps.window(site, head, rows, cols, variant) : null,
    // of a joint map: the source cannot attend to the target
    absent:
      state.site().kind === "joint" && second !== undefined
        ? { rows: [0, second], cols: [second, labels.length] }
        : null,
    matches: { query: state.matchPlaces("query"), key: state.matchPlaces("key") },
    note: [hidden, ownNote(state)].filter(Boolean).join(" · "),
    labels: state.labels(),
  };
}

/** The note of the model, but for a caveat that the page says beside the names. */
const ownNote = ({ base: { note, caveat } }) => (note === caveat ? "" : note);

function sinkNames(state, { keys }) {
  const { key } = state.texts();
  const noun = nounOf(key);
  const names = keys.slice(0, 2).map((each) => `“${legible(key.labels[each]).trim()}”`);
  const more = keys.length - names.length;
  if (more) return `${names.join(", ")} and ${more} more ${noun}${more > 1 ? "s" : ""}`;
  return names.join(" and ") || `no ${noun}`;
}

/** The accessible name of the picture. */
function describe(state, { rows, cols }, { note }) {
  const [query, key] = [state.texts().query, state.texts().key].map(nounOf);
  const { values } = state.variant();
  const of = { scores: ["scores before the softmax"], difference: ["after − before the edits"], weights: [] }[
    values
  ];
  const names = [state.base.model, state.siteName(), state.headName(), ...of].join(", ");
  return (
    `Attention of ${names}: ${rows} query ${query}s (rows) over ${cols} key ${key}s (columns). ` +
    `${note ? `Note: ${note}. ` : ""}Arrow keys move the cross-hair, plus and minus zoom, Escape resets, ` +
    `Enter chooses the ${query}.`
  );
}

/** Where the words about a cell stand: on the side where they fit. */
function tipPlace(layout, view, cell) {
  const [x, y] = [layout.left + placeOf(view, cell).x, layout.top + placeOf(view, cell).y];
  const right = x + view.colScale / 2 < 0.54 * layout.left + 0.54 * layout.width;
  const below = y + view.rowScale + 62 * layout.unit < layout.tall;
  return {
    left: `${right ? x + view.colScale + 8 : x - 8}px`,
    top: `${below ? y + view.rowScale + 8 : y - 8}px`,
    transform: `translate(${right ? 0 : -100}%, ${below ? 0 : -100}%)`,
  };
}

/** The request of a finer map of what is in sight, and a little around it; null where that is here. */
function tilePath(state, layout, view) {
  const { site, head } = state.selection;
  const { rows, cols } = visible(layout, view);
  const extent = Math.max(rows[1] - rows[0], cols[1] - cols[0]);
  const scale = Math.min(view.rowScale, view.colScale) * (devicePixelRatio || 1);
  const enough = Math.min(1, scale, POOLED / (1.6 * extent)) * 0.999;
  const isFine = (part) => covers(part, rows, cols) && density(part) >= enough;
  if (state.parts(site, head, state.variant()).some(isFine)) return null;
  const { queries, keys } = state.site();
  const pad = Math.round(extent / 4);
  const around = ([start, stop], size) => [Math.max(0, start - pad), Math.min(size, stop + pad)];
  return state.mapPath(site, head, { rows: around(rows, queries), cols: around(cols, keys) });
}

function waitingFor(state) {
  const name = `${state.siteName()} · ${state.headName()}`;
  if (!state.remote) return `Not in this file: ${name}`;
  return state.client?.state("map") === "pending" ? `Fetching ${name} …` : `No answer for ${name}.`;
}

/** Where the edits changed a weight most, and the way there. */
function ChangedOffer({ state }) {
  const asks = state.variant().values === "difference" && state.remote;
  const { answer } = useAnswer(state, "changed", asks ? "changed" : null);
  if (!answer) return null;
  const { change } = answer;
  if (!change) return html`<span class="hs-offer">${" "}The edits changed no weight.</span>`;
  const { site, head, query: token, key } = change;
  const labels = state.labels(site);
  const amount = `${change.change > 0 ? "+" : "−"}${Math.abs(change.change).toFixed(3)}`;
  const isShown = site === state.selection.site && head === state.selection.head;
  const show = () => state.select({ site, head, token, direction: "out" });
  const title = "Show the head and the token whose weight the edits changed most";
  return html`
    <span class="hs-offer">
      ${` Most changed: ${state.siteName(site)}, head ${head}, `}<${Quoted} label=${labels.query[token].trim()} />
      ${" → "}<${Quoted} label=${labels.key[key].trim()} />${` ${amount} `}
      ${!isShown && html`<${Button} ...${{ title, onClick: show }}>Show it<//>`}
    </span>
  `;
}
