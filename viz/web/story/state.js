// The state of a story: the step that is read, the inputs of its figure, and the numbers that the server computes
// for them.

import { modeOf } from "../core/colours.js";
import { saveDrawing } from "../core/drawing_file.js";
import { PageLink } from "../core/link.js";
import { fitted, highOf, SIZE } from "../scene/layout.js";
import { inkOf } from "../scene/ink.js";
import { fileOf } from "../scene/elements.js";
import { boardPart, described } from "./board.js";
import { queryOf, read, written } from "./inputs.js";
import { wayOf } from "./links.js";
import { Numbers } from "./numbers.js";
import { plainText } from "./prose.js";
import { answeredSteps, progress, recordAnswer, recordSeen } from "./progress.js";
import { veiled } from "./veil.js";

/** @import {Figure, Inputs, Mark, Moment, Patch, StoryProps} from "../types" */

const AHEAD_MS = 120; // after the last change, before what may be wanted next is fetched

export class Story {
  /**
   * @param {HTMLElement} root
   * @param {StoryProps} props
   * @param {() => void} draw
   */
  constructor(root, props, draw) {
    this.root = root;
    this.props = props;
    this.draw = draw;
    this.link = new PageLink(root);
    this.step = 0;
    /** @type {Inputs} */
    this.inputs = { ...props.inputs };
    this.answered = answeredSteps(props.page);
    /** @type {Figure | null} */
    this.figure = null;
    /** @type {{numbers: any, step: string} | null} */
    this.latest = null; // numbers that were drawn
    this.isPresented = false;
    this.isPaper = false;
    this.dragging = false;
    this.refusal = "";
    this.numbers = new Numbers(() => this.arrived());
  }

  /** @param {StoryProps} props */
  update(props) {
    this.props = props;
    const opened = this.link.update({ ...props, page: `${props.page}/story` });
    if (opened) {
      const start = opened.selection;
      this.step = Math.min(props.steps.length - 1, Math.max(0, Number(start.story ?? 0) || 0));
      this.inputs = read(String(start.figure ?? ""), this.openingInputs(this.step));
      this.isPresented = start.present === "yes";
    }
    this.record();
  }

  /** The figure's module is here: so are the numbers that came with the page. @param {Figure} figure */
  begin(figure) {
    this.figure = figure;
    const first = { ...this.moment(0), inputs: this.openingInputs(0) };
    if (this.props.answer) this.numbers.kept.set(this.pathOf(first), this.props.answer);
    this.draw();
  }

  /** Writes the link, and keeps what is shown for when this page is opened again. */
  record() {
    const figure = written(this.inputs, this.openingInputs(this.step));
    const query = {
      ...(this.step && { story: String(this.step) }),
      ...(figure && { figure }),
      ...(this.isPresented && { present: "yes" }),
    };
    this.link.record(query, { story: this.step, figure });
    const { ask, name } = this.props.steps[this.step];
    if (!ask) recordSeen(this.props.page, name);
    this.draw();
  }

  /** The inputs in which a step opens. @param {number} step */
  openingInputs(step) {
    return { ...this.props.inputs, ...this.props.steps[step].inputs };
  }

  /** The inputs at a step: the reader's, but those that some step sets are as this one opens. @param {number} step */
  inputsOf(step) {
    if (step === this.step) return this.inputs;
    const names = this.props.steps.flatMap(({ inputs }) => Object.keys(inputs));
    const opening = this.openingInputs(step);
    return { ...this.inputs, ...Object.fromEntries(names.map((name) => [name, opening[name]])) };
  }

  /** Whether a step's question waits for an answer. @param {number} [step] */
  isWaiting(step = this.step) {
    const { ask, name } = this.props.steps[step];
    return Boolean(ask) && !this.answered.includes(name) && !this.isPaper;
  }

  /** The step after or before this one: of its own line, the main one or that which goes deeper; -1 if there is none. @param {number} by */
  neighbour(by) {
    const { steps } = this.props;
    const line = steps.flatMap(({ deeper }, i) => (deeper === steps[this.step].deeper ? [i] : []));
    return line[line.indexOf(this.step) + by] ?? -1;
  }

  /** The next lesson of the reader's way. */
  nextLesson() {
    const way = wayOf(this.props, progress().door);
    return way[way.findIndex(({ name }) => name === this.props.page) + 1];
  }

  /** What the figure shows at a step. @type {(step?: number) => Moment} */
  moment(step = this.step) {
    const { steps } = this.props;
    const reached = (/** @type {string} */ name) => steps.findIndex((each) => each.name === name) <= step;
    return { step: steps[step].name, board: steps[step].board, reached, inputs: this.inputsOf(step) };
  }

