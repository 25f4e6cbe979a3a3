// Lines between two columns of tokens: on the left the tokens that attend, on the right those that are attended
// to. The heads that are switched on are drawn together, each in its own colour.

import { contextOf, markPainted, reveal } from "../../web/core/dom.js";
import { useSpace, useWanted } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, nounOf } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { headColour, headsShown, HeadSwitches } from "../../web/parts/switches.js";
import { isDrawn } from "../../web/text/tokens.js";
import { apart, inSight, LEAST, strandsOf } from "../../web/text/weights.js";
import { useLayoutEffect, useRef, useState } from "../../web/vendor/hooks.js";
import { Column } from "./column.js";

/** @import {Axis} from "../../web/types" */
/** @import {Strand} from "../../web/text/weights.js" */

const ROW = 24; // pixels of a token at a unit of 1
const THICK = 1.6; // pixels of a line at a unit of 1
const LEVELS = 24; // opacities in which lines are drawn, each in one stroke
const REST_MS = 30; // that the pointer stays on a token before its exact weights are fetched
const TILE_MS = 120; // pause in scrolling before the part in sight is fetched

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export function Lines({ state, theme }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(stage);
  const { site, head, token, direction } = state.selection;
  const { query, key } = state.texts();
  const ranges = state.ranges();
  const heads = headsShown(state.selection.shown, head, state.site().heads);
  /** @type {Record<Axis, {current: HTMLElement | null}>} */
  const boxes = { query: useRef(null), key: useRef(null) };
  const [scrolls, setScrolls] = useState({ query: 0, key: 0 });
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const pinned =
    token === null
      ? null
      : { axis: /** @type {Axis} */ (direction === "in" ? "key" : "query"), index: token };
  const active = state.isolated ?? pinned;

  const row = Math.round(ROW * space.unit);
  const [down, across] = [ranges.rows[1] - ranges.rows[0], ranges.cols[1] - ranges.cols[0]];
  const height = Math.min(Math.max(down, across) * row, space.high);
  const seen = (/** @type {Axis} */ axis) => {
    const [from, to] = axis === "query" ? ranges.rows : ranges.cols;
    const [first, last] = inSight(scrolls[axis], height, row, to - from);
    return /** @type {[number, number]} */ ([from + first, from + last]);
  };
  const [rows, cols] = [seen("query"), seen("key")];
  const drawn = heads.map((each) => linesOf(state, each, rows, cols, active));
  useRevealed(state, boxes, space.wide > 0 ? row : 0, pinned);
  useLayoutEffect(() => {
    if (!canvas.current || !space.wide) return;
    const from = { query: scrolls.query + ranges.rows[0] * row, key: scrolls.key + ranges.cols[0] * row };
    paint(canvas.current, { state, theme, heads, drawn, row, height, from, unit: space.unit });
    markPainted(canvas.current);
  });

  /** @type {(axis: Axis) => Record<string, unknown>} */
  const columnOf = (axis) => ({
    ...{ axis, row, box: boxes[axis], matches: state.matchPlaces(axis) },
    text: axis === "query" ? query : key,
    range: axis === "query" ? ranges.rows : ranges.cols,
    height: Math.min(height, (axis === "query" ? down : across) * row),
    active: active?.axis === axis ? active.index : null,
    pinned: pinned?.axis === axis ? pinned.index : null,
    onScroll: (top) => setScrolls((before) => (before[axis] === top ? before : { ...before, [axis]: top })),
    onPoint: (index) => (state.isolated = index === null ? null : { axis, index }),
    onPin: (index) => {
      const isAgain = pinned?.axis === axis && pinned.index === index;
      state.select({ token: isAgain ? null : index, direction: axis === "key" ? "in" : "out" });
    },
    onCross: () => {
      const { current: other } = boxes[axis === "query" ? "key" : "query"];
      /** @type {HTMLElement | null | undefined} */ (other?.querySelector("[tabindex='0']"))?.focus();
    },
  });
  const [asks, answers] = [nounOf(query), nounOf(key)];
  const label = `Lines of ${state.base.model}, ${state.siteName()}, ${heads.map((each) => state.headName(each)).join(", ")}`;
  return html`
    ${heads.map((each) => html`<${Wanted} key=${`${site}/${each}`} ...${{ state, head: each, rows, cols }} />`)}
    ${active && heads.map((each) => html`<${Exact} key=${`${site}/${each}`} ...${{ state, head: each, active }} />`)}
    <${HeadSwitches} ...${{ state, theme }} />
    <div class="hs-bipartite-headings">
      <span>query: the ${asks} that attends</span><span>key: the ${answers} attended to</span>
    </div>
    <div
      class=${drawn.some((each) => !each) ? "hs-bipartite hs-dim" : "hs-bipartite"}
      style=${{ height: `${height}px` }}
      ref=${stage}
    >
      <${Column} name=${`${capital(asks)}s that attend`} ...${columnOf("query")} />
      <canvas class="hs-strands" role="img" aria-label=${label} ref=${canvas} />
      <${Column} name=${`${capital(answers)}s attended to`} ...${columnOf("key")} />
    </div>
  `;
}

