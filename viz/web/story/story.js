// A lesson as a story: paragraphs beside a figure that stays in sight. The paragraph being read decides
// what the figure shows; the figure's numbers come from the server as its inputs change.

import { choose, claim, disown } from "../core/address.js";
import { switchOf } from "../core/bar.js";
import { modeOf } from "../core/colours.js";
import { element, setText } from "../core/dom.js";
import { saveDrawing } from "../core/drawing_file.js";
import { keep, kept, startOf } from "../core/saved_selection.js";
import { boardPart, describeBoard } from "./board.js";
import { fitted, SIZE } from "../scene/layout.js";
import { controlsOf, valuesAhead } from "./controls.js";
import { onRequest, reportStep } from "../lessons/current_step.js";
import { holdStory, leaveFigure } from "../lessons/figure_and_map.js";
import { answeredSteps, recordAnswer } from "../lessons/progress.js";
import { followPage } from "../lessons/follow_changes.js";
import { feed, fetchJson } from "./feed.js";
import { inkOf } from "../scene/ink.js";
import { changed, queryOf, read, written } from "./inputs.js";
import { operate } from "./operate.js";
import { fill } from "./prose.js";
import { isOnScrollbar, scrolls } from "./reading.js";
import { Scene, TWEEN_MS } from "../scene/scene.js";
import { sectionsOf } from "./sections.js";
import { tablesOf } from "./tables.js";
import { tipOf } from "./tip.js";

/** @import {Format} from "../core/drawing_file.js" */
/** @import {Figure, FigureControl, FigureTable, Ink, Inputs, Mark, Moment, Patch, StoryProps, StoryTheme} from "../types" */

const LINE = 0.45; // height of the line in the window that the paragraph being read crosses
const PHONE_LINE = 0.8; // on a phone the figure lies above the text
const PHONE = 720; // CSS pixels of the story's width
const AHEAD_MS = 120; // after the last change, before the next values are fetched
const LARGE = ".st-key-lesson_large button"; // the page's own
const LEAST = 15.5; // of text on a phone, in units of a picture 560 wide: 10 pixels
const PAPER_LEAST = 14; // of text on paper, where a picture is about 400 pixels wide

class Story {
  /**
   * @param {HTMLElement} root
   * @param {StoryProps} props
   */
  constructor(root, props) {
    this.root = root;
    this.props = props;
    this.entry = `${props.page}/story`; // of the address
    this.step = 0;
    /** @type {Inputs} */
    this.inputs = { ...props.inputs };
    this.opened = 0; // the step in whose state the figure was opened
    /** @type {any} */
    this.numbers = null;
    this.path = ""; // of these numbers
    this.asked = ""; // the path last asked for
    this.turning = false; // whether the numbers of the step shown are on their way
    /** @type {Figure | null} */
    this.figure = null;
    /** @type {Scene | null} */
    this.scene = null;
    this.colours = props.theme.light;
    this.ink = inkOf(this.colours);
    this.seconds = 0; // that the numbers asked for have taken, where it is long
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.clock = undefined;
    this.dragging = false;
    this.frozen = false; // while it is on paper
    /** @type {HTMLElement[]} */
    this.stills = [];
    this.crossing = 0; // the paragraph on the line where one reads
    this.reading = false; // whether the last input scrolled
    this.revision = "";
    this.typeSize = 1;
    this.sections = sectionsOf(props.steps, {
      tryOut: (inputs) => this.set(changed(this.props.inputs, inputs)),
      revealed: ({ name }) => this.revealed(name),
      numbers: (step) => this.numbersOf(step),
    }, answeredSteps(props.page));
    this.picture = element("div", "story-picture");
    /** @type {ReturnType<typeof tipOf> | null} */
    this.tip = null;
    this.computed = element("span");
    this.explore = /** @type {HTMLAnchorElement} */ (element("a", "story-explore", { hidden: "" }));
    this.problem = element("p", "story-problem", { role: "alert", hidden: "" });
    this.again = button("Try again", "Ask for the numbers again", () => {
      this.count(true);
      this.feed.retry();
    });
    this.place = element("span", "story-place");
    this.back = button("←", "The step before", () => this.go(this.step - 1));
    this.forward = button("→", "The next step", () => this.go(this.step + 1));
    this.reset = button("Reset", "The figure as it was at first", () => this.set(this.opening(this.opened)));
    const save = switchOf(
      "Save",
      button("Save SVG", "Save this figure as an SVG file", () => this.save("svg")),
      button("PNG", "Save this figure as a PNG file", () => this.save("png")),
    );
    save.classList.add("story-save");
    const out = button("Map", "Back out to the map (M)", leaveFigure);
    // at the top of the page, where a reader who scrolls to it leaves the step
    const large = button("Projector", "Larger type and figure, for the back row", () => /** @type {HTMLElement | null} */ (document.querySelector(LARGE))?.click());
    large.classList.add("story-large");
    const bar = element("div", "story-bar", {}, this.back, this.forward, this.place, this.reset, out, large, save);
    this.controls = controlsOf((patch) => this.patch(patch, false), (control) => this.expect(control));
    /** @type {FigureControl | null} */
    this.used = null; // the control that may be changed next
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.quiet = undefined; // until the next values are fetched
    this.tables = tablesOf();
    const aside = (this.aside = element("div", "story-figure", { role: "group", "aria-label": props.title, tabindex: "-1" }));
    aside.append(bar, this.controls.above, this.picture, element("p", "story-computed", {}, this.computed, " ", this.explore), this.problem, this.controls.box, this.tables.box);
    this.text = element("div", "story-text", {}, ...this.sections.map(({ box }) => box));
    root.classList.add("story");
    root.replaceChildren(element("div", "story-grid", {}, this.text, aside));
    this.feed = feed(fetchJson, (numbers, path) => this.received(numbers, path), (reason) => this.unanswered(reason), () => this.fillText());
    this.end = new AbortController();
    this.ends = [() => this.end.abort(), onRequest((page, step) => this.requested(page, step)), light(root), this.printing(), this.scrolling(), this.zooming()];
    this.observer = this.observe();
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(root);
    this.update(props);
    this.load().catch(() => this.failed("The figure could not be loaded. Reload the page."));
  }