  /** Where a state's numbers are. @param {Moment} moment */
  pathOf(moment) {
    const asks = this.figure?.asks?.(moment);
    /** @type {any} */
    const inputs = { ...moment.inputs, ...asks, ...(moment.board && { board: moment.step }) };
    return `${location.origin}/api/figure/${this.props.page}?${queryOf(inputs)}`;
  }

  /** The numbers of a step in its own state; of the step shown those before the last change, until new ones come. @param {number} [step] */
  numbersOf(step) {
    if (!this.figure) return null;
    const moment = this.moment(step);
    const answer = this.numbers.get(this.pathOf(moment));
    return answer ?? (this.latest?.step === moment.step ? this.latest.numbers : null);
  }

  /** Asks for the numbers of what is shown. */
  ask() {
    if (!this.figure) return;
    this.numbers.want(this.pathOf(this.moment()));
    const numbers = this.numbersOf();
    if (numbers) this.latest = { numbers, step: this.moment().step };
  }

  arrived() {
    this.draw();
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.lookAhead(), AHEAD_MS);
  }

  /** Fetches the other steps, the nearest first. */
  lookAhead() {
    const far = (/** @type {number} */ step) => Math.abs(step - this.step - 0.5);
    const steps = this.props.steps.map((_, step) => step).sort((a, b) => far(a) - far(b));
    this.numbers.expect(steps.map((step) => this.pathOf(this.moment(step))));
  }

  /** @type {(patch: Patch, dragged?: boolean) => void} nothing moves by itself while something is dragged */
  patch(patch, dragged = false) {
    this.dragging = dragged;
    this.set({ ...this.inputs, ...patch });
  }

  /** @param {Inputs} inputs */
  set(inputs) {
    this.inputs = inputs;
    this.refusal = "";
    this.record();
  }

  /** Sets inputs; all others are as at the start. @param {Patch} inputs */
  tryOut(inputs) {
    this.set({ ...this.props.inputs, ...inputs });
  }

  reset() {
    this.set(this.openingInputs(this.step));
  }

  /** Says why a number that was typed is not taken. @param {string} reason */
  refuse(reason) {
    this.refusal = reason;
    this.draw();
  }

  /** Goes to a step, with the inputs that steps set as it opens. @param {number} step */
  show(step) {
    if (step < 0 || step === this.step) return;
    [this.inputs, this.step] = [this.inputsOf(step), step];
    this.refusal = "";
    this.record();
  }

  /** Shows what a question kept back; a choice counts as an answer, a look at the result does not. @param {boolean} [chosen] */
  answer(chosen = false) {
    const { page, steps } = this.props;
    const { name } = steps[this.step];
    recordAnswer(page, name);
    if (chosen) recordSeen(page, name);
    this.answered = [...this.answered, name];
    this.draw();
  }

  /** @param {boolean} on */
  present(on) {
    this.isPresented = on;
    this.record();
  }

  colours() {
    return this.props.theme[this.isPaper ? "light" : modeOf(this.root)];
  }

  /** The part that is drawn of numbers, and what it says. @type {(numbers: any, step?: number) => any} */
  partOf(numbers, step = this.step) {
    const moment = this.moment(step);
    const { board, nearest } = numbers;
    const near = nearest ? { ...moment, inputs: { ...moment.inputs, ...nearest } } : moment; // what is stored
    const part = board ? boardPart(board) : /** @type {Figure} */ (this.figure).picture(numbers, near);
    const said = plainText(this.props.steps[step].said, numbers);
    return { part, said: [said, described(part.tables ?? [])].filter(Boolean).join(" ") };
  }

  /** The marks of the picture, how high it is, and what it says: of a question that waits, what the step before says already. @param {any} numbers */
  drawn(numbers) {
    const ink = inkOf(this.colours());
    const { part, said } = this.partOf(numbers);
    const marks = fitted(part, ink);
    const high = highOf(part);
    if (!this.isWaiting()) return { marks, said, high };
    const earlier = this.step ? this.numbersOf(this.step - 1) : null;
    /** @type {Mark[]} */
    const before = earlier ? fitted(this.partOf(earlier, this.step - 1).part, ink) : [];
    return { marks: veiled(marks, before, ink), said: "The figure waits for your answer.", high };
  }

  /** @param {import("../core/drawing_file.js").Format} format */
  save(format) {
    const numbers = this.numbersOf();
    if (!numbers) return;
    const { title, theme, page, steps } = this.props;
    const { name, title: about } = steps[this.step];
    const { part, said } = this.partOf(numbers);
    const svg = fileOf(fitted(part, inkOf(theme.light)), `${title}: ${about}`, said, theme.light);
    saveDrawing(svg, SIZE, `headscope-${page}-${name}`, format);
  }

  destroy() {
    clearTimeout(this.quiet);
    this.link.destroy();
    this.numbers.destroy();
  }
}
