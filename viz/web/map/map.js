// The transformer as a map of the course: the part a lesson explains is lit, each part leads to its lesson. Large,
// with a list of all lessons beside it, on the page of the course.

import { html } from "../core/html.js";
import { progress, recordOpened } from "../lessons/progress.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { FLOWS, HEIGHT, lessonOf, moved, PARTS, WIDTH } from "./parts.js";

/** @import {MapProps} from "../types" */

const LINKS = "[class*='st-key-lesson_links'] a"; // the page's own: they change the page without a reload
const PHONE = "(max-width: 640px)";

/**
 * @param {HTMLElement} root
 * @param {MapProps} first
 */
export function mount(root, first) {
  if (first.page) recordOpened(first.page);
  const update = (/** @type {MapProps} */ { page, lessons }) => {
    root.classList.add("hs-control", "hs-course");
    root.classList.toggle("hs-course-large", !page);
    const here = lessons.find(({ name }) => name === page);
    render(here ? html`<${Small} ...${{ lessons, here }} />` : html`<${Large} lessons=${lessons} />`, root);
  };
  update(first);
  return { update, destroy: () => render(null, root) };
}

const namesOf = ({ parts }) => PARTS.filter(({ id }) => parts.includes(id)).map(({ name }) => name);

/** The map beside a lesson, folded on a phone. */
function Small({ lessons, here }) {
  const [said, say] = useState("");
  const [isOpen, open] = useState(!matchMedia(PHONE).matches);
  useEffect(() => {
    const phone = matchMedia(PHONE);
    const fold = () => open(!phone.matches);
    phone.addEventListener("change", fold);
    return () => phone.removeEventListener("change", fold);
  }, []);
  const isLit = (part) => here.parts.includes(part.id);
  return html`<details class="hs-map-fold" open=${isOpen} onToggle=${(event) => open(event.target.open)}>
    <summary>Where this is in the transformer</summary>
    <${Diagram} ...${{ lessons, here, isLit, say }} />
    <p class="hs-map-line" aria-hidden="true">${said || namesOf(here).join(", ") || "All parts"}</p>
  </details>`;
}

/** The map, and where to begin or to go on; a lesson of the list lights its parts, and what it builds on. */
function Large({ lessons }) {
  const [said, say] = useState("");
  const [lit, light] = useState(/** @type {any} */ (null));
  const { opened, last } = progress();
  const before = lessons.find(({ name }) => name === last);
  const { name: start, number: at, title, minutes } = before ?? lessons[0];
  const word = before ? "Continue where you left off:" : "Start with";
  const item = (lesson) => {
    const { name, number, line, needs } = lesson;
    const isOpened = opened.includes(name);
    const [on, off] = [() => light(lesson), () => light(null)];
    const others = needs.map((need, i) => {
      const other = lessons[need - 1];
      const label = `lesson ${need}, ${other.title}`;
      return html`${i ? ", " : " · needs "}<${Link} name=${other.name} title=${other.title} aria-label=${label}>${need}<//>`;
    });
    return html`<li class=${lit?.needs.includes(number) ? "needed" : ""} onPointerOver=${on} onPointerOut=${off} onFocusIn=${on} onFocusOut=${off}>
      <div>
        <${Link} name=${name} aria-description=${isOpened ? "opened" : undefined}>${`${number} · ${lesson.title}`}<//>
        ${" "}<span class="hs-tick" aria-hidden="true">${isOpened ? "✓" : ""}</span>
      </div>
      <div class="hs-lesson-line">${line}</div>
      <span class="hs-lesson-facts">${`${lesson.minutes} min`}${others}</span>
    </li>`;
  };
  return html`
    <${Link} name=${start} class="hs-course-start">${`${word} lesson ${at}, ${title} (${minutes} min) →`}<//>
    <div class="hs-map-side">
      <${Diagram} ...${{ lessons, isLit: (part) => lit?.parts.includes(part.id) ?? false, say, isDetailed: true }} />
      <p class="hs-map-line" aria-hidden="true">${said || "Click a part to open its lesson."}</p>
    </div>
    <ol class="hs-lessons">${lessons.map(item)}</ol>
  `;
}

