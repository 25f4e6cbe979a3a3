// The state of a story: the step that is read, the inputs of its figure, and the numbers that the server computes
// for them.

import { Cache } from "../core/cache.js";
import { Client } from "../core/client.js";
import { modeOf } from "../core/colours.js";
import { saveDrawing } from "../core/dom.js";
import { PageLink } from "../core/link.js";
import { HttpSource, jsonOf } from "../core/sources.js";
import { extentOfPart, fitted, SIZE } from "../scene/layout.js";
import { fileOf } from "../scene/scene.js";
import { inkOf } from "../scene/marks.js";
import { boardPart, described } from "./board.js";
import { queryOf, read, written } from "./inputs.js";
import { answeredSteps, progress, recordAnswer, recordSeen, wayOf } from "./course.js";
import { plainText } from "./prose.js";

/** @import {Figure, Inputs, Moment, Patch, StoryProps} from "../types" */

const WAITS = "The figure waits for your answer.";
const KEPT = 16 << 20; // bytes of answers
const LATE_MS = 1000;
const SLOT = "numbers"; // of the client

/** @typedef {{numbers: any, moment: Moment}} Answer numbers, and what they are drawn for */

export class Story {
  /** @param {HTMLElement} root @param {StoryProps} props @param {() => void} draw */
  constructor(root, props, draw) {
    this.root = root;
    this.props = props;
    this.draw = draw;
    this.link = new PageLink(root);
    this.step = 0;
    this.inputs = props.inputs;
    this.answered = answeredSteps(props.page);
    /** @type {Figure | null} */
    this.figure = null;
    /** @type {Answer | null} */
    this.shown = null; // the newest numbers of what was asked for
    this.isPresented = false;
    this.isPaper = false;
    this.dragging = false;
    this.refusal = "";
    /** @type {Cache<any>} numbers, by path: a step that is there already is shown within a frame */
    this.kept = new Cache(KEPT);
    this.client = this.connected();
  }

  connected() {
    const source = new HttpSource(`${location.origin}/api/figure/`);
    const received = (/** @type {string} */ path, /** @type {Uint8Array} */ bytes) => {
      this.kept.set(path, jsonOf(bytes), bytes.length);
      this.arrived();
    };
    const changed = () => {
      const opening = this.pathOf({ ...this.moment(), inputs: this.openingInputs(this.step) });
      if (this.failure && !this.kept.has(opening)) this.client.want("opening", opening);
      this.draw();
    };
    return new Client(source, { received, changed, gone: changed });
  }

  /** @param {StoryProps} props */
  update(props) {
    this.props = props;
    const opened = this.link.update({ ...props, page: `${props.page}/story` });
    if (opened) {
      const start = opened.selection;
      this.step = Math.max(
        0,
        props.steps.findIndex(({ name }) => name === start.story),
      );
      this.inputs = read(String(start.figure ?? ""), this.openingInputs(this.step));
      this.isPresented = start.present === "yes";
    }
    this.record();
  }

  /** The figure's module is here: so are the numbers that came with the page. @param {Figure} figure */
  begin(figure) {
    this.figure = figure;
    const first = { ...this.moment(0), inputs: this.openingInputs(0) };
    if (this.props.answer) this.kept.set(this.pathOf(first), this.props.answer, 0);
    this.draw();
  }

  /** Writes the link, and keeps what is shown for when this page is opened again. */
  record() {
    const figure = written(this.inputs, this.openingInputs(this.step));
    const { ask, name } = this.props.steps[this.step];
    const query = {
      ...(this.step && { story: name }),
      ...(figure && { figure }),
      ...(this.isPresented && { present: "yes" }),
    };
    this.link.record(query, { story: name, figure });
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

  /** Whether a step's question waits for an answer. */
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

  /** What the figure shows at a step. @returns {Moment} */
  moment(step = this.step) {
    const { steps } = this.props;
    const reached = (/** @type {string} */ name) => steps.findIndex((each) => each.name === name) <= step;
    return { step: steps[step].name, board: steps[step].board, reached, inputs: this.inputsOf(step) };
  }

  /** Where a state's numbers are. @param {Moment} moment */
  pathOf(moment) {
    const inputs = { ...moment.inputs, ...(moment.board && { board: moment.step }) };
    return `${this.props.page}?${queryOf(inputs)}`;
  }

