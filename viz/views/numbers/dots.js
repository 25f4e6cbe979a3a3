// All heads as dots, placed by two of their numbers.

import { aboutOf } from "../../web/core/about.js";
import { html } from "../../web/core/html.js";
import { rangeOf, ticksOf } from "../../web/core/ticks.js";
import { Field, Menu } from "../../web/parts/controls.js";
import { shareOf } from "../../web/core/head_numbers.js";
import { useMemo, useState } from "../../web/vendor/hooks.js";

/** @import {ManyHeads, Range} from "../../web/types" */
/** @import {HeadNumbers, Spot} from "../../web/core/head_numbers.js" */

const FIRST = { x: ["distance", "patch distance", "entropy"], y: ["broad"] }; // where they are defined
const TICKS = { x: 6, y: 5 }; // at most, of each axis
const RADIUS = 5; // CSS pixels
const HINT = "Point at a dot to read its numbers; click to choose its head.";

/**
 * The keys along x and y.
 *
 * @param {ManyHeads} state
 * @param {HeadNumbers} numbers
 */
function axesOf(state, numbers) {
  const [across, up] = state.selection.plot.split(".");
  const spots = state.spots();
  const x = numbers.has(across) ? across : numbers.firstDefined(FIRST.x, spots, up);
  return { x, y: numbers.has(up) ? up : numbers.firstDefined(FIRST.y, spots, x) };
}

/** @param {{state: ManyHeads, numbers: HeadNumbers, spots: Spot[]}} props */
export function Dots({ state, numbers, spots }) {
  const [over, setOver] = useState(/** @type {Spot | null} */ (null));
  const { measures } = numbers;
  const { x, y } = axesOf(state, numbers);
  const choose = (change) => {
    const axes = { x, y, ...change };
    state.select({ plot: [axes.x, axes.y].join(".") });
  };
  const menu = (axis, key) => html`
    <${Field} name=${axis}>
      <${Menu}
        name=${`Number along ${axis}`}
        title=${aboutOf(numbers.measure(key))}
        labels=${measures.map(({ title }) => title)}
        index=${measures.findIndex((each) => each.key === key)}
        onChoose=${(index) => choose({ [axis]: measures[index].key })}
      />
    <//>
  `;
  const { site, head } = state.selection;
  const plot = useMemo(
    () => html`<${Plot} ...${{ state, numbers, spots, x, y, onOver: setOver }} />`,
    [numbers, spots, x, y, site, head],
  );
  const read =
    over &&
    [x, y].map((key) => `${numbers.measure(key).title}: ${numbers.text(key, numbers.value(key, over))}`);
  const name = over && `${state.siteName(over.site)} · head ${over.head}`;
  return html`
    <div class="hs-dots-view">
      <div class="hs-row hs-axes">${menu("x", x)} ${menu("y", y)}</div>
      ${plot}
      <p class=${over ? "hs-read" : "hs-read hs-muted"} aria-live="polite">
        ${over ? [name, ...(read ?? []), numbers.sentence(over)].filter(Boolean).join(" · ") : HINT}
      </p>
    </div>
  `;
}

function Plot({ state, numbers, spots, x, y, onOver }) {
  const { site, head } = state.selection;
  /** @type {(key: string) => Range} */
  const range = (key) => rangeOf(numbers.values(key, spots), numbers.measure(key)) ?? [0, 1];
  let [across, up] = [range(x), range(y)];
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
    if (cx === null || cy === null) return null;
    const isChosen = spot.site === site && spot.head === head;
    const kind = isChosen ? "hs-dot hs-dot-chosen" : "hs-dot";
    return html`<circle class=${kind} data-place=${place} cx=${left(cx)} cy=${top(cy)} r=${isChosen ? RADIUS + 2 : RADIUS} />`;
  };
  const titles = [x, y].map((key) => numbers.measure(key).title);
  const chosen = spots.findIndex((spot) => spot.site === site && spot.head === head);
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
      ${spots.map((spot, place) => (place === chosen ? null : dot(spot, place)))}
      ${chosen >= 0 && dot(spots[chosen], chosen)}
    </svg>
    <p class="hs-dots-axis hs-dots-across">${titles[0]} →</p>
  `;
}
