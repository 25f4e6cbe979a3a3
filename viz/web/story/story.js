// A lesson as a story: a step at a time, its text beside its figure, whose numbers come from the server as its inputs
// change. On paper all steps; presented, the figure alone with a caption.

import { html } from "../core/html.js";
import { useRef, useState } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { setColours } from "../scene/marks.js";
import { FigurePane } from "./figure.js";
import { LessonLink, openLesson } from "./course.js";
import { Prose } from "./prose.js";
import { Story } from "./state.js";

/** @import {StoryProps} from "../types" */

const PHONE = 720; // CSS pixels of the story's width
// where a key has a meaning of its own: typing, moving a slider, choosing
const INTERACTIVE =
  "input, textarea, select, [contenteditable=true], [role=slider], [role=tab], [role=option]";
const PRESSES = "button, a, summary, [role=button]"; // what Space is for
/** @type {Record<string, number>} arrow keys, and those of a clicker */
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1, " ": 1 };

/** @param {HTMLElement} root @param {StoryProps} first */
export function mount(root, first) {
  let frame = 0;
  const draw = () => (frame ||= requestAnimationFrame(paint));
  const story = new Story(root, first, draw);

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    const { props, isPaper, isPresented, step } = story;
    setColours(root, story.colours());
    root.classList.toggle("story-present", isPresented);
    story.ask();
    const visible = isPaper ? props.steps.map((_, at) => at) : [step];
    render(
      html`<div class="story-grid">
        <${StepBar} story=${story} />
        <div class="story-text">${visible.map((at) => html`<${Step} key=${props.steps[at].name} ...${{ story, step: props.steps[at], at }} />`)}</div>
        <${FigurePane} ...${{ story, isNarrow: root.clientWidth <= PHONE }} />
      </div>`,
      root,
    );
    if (story.shown) Object.assign(root.dataset, { step: story.shown.moment.step, ready: "" });
  }

  const paper = (/** @type {boolean} */ on) => () => {
    story.isPaper = on;
    paint();
  };
  root.classList.add("story");
  const end = new AbortController();
  const { signal } = end;
  addEventListener("beforeprint", paper(true), { signal });
  addEventListener("afterprint", paper(false), { signal });
  document.addEventListener("keydown", (event) => pressed(event, story), { signal });
  light(root, signal);
  const sizes = new ResizeObserver(draw);
  sizes.observe(root);
  import(`../../course/${first.page}/figure.js`).then(
    (figure) => story.begin(figure),
    () => story.refuse("The figure could not be loaded. Reload the page."),
  );

  const update = (/** @type {StoryProps} */ props) => {
    story.update(props);
    paint();
  };
  update(first);
  return {
    update,
    destroy() {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      end.abort();
      story.destroy();
      render(null, root);
    },
  };
}

/** Keys: arrows and those of a clicker for steps, numbers for answers, P to present, N for the next lesson. */
function pressed(event, story) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const from = event.composedPath()[0];
  if (from instanceof Element && from.closest(INTERACTIVE)) return;
  const { key } = event;
  const isSpace = key === " ";
  if (isSpace && (!story.isPresented || from.closest?.(PRESSES))) return;
  const { ask } = story.props.steps[story.step];
  if (MOVES[key]) story.show(story.neighbour(MOVES[key]));
  else if (key.toLowerCase() === "p") story.present(!story.isPresented);
  else if (key === "Escape" && story.isPresented) story.present(false);
  else if (key.toLowerCase() === "n") openLesson(story.nextLesson()?.name ?? "");
  else if (ask?.options[Number(key) - 1])
    story.root.querySelectorAll(".story-option")[Number(key) - 1]?.click();
  else return;
  event.preventDefault();
}

/** Lights up everything of the term that the pointer or the focus is on. */
function light(root, signal) {
  const over = (/** @type {Event} */ event) => {
    const target = event.composedPath()[0];
    const term = target instanceof Element ? target.closest("[data-term]")?.getAttribute("data-term") : null;
    if (term) root.dataset.lit = term;
    else delete root.dataset.lit;
  };
  for (const kind of ["pointermove", "focusin", "pointerleave"])
    root.addEventListener(kind, over, { signal });
}

/** A mark for each step, and the steps that go deeper. */
function StepBar({ story }) {
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

function Step({ story, step, at }) {
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
