// All heads by their numbers: a table that is sorted by one of them, and two of them as dots.

import { aboutOf, ranked, rankOf, shareOf } from "../../web/core/head_numbers.js";
import { reveal } from "../../web/core/dom.js";
import { useNewest } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { isModified } from "../../web/core/keys.js";
import { ticksOf } from "../../web/core/ticks.js";
import { Field, Menu } from "../../web/parts/controls.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../../web/vendor/hooks.js";

/** @import {ManyHeads, Range} from "../../web/types" */
/** @import {HeadNumbers, Spot} from "../../web/core/head_numbers.js" */

/** @typedef {Spot & {layer: number, siteName: string}} Place a head with the names of its layer */

const HEAD = { key: "head", title: "Layer · head", about: "In the order of layers." };
const SENTENCE = "One dot and one row per head. Choose a column’s name to sort by it.";
const FIRST = { x: ["distance", "patch distance", "entropy"], y: ["broad"] }; // where they are defined
const TICKS = { x: 6, y: 5 }; // at most, of each axis
const PAGE = 12; // rows of Page Up and Page Down
const HINT = "Point at a dot to read its numbers; click to choose its head.";

/** @param {{state: ManyHeads}} props */
export function Numbers({ state }) {
  const numbers = state.askNumbers();
  const group = state.group()[0];
  const heads = useNewest(
    Boolean(numbers),
    () => ({ numbers: /** @type {HeadNumbers} */ (numbers), spots: placesOf(state) }),
    [numbers, group],
  );
  const { rank } = state.selection;
  const waiting = numbers ? "" : state.waitingFor("numbers", "Computing the numbers of every head");
  return html`
    <div class="hs-table-view">
      <p class="hs-sentence">${SENTENCE}</p>
      ${waiting && html`<p class="hs-sentence" role="status">${waiting}</p>`}
      ${
        heads &&
        html`
          <${Table} ...${{ state, ...heads, dim: !numbers }} />
          <p class="hs-read">${heads.spots.length} heads</p>
          <p class="hs-doubt">${undefinedNote(heads.numbers, rankOf(rank).key, heads.spots)}</p>
          <${Dots} ...${{ state, ...heads }} />
        `
      }
    </div>
  `;
}

const placesOf = (state) =>
  state
    .spots()
    .map((spot) => ({ ...spot, layer: state.site(spot.site).layer, siteName: state.siteName(spot.site) }));

/** The smallest and the largest of a number; [0, 1] where there is none. */
function rangeOf(numbers, key, spots) {
  const values = /** @type {number[]} */ (numbers.values(key, spots).filter((value) => value !== null));
  const [low, high] = values.reduce(
    ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
    [Infinity, -Infinity],
  );
  return /** @type {Range} */ (!values.length ? [0, 1] : low < high ? [low, high] : [low - 0.5, low + 0.5]);
}

const isChosen = ({ selection: { site, head } }, spot) => spot.site === site && spot.head === head;

function Table({ state, numbers, spots, dim }) {
  const { rank, site, head } = state.selection;
  const { key: by, least } = rankOf(rank);
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const measures = numbers.measures.slice(1);
  const order = useMemo(() => {
    if (!numbers.has(by)) return spots;
    const values = numbers.values(by, spots);
    const placed = ranked(values, least).map((place) => spots[place]);
    return [...placed, ...spots.filter((_, place) => values[place] === null)];
  }, [numbers, spots, rank]);
  const cells = useMemo(() => {
    const ranges = measures.map(({ key }) => rangeOf(numbers, key, spots));
    return new Map(spots.map((spot) => [spot, measures.map(cellOf(spot, ranges))]));
  }, [numbers, spots]);
  useLayoutEffect(() => {
    const row = scroller.current?.querySelector("[aria-selected=true]");
    if (row) reveal(scroller.current, row, scroller.current?.querySelector("thead")?.offsetHeight);
  }, [site, head, order]);

  function cellOf(spot, ranges) {
    return ({ key }, i) => {
      const value = numbers.value(key, spot);
      const share = value === null ? 0 : shareOf(value, [Math.min(0, ranges[i][0]), ranges[i][1]]);
      return html`<td style=${{ "--share": `${100 * share}%` }}>${numbers.text(key, value)}</td>`;
    };
  }
  const walk = (event) => {
    const { currentTarget, target, key } = event;
    if (target !== currentTarget || isModified(event)) return;
    const at = order.findIndex((spot) => isChosen(state, spot));
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + PAGE, PageUp: at - PAGE };
    const place = { ...moves, Home: 0, End: order.length - 1 }[key];
    if (place === undefined) return;
    event.preventDefault();
    const next = order[Math.min(Math.max(0, place), order.length - 1)];
    state.select({ site: next.site, head: next.head });
  };
  const nameOf = (column) => {
    const { key, title } = column;
    const isHead = key === HEAD.key;
    const isSorted = key === (numbers.has(by) ? by : HEAD.key);
    const next = isHead ? "" : `${by === key && !least ? "-" : ""}${key}`;
    const name = isSorted ? (least || isHead ? "ascending" : "descending") : "none";
    return html`
      <th scope="col" aria-sort=${name}>
        <button type="button" class="hs-sort" title=${isHead ? HEAD.about : aboutOf(column)} onClick=${() => state.select({ rank: next })}>${title}</button>
      </th>
    `;
  };
  const row = (spot) => html`
    <tr
      key=${`${spot.site}/${spot.head}`}
      title=${numbers.sentence(spot) ?? ""}
      aria-selected=${isChosen(state, spot)}
      onClick=${() => state.select({ site: spot.site, head: spot.head })}
    >
      <th scope="row" aria-label=${`${spot.siteName}, head ${spot.head}`}>${spot.layer} · ${spot.head}</th>
      ${cells.get(spot)}
    </tr>
  `;
  return html`
    <div
      class=${`hs-scroller hs-table-scroller ${dim ? "hs-dim" : ""}`}
      tabindex="0"
      role="group"
      aria-label="Numbers of all heads. Arrow keys choose one."
      ref=${scroller}
      onKeyDown=${walk}
    >
      <table class="hs-heads-table">
        <thead>
          <tr>
            ${[HEAD, ...measures].map(nameOf)}
          </tr>
        </thead>
        <tbody>
          ${order.map(row)}
        </tbody>
      </table>
    </div>
  `;
}

