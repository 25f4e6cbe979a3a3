// The course around its lessons: its page with three doors, the row of lessons above one of them, links between them,
// and how far a reader has come. Steps that were seen and the chosen door stay in this browser; answers stay for this
// tab, so that a reload keeps them and the next class is asked again.

import { mounting } from "../controls/control.js";
import { html } from "../core/html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { Prose } from "./prose.js";

/** @import {RailProps} from "../types" */

const LINKS = "[class*='st-key-lesson_links'] a"; // the page's own

/** @param {{name: string, query?: string, children?: any, [attribute: string]: any}} props */
export const LessonLink = ({ name, query = "", children, ...attributes }) =>
  html`<a href=${`${name}${query}`} onClick=${(event) => !query && follow(event, name)} ...${attributes}>${children}</a>`;

/** Opens a lesson as a click on the page's own link to it does. @param {string} name */
export function openLesson(name) {
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(LINKS));
  const anchor = [...links].find(({ pathname }) => pathname.split("/").at(-1) === name);
  anchor?.click();
  return Boolean(anchor);
}

/** Follows a link to a lesson; without one of the page's own, the browser follows the address. */
function follow(event, name) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (openLesson(name)) event.preventDefault();
}

/** The lessons of the way that a reader has chosen, if this one is on it. @type {(props: RailProps, door: string) => RailProps["lessons"]} */
export const wayOf = ({ page, lessons, short }, door) =>
  door === "short" && short.includes(page) ? lessons.filter(({ name }) => short.includes(name)) : lessons;

const COURSE = "headscope/course";
const CHANGED = "headscope-progress"; // an event of the document

/** @typedef {{seen: Record<string, string[]>, last: string, door: string}} Progress steps by lesson; "" for none */

/** @returns {Progress} */
export function progress() {
  const saved = read("localStorage", COURSE) ?? {};
  const seen = saved.seen && typeof saved.seen === "object" ? saved.seen : {};
  return { seen, last: String(saved.last ?? ""), door: String(saved.door ?? "") };
}

function record(change) {
  write("localStorage", COURSE, { ...progress(), ...change });
  globalThis.document?.dispatchEvent(new Event(CHANGED));
}

const recordDoor = (door) => record({ door });

/** A step of a lesson that was shown, its question answered. @type {(lesson: string, step: string) => void} */
export function recordSeen(lesson, step) {
  const { seen } = progress();
  const steps = [...new Set([...(seen[lesson] ?? []), step])];
  record({ seen: { ...seen, [lesson]: steps }, last: lesson });
}

/** Whether every step of a lesson's main line was seen. @type {(lesson: {name: string, steps: string[]}, seen: Progress["seen"]) => boolean} */
export const isDone = ({ name, steps }, seen) =>
  steps.length > 0 && steps.every((step) => seen[name]?.includes(step));

/** The steps of a lesson whose question was answered. @type {(lesson: string) => string[]} */
export const answeredSteps = (lesson) => read("sessionStorage", `${COURSE}/${lesson}`) ?? [];

/** @type {(lesson: string, step: string) => void} */
export const recordAnswer = (lesson, step) =>
  write("sessionStorage", `${COURSE}/${lesson}`, [...new Set([...answeredSteps(lesson), step])]);

/** @typedef {"localStorage" | "sessionStorage"} Store */

/** Null without storage (a file, a private window), or where an entry is not JSON. */
function read(store, key) {
  try {
    return JSON.parse(globalThis[store].getItem(key) ?? "null");
  } catch {
    return null;
  }
}

function write(store, key, value) {
  try {
    globalThis[store].setItem(key, JSON.stringify(value));
  } catch {
    // the course works without storage
  }
}

