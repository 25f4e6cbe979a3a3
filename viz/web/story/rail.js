// The lessons of the reader's door in a row above a lesson, with those that are done ticked.

import { mounting } from "../controls/control.js";
import { html } from "../core/html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { LessonLink, wayOf } from "./links.js";
import { CHANGED, isDone, progress } from "./progress.js";

/** @import {RailProps} from "../types" */

/** @param {RailProps} props */
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

export const mount = mounting(Rail);