/** The heads as dots, placed by two of their numbers. */
function Dots({ state, numbers, spots }) {
  const [over, setOver] = useState(/** @type {Place | null} */ (null));
  const [across, up] = state.selection.plot.split(".");
  const x = numbers.has(across) ? across : numbers.firstDefined(FIRST.x, spots, up);
  const y = numbers.has(up) ? up : numbers.firstDefined(FIRST.y, spots, x);
  const menu = (axis, key) => html`
    <${Field} name=${axis}>
      <${Menu}
        name=${`Number along ${axis}`}
        title=${aboutOf(numbers.measure(key))}
        labels=${numbers.measures.map(({ title }) => title)}
        index=${numbers.measures.findIndex((each) => each.key === key)}
        onChoose=${(index) => {
          const axes = { x, y, [axis]: numbers.measures[index].key };
          state.select({ plot: [axes.x, axes.y].join(".") });
        }}
      />
    <//>
  `;
  const { site, head } = state.selection;
  const plot = useMemo(
    () => html`<${Plot} ...${{ state, numbers, spots, x, y, onOver: setOver }} />`,
    [numbers, spots, x, y, site, head],
  );
  const numberOf = (key) =>
    over && `${numbers.measure(key).title}: ${numbers.text(key, numbers.value(key, over))}`;
  const read = over && [
    `${over.siteName} · head ${over.head}`,
    numberOf(x),
    numberOf(y),
    numbers.sentence(over),
  ];
  return html`
    <div class="hs-dots-view">
      <div class="hs-row hs-axes">${menu("x", x)} ${menu("y", y)}</div>
      ${plot}
      <p class=${over ? "hs-read" : "hs-read hs-muted"} aria-live="polite">
        ${read ? read.filter(Boolean).join(" · ") : HINT}
      </p>
    </div>
  `;
}

function Plot({ state, numbers, spots, x, y, onOver }) {
  let [across, up] = [x, y].map((key) => rangeOf(numbers, key, spots));
  const isTwin = state.twinOf?.(x) === y; // the same number of another run: one scale for both
  if (isTwin) across = up = [Math.min(across[0], up[0]), Math.max(across[1], up[1])];
  const percent = (share) => `${(100 * share).toFixed(3)}%`;
  const left = (value) => percent(shareOf(value, across));
  const top = (value) => percent(1 - shareOf(value, up));
  const spotAt = ({ target }) => spots[target.dataset?.place] ?? null;
  const click = (event) => {
    const spot = spotAt(event);
    if (spot) state.select({ site: spot.site, head: spot.head });
  };
  const dot = (spot, place) => {
    const [cx, cy] = [numbers.value(x, spot), numbers.value(y, spot)];
    const kind = isChosen(state, spot) ? "hs-dot hs-dot-chosen" : "hs-dot";
    return (
      cx !== null &&
      cy !== null &&
      html`<circle class=${kind} data-place=${place} cx=${left(cx)} cy=${top(cy)} />`
    );
  };
  const dots = spots.map(dot);
  const chosen = spots.findIndex((spot) => isChosen(state, spot));
  const titles = [x, y].map((key) => numbers.measure(key).title);
  const label = `${spots.length} heads as dots: ${titles[0]} along x, ${titles[1]} along y. The table has the same numbers.`;
  return html`
    <p class="hs-dots-axis">↑ ${titles[1]}</p>
    <svg
      class="hs-dots"
      role="img"
      aria-label=${label}
      onPointerOver=${(event) => onOver(spotAt(event))}
      onPointerLeave=${() => onOver(null)}
      onClick=${click}
    >
      <rect width="100%" height="100%" />
      ${ticksOf(across, TICKS.x).map(
        ({ value, text }) => html`
          <line x1=${left(value)} x2=${left(value)} y2="100%" />
          <text x=${left(value)} y="100%" dy="1.4em" text-anchor="middle">${text}</text>
        `,
      )}
      ${ticksOf(up, TICKS.y).map(
        ({ value, text }) => html`
          <line x2="100%" y1=${top(value)} y2=${top(value)} />
          <text x="-8" y=${top(value)} dy="0.32em" text-anchor="end">${text}</text>
        `,
      )}
      ${isTwin && html`<line class="hs-dots-same" y1="100%" x2="100%" y2="0" />`}
      ${dots.filter((_, place) => place !== chosen)}
      ${dots[chosen]}
    </svg>
    <p class="hs-dots-axis hs-dots-across">${titles[0]} →</p>
  `;
}

/** For how many heads a measure is not defined, and why; "" if it is for all. */
function undefinedNote(numbers, key, spots) {
  const count = numbers.values(key, spots).filter((value) => value === null).length;
  if (!count || !numbers.has(key)) return "";
  const of = count === spots.length ? "any head here" : `${count} of ${spots.length} heads`;
  const reason = numbers.reason(key);
  return `${numbers.measure(key).title} is not defined for ${of}${reason ? `: ${reason}` : ""}.`;
}