  async load() {
    /** @type {{figure: Figure}} */
    const { figure } = await import(`../figures/${this.props.page}.js`);
    this.figure = figure;
    this.scene = new Scene(sizeOf(figure));
    this.picture.append(this.scene.root);
    const tip = (this.tip = tipOf(this.scene, this.picture));
    this.ends.push(operate(this.scene, this.picture, {
      patch: (patch, dragged) => this.patch(patch, dragged),
      tip: tip.show,
      refuse: (reason) => this.failed(reason),
    }));
    this.ask();
    this.draw(0);
  }

  /** @param {StoryProps} props */
  update(props) {
    this.props = props;
    const { path, revision } = props;
    claim(this.entry, path, {}, this.root);
    const opened = revision !== this.revision;
    if (opened) {
      this.revision = revision;
      const start = startOf(kept(this.entry, revision), props);
      const step = Math.min(props.steps.length - 1, Math.max(0, Number(start.story ?? 0) || 0));
      this.opened = this.drawn(step);
      this.inputs = read(String(start.figure ?? ""), this.opening(this.opened));
      if (step) this.go(step);
      this.ask();
    }
    if (!opened && (props.type_size ?? 1) !== this.typeSize) this.ends.push(followPage(() => this.go(this.step)));
    this.typeSize = props.type_size ?? 1;
    this.root.style.fontSize = props.type_size && props.type_size !== 1 ? `calc(var(--st-base-font-size, 16px) * ${props.type_size})` : "";
    this.root.classList.toggle("story-paper", props.paper);
    this.root.classList.toggle("story-projected", this.typeSize > 1);
    this.record();
    this.draw(0);
  }

  /** Writes the link, and keeps what is shown for when this page is opened again. */
  record() {
    const { page, revision } = this.props;
    const figure = written(this.inputs, this.opening(this.opened));
    /** @type {Record<string, string>} */
    const selection = {};
    if (this.step) selection.story = String(this.step);
    if (figure) selection.figure = figure;
    choose(this.entry, selection);
    keep(this.entry, revision, { story: this.step, figure });
    reportStep(page, this.step, this.props.steps.length);
  }

  /** Asks for the numbers of what is shown; true if they were there already and are drawn. */
  ask() {
    if (!this.figure) return false;
    const path = this.shownPath(this.figure);
    const drawn = this.feed.want(path);
    if (path !== this.asked) this.count(!drawn && path !== this.path);
    this.asked = path;
    return drawn;
  }

  /**
   * Counts the seconds that numbers take, and dims the picture meanwhile.
   *
   * @param {boolean} on
   */
  count(on) {
    clearInterval(this.clock);
    this.seconds = 0;
    this.picture.classList.toggle("story-turning", this.turning);
    if (!on) return;
    this.clock = setInterval(() => {
      this.seconds += 1;
      this.picture.classList.add("story-turning");
      this.note();
    }, 1000);
  }

