// Where the reader is, and the text of a step, some with a question that comes before the answer.

import { html } from "../core/html.js";
import { useRef, useState } from "../vendor/hooks.js";
import { LessonLink } from "./links.js";
import { Prose } from "./prose.js";

/** @import {StoryStep} from "../types" */
/** @import {Story} from "./state.js" */

/** A mark for each step, and the steps that go deeper. @param {{story: Story}} props */
export function StepBar({ story }) {
  const { steps } = story.props;
  const of = (deeper) => steps.flatMap((step, at) => (step.deeper === deeper ? [{ ...step, at }] : []));
  const [main, deeper] = [of(false), of(true)];
  const isDeeper = steps[story.step].deeper;
  const place = (isDeeper ? deeper : main).findIndex(({ at }) => at === story.step) + 1;
  const folded = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const go = (at) => {
    if (folded.current) folded.current.open = false;
    story.show(at);
  };
  return html`<div class="story-bar">
    <div class="story-marks">
      ${main.map(({ at, title }, i) => html`<button type="button" class="story-mark" aria-label=${`Step ${i + 1}: ${title}`} aria-current=${at === story.step ? "step" : undefined} title=${title} onClick=${() => go(at)} />`)}
    </div>
    <span class="story-place">${isDeeper ? `going deeper, ${place} of ${deeper.length}` : `step ${place} of ${main.length}`}</span>
    ${
      deeper.length > 0 &&
      html`<details class="story-deeper" ref=${folded}>
        <summary>Going deeper</summary>
        <ol>${deeper.map(({ at, title }) => html`<li><button type="button" aria-current=${at === story.step ? "step" : undefined} onClick=${() => go(at)}>${title}</button></li>`)}</ol>
      </details>`
    }
  </div>`;
}

/** @param {{story: Story, step: StoryStep, at: number}} props */
export function Step({ story, step, at }) {
  const numbers = story.at(at)?.numbers ?? null;
  const { prose, tries } = step;
  const isWaiting = story.isWaiting(at);
  return html`<section class="story-step" id=${`step-${step.name}`}>
    <h1 class="story-title">${step.title}</h1>
    ${step.ask && html`<${Question} ask=${step.ask} ...${{ story, numbers, isWaiting }} />`}
    ${
      !isWaiting &&
      html`<div class="story-told">
        ${step.formulas.map((parts) => html`<p class="story-formula"><${Prose} ...${{ parts, numbers }} /></p>`)}
        ${prose.map((parts) => html`<p><${Prose} ...${{ parts, numbers }} /></p>`)}
        ${step.code.length > 0 && html`<${Code} ...${{ lines: step.code, numbers }} />`}
        ${
          tries.length > 0 &&
          html`<div class="story-tries" role="group" aria-label="Try this">
            ${tries.map(({ label, inputs }) => html`<button type="button" class="hs-button" onClick=${() => story.set({ ...story.props.inputs, ...inputs })}>${label}</button>`)}
          </div>`
        }
      </div>`
    }
    <${Ways} ...${{ story, isWaiting }} />
  </section>`;
}

/** Back and on: to the next step of the line, then to the next lesson. */
function Ways({ story, isWaiting }) {
  const [before, after] = [story.neighbour(-1), story.neighbour(1)];
  const next = story.nextLesson();
  const { steps } = story.props;
  const on =
    after >= 0
      ? html`<button type="button" class="hs-button story-next" onClick=${() => story.show(after)}>${isWaiting ? "Skip →" : "Next →"}</button>`
      : steps[story.step].deeper
        ? html`<button type="button" class="hs-button story-next" onClick=${() => story.show(0)}>To the first step →</button>`
        : next &&
          html`<${LessonLink} name=${next.name} class="hs-button story-next">${`Next lesson: ${next.title} →`}<//>`;
  return html`<div class="story-ways">
    <button type="button" class="hs-button" disabled=${before < 0} onClick=${() => story.show(before)}>← Back</button>
    ${on}
  </div>`;
}

const Code = ({ lines, numbers }) =>
  html`<pre class="story-code" tabindex="0">${lines.map((parts, i) => html`${i ? "\n" : ""}<${Prose} ...${{ parts, numbers }} />`)}</pre>`;

/** A question, with a reply to each answer. */
function Question({ story, ask, numbers, isWaiting }) {
  const [chosen, choose] = useState(-1);
  const answer = (/** @type {number} */ i) => {
    choose(i);
    story.answer(true);
  };
  const reply = ask.options[chosen];
  return html`<div class="story-ask">
    <h2>Predict first</h2>
    <p><${Prose} parts=${ask.text} numbers=${numbers} /></p>
    ${ask.options.map(
      (
        option,
        i,
      ) => html`<button type="button" class="story-option" aria-pressed=${String(i === chosen)} onClick=${() => answer(i)}>
        <kbd>${i + 1}</kbd><span>${option.text}</span>
      </button>`,
    )}
    ${isWaiting && html`<button type="button" class="story-show" onClick=${() => story.answer()}>Just show me</button>`}
    <p class="story-feedback" aria-live="polite">
      ${reply && html`<b>${reply.right ? "Right. " : "Not quite. "}</b><${Prose} parts=${reply.feedback} numbers=${numbers} />`}
    </p>
  </div>`;
}
