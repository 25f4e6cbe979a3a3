// The transformer as a map of the course: each part leads to the lesson that explains it.

import { html } from "../core/html.js";
import { follow } from "./links.js";
import { useRef, useState } from "../vendor/hooks.js";
import { FLOWS, HEIGHT, lessonOf, moved, PARTS, WIDTH } from "./map_parts.js";

/** @import {ListedLesson} from "../types" */

/** One stop of the Tab key, and arrow keys from part to part. @param {{lessons: ListedLesson[]}} props */
export function Map({ lessons }) {
  const svg = useRef(/** @type {SVGElement | null} */ (null));
  const leading = PARTS.filter((part) => lessonOf(lessons, part.id));
  const [stop, setStop] = useState(0);
  const press = (event) => {
    const to = moved(event.key, stop, leading.length);
    if (to === null) return;
    event.preventDefault();
    setStop(to);
    /** @type {SVGElement | null | undefined} */ (
      svg.current?.querySelector(`[data-part="${leading[to].id}"]`)
    )?.focus();
  };
  const part = (each) =>
    html`<${Part} key=${each.id} ...${{ part: each, lessons, isStop: leading[stop] === each }} />`;
  return html`<svg class="hs-map" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Map of the transformer" ref=${svg} onKeyDown=${press}>
    ${PARTS.slice(0, 2).map(part)}
    <g aria-hidden="true">${FLOWS.map((points) => html`<path class="hs-map-flow" d=${flow(points)} />`)}</g>
    ${PARTS.slice(2).map(part)}
  </svg>`;
}

/** @param {{part: import("./map_parts.js").MapPart, lessons: ListedLesson[], isStop: boolean}} props */
function Part({ part, lessons, isStop }) {
  const { id, name, label, long = label, boxes } = part;
  const leads = lessonOf(lessons, id);
  const numbers = lessons.filter(({ parts }) => parts.includes(id)).map(({ number }) => number);
  const drawn = boxes.map(
    ([x, y, width, height], i) => html`
    <rect ...${{ x, y, width, height }} rx=${label ? 3 : 5} />
    <text x=${x + width / 2} y=${y + height / 2}>${i === 0 ? long : label}</text>
    ${i === 0 && numbers.length > 0 && html`<${Badge} x=${id === "heads" ? x + 4 : x + width - 2} y=${y + Math.min(1.5, height / 2)} numbers=${numbers} />`}
  `,
  );
  const look = `hs-map-part${label ? "" : " frame"}`;
  if (!leads) return html`<g class=${look} data-part=${id}>${drawn}</g>`;
  const led = `${name}: lesson ${leads.number}, ${leads.title}`;
  return html`<a class=${look} data-part=${id} href=${leads.name} aria-label=${led} tabindex=${isStop ? 0 : -1} onClick=${(event) => follow(event, leads.name)}>${drawn}</a>`;
}

/** The numbers of the lessons that explain a part. */
function Badge({ x, y, numbers }) {
  const text = numbers.join(" · ");
  const width = 3.4 + 2.3 * text.length;
  return html`<g class="hs-map-number"><rect x=${x - width / 2} y=${y - 3} width=${width} height="6" rx="3" /><text x=${x} y=${y}>${text}</text></g>`;
}

/** A line with an arrow at its end. */
function flow(points) {
  const [[beforeX, beforeY], [x, y]] = points.slice(-2);
  const [along, down] = [Math.sign(x - beforeX), Math.sign(y - beforeY)];
  const tip = [-1.6, 1.6].map(
    (side) => `M${x - 2.4 * along - side * down} ${y - 2.4 * down - side * along}L${x} ${y}`,
  );
  return `M${points.map((point) => point.join(" ")).join("L")}${tip.join("")}`;
}
