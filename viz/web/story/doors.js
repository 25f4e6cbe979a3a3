// The page of the course: three doors, and what lies behind the one that is open.

import { mounting } from "../controls/control.js";
import { html } from "../core/html.js";
import { useState } from "../vendor/hooks.js";
import { Prose } from "./prose.js";
import { LessonLink } from "./links.js";
import { isDone, progress, recordDoor } from "./progress.js";

/** @import {DoorsProps} from "../types" */

/** @param {DoorsProps} props */
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

export const mount = mounting(Doors);