/** The lines in sight of one head, or those of a token, the weakest first; null until their weights have come. */
function linesOf(state, head, rows, cols, active) {
  const { site } = state.selection;
  const isAlone = active && isDrawn(state.ranges(), active.axis, active.index);
  /** @type {[number, number]} */
  const one = [active?.index ?? 0, (active?.index ?? 0) + 1];
  const [down, across] = !isAlone ? [rows, cols] : active.axis === "query" ? [one, cols] : [rows, one];
  const whole = isAlone && state.along(site, head, active.axis, active.index);
  const part = active?.axis === "query" ? cols : rows;
  const weights = isAlone
    ? whole && Float32Array.from(whole.values).subarray(...part)
    : state.maps.window(site, head, down, across);
  const least = LEAST * state.top(state.parts(site, head)[0]);
  return weights && strandsOf(weights, down, across, least);
}

/** Asks for the map of a head, and where that is pooled for the part in sight. */
function Wanted({ state, head, rows, cols }) {
  const { site } = state.selection;
  const isHere = state.parts(site, head).length > 0;
  useWanted(state, `lines ${head}`, isHere ? null : pathOf("map", { site, head }));
  const isMissing = isHere && !state.maps.window(site, head, rows, cols);
  useWanted(state, `part ${head}`, isMissing ? state.mapPath(site, head, { rows, cols }) : null, TILE_MS);
  return null;
}

/** Asks for the exact weights of a token in both directions, of one text; else in the one it has. */
function Exact({ state, head, active: { axis, index } }) {
  const { site } = state.selection;
  const { one } = state.texts();
  const path = (/** @type {Axis} */ way) => {
    const isAsked = (one || axis === way) && !state.maps.exact(site, head, way, index);
    return isAsked ? pathOf("row", { site, head, axis: way, index }) : null;
  };
  useWanted(state, `goes ${head}`, path("query"), REST_MS);
  useWanted(state, `comes ${head}`, path("key"), REST_MS);
  return null;
}

/** Scrolls to the pinned token, a match that was jumped to, and the moment with most of the pinned one's weight. */
function useRevealed(state, { query, key }, row, pinned) {
  const { rows, cols } = state.ranges();
  const match = state.matched();
  const show = (axis, index) => {
    const { current: box } = axis === "query" ? query : key;
    const token = box?.querySelector(`[data-index="${index}"]`);
    if (token) reveal(box, token);
  };
  useLayoutEffect(() => {
    if (pinned && row) show(pinned.axis, pinned.index); // once the columns have their height
  }, [state.trace, row, ...rows, ...cols]);
  useLayoutEffect(() => {
    if (!match) return;
    show(match.axis, match.index);
    if (state.texts().one) show("key", match.index);
  }, [match?.axis, match?.index]);
}

function paint(canvas, { state, theme, heads, drawn, row, height, from, unit }) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = contextOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.lineWidth = THICK * unit;
  const below = apart(heads.length, row, THICK * unit);
  heads.forEach((head, i) => {
    const top = state.top(state.parts(state.selection.site, head)[0]);
    /** @type {Strand[][]} */
    const levels = Array.from({ length: LEVELS }, () => []);
    for (const line of drawn[i] ?? [])
      levels[Math.min(LEVELS - 1, Math.floor(Math.sqrt(line.weight / top) * LEVELS))].push(line);
    context.strokeStyle = headColour(head, theme);
    levels.forEach((alike, level) => {
      if (!alike.length) return;
      context.globalAlpha = (level + 1) / LEVELS;
      context.beginPath();
      for (const { query, key } of alike) {
        context.moveTo(0, (query + 0.5) * row - from.query + below[i]);
        context.lineTo(width, (key + 0.5) * row - from.key + below[i]);
      }
      context.stroke();
    });
  });
}