  /** @param {Figure} figure */
  shownPath(figure) {
    return this.pathOf(figure, this.moment(this.step));
  }

  /**
   * Fetches the numbers of a control's other values before one is chosen.
   *
   * @param {FigureControl} control
   */
  expect(control) {
    if (control === this.used) return;
    this.used = control;
    this.lookAhead();
  }

  /** Fetches what may be seen next: the other values of a control, and steps that ask for more. */
  lookAhead() {
    const { figure, used, inputs } = this;
    if (!figure) return;
    const now = this.moment(this.step);
    const others = used ? valuesAhead(used, inputs[used.input]).map((value) => changed(inputs, { [used.input]: value })) : [];
    const moments = [...others.map((chosen) => ({ ...now, inputs: chosen })), ...this.sections.map((_, step) => this.state(step, this.ink))];
    const paths = new Set(moments.map((moment) => this.pathOf(figure, moment)));
    this.feed.expect([...paths]);
  }

  /** Writes its own numbers into the text of every step. */
  fillText() {
    this.sections.forEach(({ box }, step) => fill(box, this.numbersOf(step)));
  }

  /**
   * The numbers of a step in its own state; while they are on their way, those before a change of the
   * inputs, and null for a step in another state than the one shown.
   *
   * @param {number} step
   */
  numbersOf(step) {
    if (!this.figure) return null;
    const path = this.pathOf(this.figure, this.state(step, this.ink));
    return this.feed.held(path) ?? (path === this.shownPath(this.figure) && !this.turning ? this.numbers : null);
  }

  /**
   * Where a state's numbers are.
   *
   * @param {Figure} figure
   * @param {Moment} moment
   */
  pathOf(figure, moment) {
    const asked = changed(moment.inputs, { ...figure.asks?.(moment), ...(moment.board ? { board: moment.step } : {}) });
    return `${location.origin}/api/figure/${this.props.page}?${queryOf(asked)}`;
  }

