// A lesson as a story: a step at a time, its text beside its figure, whose numbers come from the server as its inputs
// change. On paper all steps; presented, the figure alone with a caption.

import { html } from "../core/html.js";
import { render } from "../vendor/preact.js";
import { colour } from "./colours.js";
import { FigurePane } from "./figure.js";
import { openLesson } from "./links.js";
import { Story } from "./state.js";
import { Step, StepBar } from "./step.js";

/** @import {StoryProps} from "../types" */

const PHONE = 720; // CSS pixels of the story's width
// where a key has a meaning of its own: typing, moving a slider, choosing
const INTERACTIVE =
  "input, textarea, select, [contenteditable=true], [role=slider], [role=tab], [role=option]";
const PRESSES = "button, a, summary, [role=button]"; // what Space is for
/** @type {Record<string, number>} arrow keys, and those of a clicker */
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1, " ": 1 };

/**
 * @param {HTMLElement} root
 * @param {StoryProps} first
 */
export function mount(root, first) {
  let frame = 0;
  const draw = () => (frame ||= requestAnimationFrame(paint));
  const story = new Story(root, first, draw);

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    const { props, isPaper, isPresented, step } = story;
    colour(root, story.colours());
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