function Rail(props) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const again = () => redraw((n) => n + 1);
    document.addEventListener(CHANGED, again);
    return () => document.removeEventListener(CHANGED, again);
  }, []);
  const { seen, door } = progress();
  const way = wayOf(props, door);
  const at = way.findIndex(({ name }) => name === props.page);
  const isWhole = way === props.lessons;
  return html`<nav class=${`hs-rail ${isWhole ? "whole" : ""}`} aria-label="Lessons">
    <${LessonLink} name="course" class="hs-rail-name">${isWhole ? "The whole transformer" : "Attention in 45 minutes"}<//>
    <ol>${way.map((lesson, i) => {
      const done = isDone(lesson, seen);
      const rel = { [at - 1]: "prev", [at + 1]: "next" }[i];
      const label = `${i + 1}, ${lesson.title}${done ? ", done" : ""}`;
      return html`<li class=${i === at ? "here" : ""}>
        <${LessonLink} name=${lesson.name} rel=${rel} aria-label=${label} aria-current=${i === at ? "page" : undefined} title=${lesson.title}>
          <span class=${`hs-rail-mark ${done ? "done" : ""}`}>${done ? "✓" : i + 1}</span>
          <span class="hs-rail-title">${lesson.title}</span>
        <//>
      </li>`;
    })}</ol>
  </nav>`;
}

export const mountRail = mounting(Rail);

function Doors({ lessons, short, plans }) {
  const { seen, last, door } = progress();
  const [open, setOpen] = useState(door || "short");
  const some = lessons.filter(({ name }) => short.includes(name));
  const hours = Math.round(lessons.reduce((sum, { minutes }) => sum + minutes, 0) / 60);
  const [few, many] = [some.length, lessons.length];
  const doors = {
    short: ["Attention in 45 minutes", `${few} lessons: what attention is, and what heads do with it.`],
    whole: [
      "The whole transformer",
      `${many} lessons, ${hours} hours: from one word to a vision transformer.`,
    ],
    teach: [
      "For teachers",
      "Each lesson in one click, for the projector; a plan with minutes and questions.",
    ],
  };
  const choose = (name) => () => {
    recordDoor(name);
    setOpen(name);
  };
  const way = { way: open === "short" ? some : lessons, seen, last, isWhole: open === "whole" };
  return html`<div class="hs-doors" role="group" aria-label="Ways through the course">
      ${Object.entries(doors).map(([name, [title, line]]) => html`<button type="button" class="hs-door" aria-pressed=${String(open === name)} onClick=${choose(name)}><b>${title}</b><span>${line}</span></button>`)}
    </div>
    ${open === "teach" ? html`<${Teach} ...${{ lessons, plans }} />` : html`<${Way} ...${way} />`}`;
}

/** The lessons of a way, and where to begin or to go on. */
function Way({ way, seen, last, isWhole }) {
  const at = way.find(({ name }) => name === last);
  const start = at && !isDone(at, seen) ? at : (way.find((each) => !isDone(each, seen)) ?? way[0]);
  const word = at || Object.keys(seen).length ? "Continue with" : "Start with";
  const recordWay = () => recordDoor(isWhole ? "whole" : "short");
  return html`<div class=${isWhole ? "hs-way whole" : "hs-way"} onClickCapture=${recordWay}>
    <${LessonLink} name=${start.name} class="hs-course-start">${`${word} “${start.title}” (${start.minutes} min) →`}<//>
    <ol class="hs-lessons">
      ${way.map((lesson, i) => {
        const { name, title, line, minutes } = lesson;
        const done = isDone(lesson, seen);
        return html`<li>
          <${LessonLink} name=${name} aria-description=${done ? "done" : undefined}>${`${i + 1} · ${title}`}<//>
          ${" "}<span class="hs-tick" aria-hidden="true">${done ? "✓" : ""}</span>
          <div class="hs-lesson-line">${`${line} ${minutes} min`}</div>
        </li>`;
      })}
    </ol>
  </div>`;
}

/** Each lesson for the projector, and its plan: aim, what to show, a question, the misreading to watch for. */
const Teach = ({ lessons, plans }) => html`<ol class="hs-plans">
  ${lessons.map(({ name, title, minutes, number }) => {
    const row = (term, parts) => html`<dt>${term}</dt><dd><${Prose} parts=${parts} /></dd>`;
    const { aim, show, ask, misreading } = plans[name];
    return html`<li>
      <h5>${`${number} · ${title}`} <small>${`${minutes} min`}</small></h5>
      <${LessonLink} name=${name} query="?present=yes" class="hs-button" aria-label=${`Present ${title}`}>Present<//>
      <dl>${row("Aim", aim)}${row("Show", show)}${row("Ask", ask)}${row("Misreading", misreading)}</dl>
    </li>`;
  })}
</ol>`;

export const mountDoors = mounting(Doors);
