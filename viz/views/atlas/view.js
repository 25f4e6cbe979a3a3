// All heads of all layers as small pictures: what to look at next.

import { contextOf, topOf } from "../../web/core/dom.js";
import { html } from "../../web/core/html.js";
import { tallestPlot } from "../../web/painting/viewport.js";
import { nameOfSpot } from "../../web/core/head_numbers.js";
import { paintThumbnail } from "../../web/text/thumbnail.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../../web/vendor/hooks.js";
import { GAP, layoutOf } from "./layout.js";
import { withoutWeights } from "./layers.js";

/** @import {Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Spot} from "./layout.js" */

const FADED = 0.75; // opacity of the background over heads that do not meet the conditions
const BELOW = 30; // height of the chosen head's name at a unit of 1
const SENTENCE = "One thumbnail per head: rows attend, columns are attended to. Choose one to enlarge it.";

/** @param {{state: TextState, theme: Theme}} props */
export function Atlas({ state, theme }) {
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const [over, setOver] = useState(/** @type {Spot | null} */ (null));
  const { wide, unit, tallest } = useRoom(scroller);
  const { base, selection } = state;
  const [group, sharing] = [state.group(), state.sharing()];
  const layout = useMemo(
    () => (wide ? layoutOf(base, group, { wide, unit, sharing }) : null),
    [base, group.join(), wide, unit, sharing],
  );
  useRoomNeeded(scroller, layout?.need, state);
  useRevealed(scroller, layout, selection);
  const canvas = usePainted(state, layout, theme);

  const spotAt = ({ clientX, clientY }) => {
    const { left, top } = /** @type {HTMLElement} */ (body.current).getBoundingClientRect();
    return layout?.at(clientX - left, clientY - top) ?? null;
  };
  const choose = (event) => {
    const spot = spotAt(event);
    if (spot) state.select(spot);
  };
  const walk = (event) => {
    const next =
      event.altKey || event.ctrlKey || event.metaKey ? null : layout?.beside(state.selection, event.key);
    if (!next) return;
    event.preventDefault();
    state.select(next);
  };
  const size = layout ? { width: `${layout.width}px`, height: `${layout.height}px` } : {};
  return html`
    <p class="hs-sentence">
      ${SENTENCE}${sharing > 1 && " Framed heads share one head of keys and values."}
    </p>
    <div
      class="hs-scroller"
      tabindex="0"
      role="group"
      aria-label="All heads. Arrow keys choose another one."
      style=${{ maxHeight: `${tallest}px` }}
      ref=${scroller}
      onKeyDown=${walk}
    >
      <div class="hs-atlas-grid">
        ${layout && html`<${Names} ...${{ state, layout, group }} />`}
        <div
          class="hs-body"
          style=${{ ...size, cursor: over ? "pointer" : "" }}
          ref=${body}
          onPointerMove=${(event) => setOver(spotAt(event))}
          onPointerLeave=${() => setOver(null)}
          onClick=${choose}
        >
          <canvas class="hs-thumbs" role="img" aria-label=${describe(state, group, layout)} style=${size} ref=${canvas} />
          ${layout && over && html`<${Frame} kind="hs-pointed" ...${{ layout, spot: over }} />`}
          ${layout && html`<${Frame} kind="hs-chosen" ...${{ layout, spot: selection }} />`}
          ${layout?.skipped.map(({ row, top }) => {
            const style = { top: `${top}px`, height: `${layout.line}px`, lineHeight: `${layout.line}px` };
            return html`<div class="hs-skipped" style=${style}>${withoutWeights(row)}</div>`;
          })}
        </div>
      </div>
    </div>
    <div class=${over ? "hs-name" : "hs-name hs-muted"} aria-live="polite">${nameOf(state, over)}</div>
  `;
}

/** The width of an element, the size of its type, and how tall it may be. */
function useRoom(box) {
  const [room, setRoom] = useState({ wide: 0, unit: 1, tallest: 0 });
  useLayoutEffect(() => {
    const unit = parseFloat(getComputedStyle(box.current).fontSize) / 16;
    const tallest = Math.round(tallestPlot(innerHeight, topOf(box.current), BELOW * unit));
    const next = { wide: box.current.clientWidth, unit, tallest };
    if (Object.keys(next).some((name) => next[name] !== room[name])) setRoom(next);
  });
  return room;
}

/** Asks the grid around for the width that the smallest pictures take. */
function useRoomNeeded(box, need, state) {
  useLayoutEffect(() => {
    if (!need) return;
    box.current.closest(".hs-grid")?.style.setProperty("--hs-need", `${need}px`);
    state.changed(); // panels beside it, which were measured before, may have another width now
  }, [need]);
}