  /**
   * @param {any} numbers
   * @param {string} path
   */
  received(numbers, path) {
    this.numbers = numbers;
    this.path = path;
    if (this.figure && path === this.shownPath(this.figure)) {
      this.turn(false);
      this.count(false);
    }
    this.problem.hidden = true;
    this.fillText();
    if (!this.dragging) this.tables.show(this.figure ? tablesFor(this.figure, numbers, this.moment(this.step)) : []);
    const first = this.root.dataset.ready === undefined;
    this.draw(this.dragging || first ? 0 : TWEEN_MS);
    // only now the figure has its height; what is still to come above it must not move the step away
    if (first && this.step && !this.reading) this.ends.push(followPage(() => this.go(this.step)));
    this.root.dataset.ready = "";
    if (this.props.paper) this.showStills();
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.lookAhead(), AHEAD_MS);
  }

  /** @param {string} reason */
  unanswered(reason) {
    this.count(false);
    this.note();
    this.failed(reason, this.again);
    this.root.dataset.step = this.moment(this.step).step;
  }

  /**
   * @param {string} reason
   * @param {(Node | string)[]} remedy
   */
  failed(reason, ...remedy) {
    this.problem.replaceChildren(`${reason} `, ...remedy);
    this.problem.hidden = false;
  }

  /**
   * @param {Patch} patch
   * @param {boolean} dragged while the pointer is down: nothing may move by itself
   */
  patch(patch, dragged) {
    this.dragging = dragged;
    this.set(changed(this.inputs, patch));
  }

  /** @param {Inputs} inputs */
  set(inputs) {
    this.inputs = inputs;
    this.problem.hidden = true;
    const drawn = this.ask();
    if (!drawn) this.draw(0);
    this.record();
  }

  /**
   * Shows a step and brings its paragraph to where it is read.
   *
   * @param {number} step
   */
  go(step) {
    if (step < 0 || step >= this.sections.length) return;
    this.crossing = step;
    this.reading = false;
    this.show(step); // first: its controls are part of the figure's height
    if (this.narrow) this.root.style.setProperty("--story-figure", `${this.aside.offsetHeight}px`);
    this.sections[step].box.scrollIntoView({ block: this.narrow ? "start" : "center" });
  }

  /**
   * Shows the step that is asked for, if it is one of this lesson.
   *
   * @param {string} page
   * @param {number} step
   */
  requested(page, step) {
    if (page === this.props.page) this.go(step);
  }

  /** @param {number} step */
  show(step) {
    if (step === this.step) return;
    this.step = step;
    this.used = null;
    this.open();
    this.record();
    this.turned();
  }

  /** Brings the inputs that steps set to the state in which the step that is drawn opens. */
  open() {
    const at = this.drawn(this.step);
    if (at === this.opened) return;
    this.inputs = this.inputsOf(at);
    this.opened = at;
  }

  /**
   * The inputs in which a step opens.
   *
   * @param {number} step
   */
  opening(step) {
    return changed(this.props.inputs, this.props.steps[step].inputs);
  }

  /**
   * The inputs at a step: the reader's, but those that some step sets are as this one opens.
   *
   * @param {number} step
   */
  inputsOf(step) {
    if (step === this.opened) return this.inputs;
    const [opening, set] = [this.opening(step), this.props.steps.flatMap(({ inputs }) => Object.keys(inputs))];
    return changed(this.inputs, Object.fromEntries(set.map((name) => [name, opening[name]])));
  }

  /** Shows another state of the figure; until its numbers are there, the picture stays, dimmed. */
  turned() {
    const { figure } = this;
    this.turn(figure !== null && this.shownPath(figure) !== this.path);
    const drawn = this.ask();
    if (drawn) return;
    this.fillText();
    this.draw(TWEEN_MS);
  }

  /** @param {boolean} turning whether the numbers of the step shown are on their way */
  turn(turning) {
    this.turning = turning;
    this.picture.classList.toggle("story-turning", turning);
  }

  /**
   * Shows the step that a question kept back. On a phone the figure may grow: its title stays below it.
   *
   * @param {string} name of the step
   */
  revealed(name) {
    recordAnswer(this.props.page, name);
    this.step = this.crossing = this.props.steps.findIndex((each) => each.name === name);
    this.open();
    this.record();
    const seen = this.sections[this.step].box.getBoundingClientRect().top >= this.aside.getBoundingClientRect().bottom - 1;
    this.turned();
    if (this.narrow && seen) this.go(this.step);
  }

  /**
   * What the figure shows at a step.
   *
   * @param {number} step
   * @returns {Moment}
   */
  moment(step) {
    return this.state(this.drawn(step), this.ink);
  }

  /**
   * The step that the figure draws: while a question waits for its answer, the one before.
   *
   * @param {number} step
   */
  drawn(step) {
    return Math.max(0, this.sections[step].waiting() ? step - 1 : step);
  }

  /**
   * @param {number} at
   * @param {Ink} ink
   * @returns {Moment}
   */
  state(at, ink) {
    const { steps } = this.props;
    return {
      step: steps[at].name,
      board: steps[at].board,
      reached: (name) => steps.findIndex((each) => each.name === name) <= at,
      inputs: this.inputsOf(at),
      ink,
    };
  }

  /** @param {StoryTheme} colours */
  colour(colours) {
    const { style } = this.root;
    for (const [name, colour] of Object.entries(colours.terms)) style.setProperty(`--term-${name}`, colour);
    for (const name of /** @type {const} */ (["background", "surface", "text", "muted", "line", "primary"]))
      style.setProperty(`--hs-${name}`, colours[name]);
  }

  /** @param {number} duration */
  draw(duration) {
    const { steps, theme } = this.props;
    const colours = theme[modeOf(this.root)]; // read before anything is written: styles are still valid
    if (colours !== this.colours || !this.root.style.length) {
      this.colours = colours;
      this.ink = inkOf(colours);
      this.colour(colours);
    }
    this.sections.forEach(({ box, tell }, i) => {
      box.classList.toggle("current", i === this.step);
      tell(this.inputsOf(i));
    });
    setText(this.place, `Step ${this.step + 1} of ${steps.length}: ${steps[this.step].title}`);
    this.note();
    this.back.disabled = this.step === 0;
    this.forward.disabled = this.step === steps.length - 1;
    this.reset.hidden = !written(this.inputs, this.opening(this.opened));
    if (!this.figure || !this.scene) return;
    const moment = this.moment(this.step);
    this.controls.show(controlsFor(this.figure, moment));
    this.controls.update(moment);
    const numbers = this.turning ? null : this.numbers;
    if (!numbers) return;
    const least = this.narrow ? LEAST : 0;
    this.scene.least = least;
    this.scene.draw(marksFor(this.figure, numbers, moment), calm() ? 0 : duration);
    this.scene.root.setAttribute("aria-label", describeFor(this.figure, numbers, moment));
    this.tip?.refresh();
    this.root.dataset.step = moment.step;
  }

  /** Says below the picture what its numbers are computed from, or for how long they have been. */
  note() {
    const step = this.props.steps[this.drawn(this.step)];
    const numbers = this.turning ? null : this.numbers;
    const of = step.board ? numbers?.board : numbers;
    const { computed, explore } = step.sizes ? {} : (of ?? {});
    const isOther = step.other?.network === this.inputsOf(this.drawn(this.step)).network;
    const source = computed ?? (isOther && step.other ? step.other : step).computed;
    const stored = computed && numbers?.nearest ? `${namesOf(numbers.nearest, this.figure ? controlsFor(this.figure, this.moment(this.step)) : [], step.name)} · ` : "";
    setText(this.computed, this.seconds ? `Still computing: ${this.seconds} s` : stored + source);
    this.point(this.seconds ? undefined : explore);
  }

  /**
   * Links to the page where the model behind the numbers can be explored, as the figure shows it.
   *
   * @param {{label: string, query: Record<string, string>} | undefined} to
   */
  point(to) {
    this.explore.hidden = !to;
    if (!to) return;
    setText(this.explore, to.label);
    const query = new URLSearchParams(to.query).toString();
    this.explore.href = new URL(`./?${query}`, location.href).href;
  }

  observe() {
    this.narrow = this.root.clientWidth <= PHONE;
    const line = Math.round(100 * (this.narrow ? PHONE_LINE : LINE));
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const step = this.sections.findIndex(({ box }) => box === target);
          if (!isIntersecting || step < 0) continue;
          this.crossing = step;
          this.follow();
        }
      },
      { rootMargin: `-${line}% 0px -${100 - line}% 0px` },
    );
    for (const { box } of this.sections) observer.observe(box);
    return observer;
  }

  /** Steps follow a reader who scrolls: not a page that grows, nor the way to a control that takes the focus. */
  scrolling() {
    const end = new AbortController();
    const listening = { capture: true, passive: true, signal: end.signal };
    const begin = () => (this.reading = true);
    for (const name of ["wheel", "touchmove"]) document.addEventListener(name, begin, listening);
    document.addEventListener("pointerdown", (event) => (this.reading = isOnScrollbar(event)), listening);
    document.addEventListener("keydown", (event) => (this.reading = scrolls(event)), { signal: end.signal });
    document.addEventListener("scroll", () => this.follow(), listening);
    return () => end.abort();
  }

  /** Shows the step that is read. */
  follow() {
    if (this.reading && !this.frozen) this.show(this.crossing);
  }

  /** The figure is one end of the zoom from the map and back. */
  zooming() {
    return holdStory({
      place: this.aside,
      picture: () => this.scene?.root,
      enter: () => this.go(this.step),
    });
  }

  resized() {
    if (this.narrow === this.root.clientWidth <= PHONE) return;
    this.observer.disconnect();
    this.observer = this.observe();
    this.draw(0);
  }

  /** On paper every paragraph has its picture beside it, and none moves. */
  printing() {
    const before = () => this.showStills();
    const after = () => this.props.paper || this.hideStills();
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }

  showStills() {
    this.hideStills();
    this.frozen = true;
    const { figure, numbers } = this;
    if (!figure || !numbers) return;
    const colours = this.props.theme.light;
    const ink = inkOf(colours);
    this.colour(colours);
    this.stills = this.sections.map(({ box }, step) => {
      const scene = new Scene(sizeOf(figure));
      const moment = this.state(step, ink);
      const draw = (/** @type {any} */ answer) => {
        scene.least = PAPER_LEAST;
        scene.draw(marksFor(figure, answer, moment).map(still));
        scene.root.setAttribute("role", "img");
        scene.root.setAttribute("aria-label", describeFor(figure, answer, moment));
      };
      const path = this.pathOf(figure, moment);
      const answer = path === this.path ? numbers : this.feed.held(path);
      draw(answer ?? numbers);
      if (!answer) fetchJson(path, this.end.signal).then(draw, () => {});
      const node = element("div", "story-still", {}, scene.root);
      box.firstElementChild?.after(node);
      return node;
    });
  }

  hideStills() {
    for (const each of this.stills) each.remove();
    this.stills = [];
    this.frozen = false;
    this.colour(this.colours);
  }

  /** @param {Format} format */
  save(format) {
    const { figure, numbers } = this;
    if (!figure || !numbers) return;
    const { title, theme, page, steps } = this.props;
    const { name, title: about } = steps[this.step];
    const { background, text } = theme.light;
    const scene = new Scene(sizeOf(figure));
    const moment = { ...this.moment(this.step), ink: inkOf(theme.light) };
    scene.draw(marksFor(figure, numbers, moment));
    const svg = scene.toSvg(`${title}: ${about}`, describeFor(figure, numbers, moment), background, text);
    saveDrawing(svg, scene.size, `headscope-${page}-${name}`, format);
  }

  destroy() {
    clearTimeout(this.quiet);
    clearInterval(this.clock);
    disown(this.entry, this.root);
    this.feed.destroy();
    this.observer.disconnect();
    this.sizes.disconnect();
    this.scene?.destroy();
    for (const end of this.ends) end();
  }
}

