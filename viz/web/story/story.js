// A lesson as a story: paragraphs beside a figure that stays in sight. The paragraph being read decides what the
// figure shows; the figure's numbers come from the server as its inputs change.

import { html } from "../core/html.js";
import { holdStory } from "../lessons/current_step.js";
import { followPage } from "../lessons/follow_changes.js";
import { render } from "../vendor/preact.js";
import { FigurePane } from "./figure.js";
import { followReader } from "./reading.js";
import { Story } from "./state.js";
import { Step } from "./step.js";

/** @import {StoryProps} from "../types" */

const PHONE = 720; // CSS pixels of the story's width: below, the figure lies above the text

/**
 * @param {HTMLElement} root
 * @param {StoryProps} first
 */
export function mount(root, first) {
  let frame = 0;
  const draw = () => (frame ||= requestAnimationFrame(paint));
  const story = new Story(root, first, draw);
  const isNarrow = () => root.clientWidth <= PHONE;
  const sections = () => [...root.querySelectorAll(".story-step")];
  const reader = followReader(isNarrow, (step) => story.show(step));
  let keepPlace = () => {};

  /** Shows a step and brings its paragraph to where it is read. */
  function go(step) {
    if (step < 0 || step >= story.props.steps.length) return false;
    reader.rest();
    story.show(step);
    paint(); // first: its controls are part of the figure's height
    bring();
    return true;
  }

  function bring() {
    const narrow = isNarrow();
    const figure = /** @type {HTMLElement | null} */ (root.querySelector(".story-figure"));
    if (narrow && figure) root.style.setProperty("--story-figure", `${figure.offsetHeight}px`);
    sections()[story.step]?.scrollIntoView({ block: narrow ? "start" : "center" });
  }

  /** Keeps the step where it is read while the page is still being drawn. */
  function stay() {
    keepPlace();
    keepPlace = followPage(bring);
  }

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    const { props } = story;
    colour(root, story.colours());
    story.ask();
    const isFirst = root.dataset.ready === undefined;
    const { step } = story;
    const isWaiting = story.isWaiting(step);
    render(
      html`<div class="story-grid">
        <div class="story-text">${props.steps.map((each, at) => html`<${Step} key=${each.name} ...${{ story, step: each, at }} />`)}</div>
        <${FigurePane} ...${{ story, go, isNarrow: isNarrow() }} />
      </div>`,
      root,
    );
    reader.observe(sections());
    if (isFirst && root.dataset.ready !== undefined && step && !reader.isReading()) stay(); // now it has its height
    if (isNarrow() && before.step === step && before.isWaiting && !isWaiting) bring(); // its title stays below the figure
    before = { step, isWaiting };
  }
  let before = { step: -1, isWaiting: false };

  root.classList.add("story");
  const print = new AbortController();
  addEventListener("beforeprint", () => root.classList.add("story-paper"), { signal: print.signal });
  addEventListener("afterprint", () => root.classList.toggle("story-paper", story.props.paper), {
    signal: print.signal,
  });
  const ends = [() => print.abort(), light(root), reader.end, holdStory((by) => go(story.step + by))];
  const sizes = new ResizeObserver(draw);
  sizes.observe(root);
  import(`../figures/${first.page}.js`).then(
    ({ figure }) => {
      story.figure = figure;
      draw();
    },
    () => story.refuse("The figure could not be loaded. Reload the page."),
  );

  let size = 0; // of the type
  const update = (props) => {
    const { type_size: type = 1, paper } = props;
    const isOpened = story.update(props);
    root.style.fontSize = type === 1 ? "" : `calc(var(--st-base-font-size, 16px) * ${type})`;
    root.classList.toggle("story-paper", paper);
    root.classList.toggle("story-projected", type > 1);
    paint();
    if (isOpened ? story.step : size !== type) stay();
    size = type;
  };
  update(first);
  return {
    update,
    destroy() {
      cancelAnimationFrame(frame);
      keepPlace();
      sizes.disconnect();
      for (const end of ends) end();
      story.destroy();
      render(null, root);
    },
  };
}

/** The colours of the mode in force, for the style sheet. */
function colour({ style }, colours) {
  for (const [name, value] of Object.entries(colours.terms)) style.setProperty(`--term-${name}`, value);
  for (const name of ["background", "surface", "text", "muted", "line", "primary"])
    style.setProperty(`--hs-${name}`, colours[name]);
}

/** Lights up everything of the term that the pointer or the focus is on. */
function light(root) {
  const over = (/** @type {Event} */ event) => {
    const target = event.composedPath()[0];
    const term = target instanceof Element ? target.closest("[data-term]")?.getAttribute("data-term") : null;
    if (term) root.dataset.lit = term;
    else delete root.dataset.lit;
  };
  const end = new AbortController();
  for (const kind of ["pointermove", "focusin", "pointerleave"])
    root.addEventListener(kind, over, { signal: end.signal });
  return () => end.abort();
}