const Link = ({ name, children, ...attributes }) =>
  html`<a href=${name} onClick=${(event) => follow(event, name)} ...${attributes}>${children}</a>`;

/** Opens a lesson by the page's own link to it; without one, the browser follows the address. */
function follow(event, name) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(LINKS));
  const anchor = [...links].find(({ pathname }) => pathname.split("/").at(-1) === name);
  if (!anchor) return;
  event.preventDefault();
  anchor.click();
}

/** The parts of the transformer: one stop of the Tab key, and arrow keys from part to part. */
function Diagram({ lessons, here, isLit, say, isDetailed = false }) {
  const svg = useRef(/** @type {SVGElement | null} */ (null));
  const leading = PARTS.filter((part) => lessonOf(lessons, part.id));
  const lit = here ? leading.findIndex(isLit) : 0;
  const [stop, setStop] = useState(Math.max(0, lit));
  const press = (event) => {
    const to = moved(event.key, stop, leading.length);
    if (to === null) return;
    event.preventDefault(); // the arrow keys of the page go through the steps of a lesson
    event.stopPropagation();
    setStop(to);
    /** @type {SVGElement | null | undefined} */ (
      svg.current?.querySelector(`[data-part="${leading[to].id}"]`)
    )?.focus();
  };
  const about = here ? `; this lesson is about: ${namesOf(here).join(", ") || "all parts"}` : "";
  const part = (each) => {
    const leads = here && isLit(each) ? here : lessonOf(lessons, each.id);
    const isStop = leading[stop] === each;
    return html`<${Part} key=${each.id} ...${{ part: each, leads, here, lessons, isLit: isLit(each), isStop, say, isDetailed }} />`;
  };
  return html`<svg class=${isDetailed ? "hs-map detailed" : "hs-map"} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label=${`Map of the transformer${about}`} ref=${svg} onKeyDown=${press}>
    ${PARTS.slice(0, 2).map(part)}
    <g aria-hidden="true">${FLOWS.map((points) => html`<path class="hs-map-flow" d=${flow(points)} />`)}</g>
    ${PARTS.slice(2).map(part)}
  </svg>`;
}

function Part({ part, leads, here, lessons, isLit, isStop, say, isDetailed }) {
  const { id, name, label, long = label, boxes } = part;
  const numbers = lessons.filter(({ parts }) => parts.includes(id)).map(({ number }) => number);
  const drawn = boxes.map(
    ([x, y, width, height], i) => html`
    <rect ...${{ x, y, width, height }} rx=${label ? 3 : 5} />
    <text x=${x + width / 2} y=${y + height / 2}>${isDetailed && i === 0 ? long : label}</text>
    ${isDetailed && i === 0 && numbers.length > 0 && html`<${Badge} x=${id === "heads" ? x + 4 : x + width - 2} y=${y + Math.min(1.5, height / 2)} numbers=${numbers} />`}
  `,
  );
  const look = `hs-map-part${isLit ? " lit" : ""}${label ? "" : " frame"}`;
  if (!leads) return html`<g class=${look} data-part=${id}>${drawn}</g>`;
  const isHere = Boolean(here) && isLit;
  const led = `${name}: ${isHere ? "this lesson" : `lesson ${leads.number}, ${leads.title}`}`;
  const tell = () => say(isHere ? name : `${name} · lesson ${leads.number}`);
  const events = {
    onPointerEnter: tell,
    onFocus: tell,
    onPointerLeave: () => say(""),
    onBlur: () => say(""),
  };
  return html`<a class=${look} data-part=${id} href=${leads.name} aria-label=${led} aria-current=${isHere ? "page" : undefined} tabindex=${isStop ? 0 : -1} onClick=${(event) => follow(event, leads.name)} ...${events}>${drawn}</a>`;
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