/** Scrolls the chosen picture into view; where it is far, to the middle. */
function useRevealed(box, layout, selection) {
  const { site, head } = selection;
  useLayoutEffect(() => {
    if (!layout) return;
    const { x, y } = layout.place(selection);
    const [names, numbers] = box.current.querySelectorAll(".hs-rows, .hs-columns");
    const wide = box.current.clientWidth - (numbers?.offsetWidth ?? 0);
    const high = box.current.clientHeight - (names?.offsetHeight ?? 0);
    const { size } = layout;
    if (x < box.current.scrollLeft) box.current.scrollLeft = x - GAP;
    else if (x + size + 4 * GAP > box.current.scrollLeft + wide)
      box.current.scrollLeft = x + size + 4 * GAP - wide;
    const above = box.current.scrollTop - y;
    const below = y + size + GAP - box.current.scrollTop - high;
    if (Math.max(above, below) > size) box.current.scrollTop = y + (size - high) / 2;
    else if (above > 0) box.current.scrollTop = y - GAP;
    else if (below > 0) box.current.scrollTop += below;
  }, [layout, site, head]);
}

/** The canvas of all thumbnails. */
function usePainted(state, layout, theme) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { numbers, conditions, maps } = state;
  useLayoutEffect(() => {
    if (!canvas.current || !layout) return;
    const ratio = devicePixelRatio || 1;
    canvas.current.width = Math.round(layout.width * ratio);
    canvas.current.height = Math.round(layout.height * ratio);
    const paper = { context: contextOf(canvas.current), layout, ratio, theme };
    for (const spot of layout.spots) paintThumb(paper, state, spot);
    for (const site of state.group()) paintGroups(paper, state.site(site), site);
    if (numbers && conditions.size) fade(paper, state.spots(), new Set(state.passing().map(nameOfSpot)));
  }, [layout, theme, maps, maps.thumbs.size, state.selection.scale, numbers, conditions, devicePixelRatio]);
  return canvas;
}

/** One small picture, or the place where it will be. */
function paintThumb({ context, layout, ratio, theme }, state, spot) {
  const { x, y } = layout.place(spot);
  const place = {
    x: Math.round(x * ratio),
    y: Math.round(y * ratio),
    pixels: Math.round(layout.size * ratio),
  };
  const part = state.maps.thumb(spot.site, spot.head);
  if (part) return paintThumbnail(context, part, theme, state.top(part), place);
  context.fillStyle = theme.surface;
  context.fillRect(place.x, place.y, place.pixels, place.pixels);
}

/** A frame around the heads that share one head of keys and values. */
function paintGroups({ context, layout, ratio, theme }, { heads, kv_heads: keys = heads }, site) {
  const shared = heads / keys;
  if (shared <= 1) return;
  const y = layout.top(site);
  context.strokeStyle = theme.muted;
  context.lineWidth = ratio;
  for (let first = 0; first < heads; first += shared) {
    const [x, end] = [layout.left(first) - 1.5, layout.left(first + shared - 1) + layout.size + 1.5];
    context.strokeRect(x * ratio, (y - 1.5) * ratio, (end - x) * ratio, (layout.size + 3) * ratio);
  }
}

/** Fades the heads that do not meet the conditions. */
function fade({ context, layout, ratio, theme }, spots, kept) {
  context.globalAlpha = FADED;
  context.fillStyle = theme.background;
  for (const spot of spots) {
    if (kept.has(nameOfSpot(spot))) continue;
    const { x, y } = layout.place(spot);
    const side = Math.ceil(layout.size * ratio) + 1;
    context.fillRect(Math.floor(x * ratio), Math.floor(y * ratio), side, side);
  }
  context.globalAlpha = 1;
}

function Names({ state, layout: { columns, left, top, size, columnOf, width }, group }) {
  const { site, head } = state.selection;
  const type = `${Math.min(0.76, size / 45)}em`; // "mean" stays within its column
  const names = [...Array(columns - 2).keys(), "mean", "max"];
  let end = 0;
  const rows = group.map((each) => {
    const before = top(each) - end;
    end = top(each) + size + GAP;
    const style = { height: `${size + GAP}px`, marginTop: `${before}px` };
    return html`<span class=${each === site ? "hs-on" : ""} style=${style}>layer ${state.site(each).layer}</span>`;
  });
  return html`
    <div class="hs-corner"></div>
    <div class="hs-columns" aria-hidden="true" style=${{ width: `${width}px` }}>
      ${names.map((name, i) => {
        const style = { left: `${left(i)}px`, width: `${size}px`, fontSize: type };
        return html`<span class=${i === columnOf(head) ? "hs-on" : ""} style=${style}>${name}</span>`;
      })}
    </div>
    <div class="hs-rows" aria-hidden="true">${rows}</div>
  `;
}

function Frame({ kind, layout, spot }) {
  const { x, y } = layout.place(spot);
  const side = `${layout.size + 4}px`;
  const style = { transform: `translate(${x - 2}px, ${y - 2}px)`, width: side, height: side };
  return html`<div class=${`hs-frame ${kind}`} style=${style}></div>`;
}

function nameOf(state, over) {
  const { site, head } = over ?? state.selection;
  const name = `${state.siteName(site)} · ${state.headName(head, site)}`;
  const sentence = over && typeof head === "number" ? state.numbers?.sentence({ site, head }) : null;
  return sentence ? `${name}: ${sentence}` : name;
}

const describe = (state, group, layout) =>
  `Attention of every head as small pictures: ${group.length} rows (layers), ${(layout?.columns ?? 2) - 2} heads` +
  ` each, then their mean and maximum. Chosen: ${state.siteName()}, ${state.headName()}.`;