  /**
   * The numbers of a step, and what they are drawn for: of the step that is read those before the last change until new
   * ones come, and those with which it opens where there are none. @returns {Answer | null}
   */
  at(step = this.step) {
    const moment = this.moment(step);
    const opening = { ...moment, inputs: this.openingInputs(step) };
    const states = this.failure ? [moment, opening] : [moment];
    const known = this.figure && states.find((each) => this.kept.has(this.pathOf(each)));
    if (this.shown?.moment.step === moment.step && known !== moment) return this.shown;
    return known ? { numbers: this.kept.get(this.pathOf(known)), moment: known } : null;
  }

  /** Asks for the numbers of what is read; while others are on their way, once these are here. */
  ask() {
    const path = this.pathOf(this.moment());
    if (this.kept.has(path)) this.client.want(SLOT, null);
    else if (this.figure && this.client.state(SLOT) !== "pending") this.client.want(SLOT, path);
    clearTimeout(this.clock);
    const age = this.client.age(SLOT) ?? Infinity;
    if (age < LATE_MS) this.clock = setTimeout(() => this.draw(), LATE_MS - age);
    this.shown = this.at() ?? this.shown;
  }

  /** Why the numbers of what is read are not here; "" while they may come. */
  get failure() {
    const isOver = ["absent", "failed", "gone"].includes(this.client.state(SLOT));
    return isOver ? this.client.reason(SLOT) || "The server does not answer." : "";
  }

  /** Whether the numbers of what is read take long. */
  get isLate() {
    return (this.client.age(SLOT) ?? 0) >= LATE_MS;
  }

  /** Asks again. */
  retry() {
    this.kept.delete(this.pathOf(this.moment()));
    this.client.destroy();
    this.client = this.connected();
    this.draw();
  }

  /** Numbers are here: those of the other steps are fetched, the nearest first. */
  arrived() {
    this.draw();
    const far = (/** @type {number} */ step) => Math.abs(step - this.step - 0.5);
    const steps = this.props.steps.map((_, step) => step).sort((a, b) => far(a) - far(b));
    const paths = steps.map((step) => this.pathOf(this.moment(step)));
    this.client.prefetch(
      paths.filter((path) => !this.kept.has(path)),
      0,
    );
  }

  /** Changes inputs; nothing moves by itself while something is dragged. @type {(patch: Patch, dragged?: boolean) => void} */
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

  /** Says why a number that was typed is not taken. @param {string} reason */
  refuse(reason) {
    this.refusal = reason;
    this.draw();
  }

  /** Goes to a step, with the inputs that steps set as it opens. @param {number} step */
  show(step) {
    if (step < 0 || step === this.step) return;
    const inputs = this.inputsOf(step);
    this.step = step;
    this.set(inputs);
  }

  /** Shows what a question kept back; a choice counts as an answer, a look at the result does not. */
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

  /** The part that is drawn of numbers, and what it says. @param {Answer} answer */
  partOf({ numbers, moment }) {
    const part = moment.board
      ? boardPart(numbers.board)
      : /** @type {Figure} */ (this.figure).picture(numbers, moment);
    const step = this.props.steps.find(({ name }) => name === moment.step);
    const said = [plainText(step?.said ?? [], numbers), described(part.tables ?? [])];
    return { part, said: said.filter(Boolean).join(" ") };
  }

  /** The marks of the picture, how high it is, and what it says; while a question waits, those of the step before. */
  drawn() {
    const isWaiting = this.isWaiting();
    const answer = isWaiting ? this.step > 0 && this.at(this.step - 1) : this.shown;
    if (!answer) return { marks: [], said: isWaiting ? WAITS : "", high: SIZE[1] };
    const { part, said } = this.partOf(answer);
    const marks = fitted(part, inkOf(this.colours()));
    return { marks, said: isWaiting ? `${WAITS} Before it: ${said}` : said, high: extentOfPart(part).high };
  }

  /** @param {import("../core/dom.js").Format} format */
  save(format) {
    const answer = this.at();
    if (!answer) return;
    const { title, theme, page, steps } = this.props;
    const { name, title: about } = steps[this.step];
    const { part, said } = this.partOf(answer);
    const svg = fileOf(fitted(part, inkOf(theme.light)), `${title}: ${about}`, said, theme.light);
    saveDrawing(svg, SIZE, `headscope-${page}-${name}`, format);
  }

  destroy() {
    this.link.destroy();
    clearTimeout(this.clock);
    this.client.destroy();
  }
}
