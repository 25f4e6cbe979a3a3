// All heads by their numbers: two of them as dots, and a table that is sorted by one. Only the rows
// in sight are elements.

import { aboutOf } from "../../web/core/about.js";
import { useNewest } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { rangeOf } from "../../web/core/ticks.js";
import { ranked, rankOf, shareOf, undefinedNote } from "../../web/core/head_numbers.js";
import { inSight } from "../../web/text/strands.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../../web/vendor/hooks.js";
import { Dots } from "./dots.js";

/** @import {ManyHeads, Range} from "../../web/types" */

const ROW = 26; // pixels at a unit of 1
const TALLEST = 0.6; // of the window
const BESIDE = 6; // rows that are there above and below the window
const HEAD = { key: "head", title: "Layer · head", about: "In the order of layers." };
const SENTENCE = "One dot and one row per head. Choose a column’s name to sort by it.";

/** @param {{state: ManyHeads}} props */
export function Numbers({ state }) {
  const numbers = state.askNumbers();
  const group = state.group()[0];
  const heads = useNewest(Boolean(numbers), () => headsOf(state, numbers), [numbers, group]);
  const { rank } = state.selection;
  const order = useMemo(() => (heads ? orderOf(state, heads) : []), [heads, rank]);
  const waiting = numbers ? "" : state.waitingFor("numbers", "Computing the numbers of every head");
  return html`
    <div class="hs-table-view">
      <p class="hs-sentence">${SENTENCE}</p>
      ${waiting && html`<p class="hs-sentence" role="status">${waiting}</p>`}
      ${heads && html`<${Scroller} ...${{ state, heads, order, dim: !numbers }} />`}
      <p class="hs-read">${heads && `${order.length} heads`}</p>
      ${heads && html`<p class="hs-doubt">${undefinedNote(heads.numbers, rankOf(rank).key, heads.spots)}</p>`}
      ${heads && html`<${Dots} ...${{ state, numbers: heads.numbers, spots: heads.spots }} />`}
    </div>
  `;
}

/** All heads, maybe of the network before, with the ranges of their numbers. */
function headsOf(state, numbers) {
  const spots = state.spots().map((spot) => ({
    ...spot,
    layer: state.site(spot.site).layer,
    siteName: state.siteName(spot.site),
  }));
  /** @type {Map<string, Range>} */
  const ranges = new Map();
  for (const { key } of numbers.measures) {
    const range = rangeOf(numbers.values(key, spots));
    if (range) ranges.set(key, [Math.min(0, range[0]), range[1]]);
  }
  return { numbers, spots, ranges };
}

/** The places of the heads in their order. */
function orderOf(state, { numbers, spots }) {
  const { key, least } = rankOf(state.selection.rank);
  const places = [...spots.keys()];
  if (!numbers.has(key)) return places;
  const values = numbers.values(key, spots);
  return [...ranked(values, least), ...places.filter((place) => values[place] === null)];
}

function Scroller({ state, heads, order, dim }) {
  const { numbers, spots } = heads;
  const { site, head } = state.selection;
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const [row, setRow] = useState(ROW);
  const [top, setTop] = useState(0);
  const chosen = spots.findIndex((spot) => spot.site === site && spot.head === head);
  useLayoutEffect(() => {
    if (scroller.current)
      setRow(Math.round((ROW * parseFloat(getComputedStyle(scroller.current).fontSize)) / 16));
  });
  useLayoutEffect(() => {
    if (scroller.current) reveal(scroller.current, order.indexOf(chosen), row);
  }, [site, head, order, row]);
  const walk = (event) => {
    const { currentTarget, target, key } = event;
    if (target !== currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(currentTarget.clientHeight / row) - 3);
    const at = order.indexOf(chosen);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page };
    const place = { ...moves, Home: 0, End: order.length - 1 }[key];
    if (place === undefined || !order.length) return;
    event.preventDefault();
    const next = spots[order[Math.min(Math.max(0, place), order.length - 1)]];
    state.select({ site: next.site, head: next.head });
  };
  const height = Math.max(row, heightOf(scroller.current) || innerHeight * TALLEST);
  const [first, last] = inSight(top, height, row, order.length);
  const [from, to] = [Math.max(0, first - BESIDE), Math.min(order.length, last + BESIDE)];
  const space = (count) => html`<tbody class="hs-space" style=${{ height: `${count * row}px` }}></tbody>`;
  return html`
    <div
      class=${`hs-scroller hs-table-scroller ${dim ? "hs-dim" : ""}`}
      tabindex="0"
      role="group"
      aria-label="Numbers of all heads. Arrow keys choose one."
      style=${{ maxHeight: `${Math.round(innerHeight * TALLEST)}px`, "--row": `${row}px` }}
      ref=${scroller}
      onScroll=${({ currentTarget }) => setTop(currentTarget.scrollTop)}
      onKeyDown=${walk}
    >
      <table class="hs-heads-table" aria-rowcount=${order.length + 1}>
        <thead>
          <${Names} ...${{ state, numbers }} />
        </thead>
        ${space(from)}
        <tbody>
          ${order
            .slice(from, to)
            .map(
              (place, i) =>
                html`<${Row} key=${place} ...${{ state, heads, place, index: from + i + 2, chosen }} />`,
            )}
        </tbody>
        ${space(order.length - to)}
      </table>
    </div>
  `;
}

/** The height of the rows in sight. */
const heightOf = (scroller) =>
  scroller && scroller.clientHeight - scroller.querySelector("thead").offsetHeight;

/** Scrolls a row into view. */
function reveal(scroller, at, row) {
  if (at < 0) return;
  const height = heightOf(scroller);
  if (at * row < scroller.scrollTop) scroller.scrollTop = at * row;
  else if ((at + 1) * row > scroller.scrollTop + height) scroller.scrollTop = (at + 1) * row - height;
}

function Names({ state, numbers }) {
  const { key: by, least } = rankOf(state.selection.rank);
  const sorted = numbers.has(by) ? by : HEAD.key;
  const sort = (key) => {
    const most = by === key && !least;
    state.select({ rank: key === HEAD.key ? "" : `${most ? "-" : ""}${key}` });
  };
  const nameOf = (column) => {
    const { key, title } = column;
    const about = "formula" in column ? aboutOf(column) : column.about;
    const order = key !== sorted ? "none" : least || key === HEAD.key ? "ascending" : "descending";
    return html`
      <th scope="col" aria-sort=${order}>
        <button type="button" class="hs-sort" title=${about} onClick=${() => sort(key)}>${title}</button>
      </th>
    `;
  };
  return html`<tr>
    ${[HEAD, ...numbers.measures.slice(1)].map(nameOf)}
  </tr>`;
}

function Row({ state, heads: { numbers, spots, ranges }, place, index, chosen }) {
  const spot = spots[place];
  const cellOf = ({ key }) => {
    const value = numbers.value(key, spot);
    const range = ranges.get(key);
    const style = value !== null && range ? { "--share": `${100 * shareOf(value, range)}%` } : {};
    return html`<td style=${style}>${numbers.text(key, value)}</td>`;
  };
  return html`
    <tr
      title=${numbers.sentence(spot) ?? ""}
      aria-rowindex=${index}
      aria-selected=${place === chosen}
      onClick=${() => state.select({ site: spot.site, head: spot.head })}
    >
      <th scope="row" aria-label=${`${spot.siteName}, head ${spot.head}`}>${spot.layer} · ${spot.head}</th>
      ${numbers.measures.slice(1).map(cellOf)}
    </tr>
  `;
}