/** @param {Figure} figure */
const sizeOf = (figure) => figure.size ?? SIZE;

/** @type {(figure: Figure, numbers: any, moment: Moment) => import("../scene/layout.js").Part | undefined} */
const partFor = (figure, numbers, moment) => (numbers.board ? boardPart(numbers.board) : figure.picture?.(numbers, momentOf(numbers, moment)));

/** @type {(figure: Figure, numbers: any, moment: Moment) => Mark[]} */
function marksFor(figure, numbers, moment) {
  const part = partFor(figure, numbers, moment);
  return part ? fitted(part, moment.ink, sizeOf(figure)) : (figure.marks?.(numbers, momentOf(numbers, moment)) ?? []);
}

/** @type {(figure: Figure, moment: Moment) => FigureControl[]} */
function controlsFor({ controls = [] }, moment) {
  return typeof controls === "function" ? controls(moment).filter((each) => each !== false) : controls;
}

/** The state that these numbers are of, where those of the state asked for are not stored. @type {(numbers: any, moment: Moment) => Moment} */
const momentOf = ({ nearest }, moment) => (nearest ? { ...moment, inputs: changed(moment.inputs, nearest) } : moment);

/** Values by the labels of their controls: “Layer 3, head 4”. */
function namesOf(values, controls, step) {
  const named = Object.entries(values).map(([name, value]) => {
    const mine = controls.filter(({ input }) => input === name);
    const { label } = mine.find(({ on }) => on?.includes(step)) ?? mine[0] ?? { label: name };
    return typeof value === "string" ? `“${value}”` : `${label.toLowerCase()} ${value}`;
  });
  const text = named.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @type {(figure: Figure, numbers: any, moment: Moment) => string} */
const describeFor = (figure, numbers, moment) => (numbers.board ? describeBoard(numbers.board) : figure.describe(numbers, momentOf(numbers, moment)));

/** @type {(figure: Figure, numbers: any, moment: Moment) => FigureTable[]} */
const tablesFor = (figure, numbers, moment) => [...(partFor(figure, numbers, moment)?.tables ?? []), ...(figure.tables?.(numbers) ?? []), ...(boardPart({ rows: [numbers.tables ?? []] }).tables ?? [])];

/** Whether nothing may move by itself. */
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A mark that is only seen. */
const still = (mark) => ({ ...mark, handle: undefined, press: undefined, edit: undefined, tip: undefined });

function button(text, label, press) {
  const node = element("button", "hs-button", { type: "button", title: label, "aria-label": label }, text);
  node.addEventListener("click", press);
  return node;
}

/**
 * Lights up everything of the term that the pointer or the focus is on; not what scrolls below a
 * pointer at rest.
 */
function light(root) {
  const over = (/** @type {Event} */ event) => {
    const target = event.composedPath()[0];
    const term = target instanceof Element ? target.closest("[data-term]")?.getAttribute("data-term") : null;
    if (term) root.dataset.lit = term;
    else delete root.dataset.lit;
  };
  const out = () => delete root.dataset.lit;
  root.addEventListener("pointermove", over);
  root.addEventListener("focusin", over);
  root.addEventListener("pointerleave", out);
  return () => {
    root.removeEventListener("pointermove", over);
    root.removeEventListener("focusin", over);
    root.removeEventListener("pointerleave", out);
  };
}

/**
 * @param {HTMLElement} root
 * @param {StoryProps} props
 */
export function mount(root, props) {
  const story = new Story(root, props);
  return {
    /** @param {StoryProps} next */
    update: (next) => story.update(next),
    destroy: () => story.destroy(),
  };
}
