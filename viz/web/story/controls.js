// The controls below a figure.

import { element, setText } from "../core/dom.js";
import { fixed } from "../scene/numbers.js";
import { playing } from "./playing.js";

/** @import {FigureControl, Inputs, Patch} from "../types" */

const ENDS = 1000; // positions of a slider with a logarithmic scale
const MOST_AHEAD = 24; // values of a control that are fetched before they are chosen

/**
 * @param {(patch: Patch) => void} change
 * @param {(control: FigureControl) => void} touched by a pointer or by the focus: it may be changed next
 */
export function controlsOf(change, touched) {
  const [above, box] = [element("div", "story-controls"), element("div", "story-controls")];
  /** @type {{control: FigureControl, row: HTMLElement, update: (inputs: Inputs) => void}[]} */
  let rows = [];

  const placeOf = (control) => (control.above ? above : box);

  let latest = "";

  function show(controls) {
    if (latest === (latest = JSON.stringify(controls))) return;
    rows = controls.map((control) => {
      const widget = CONTROLS[control.kind](/** @type {any} */ (control), change);
      for (const name of ["pointerenter", "focusin"]) widget.row.addEventListener(name, () => touched(control));
      return { control, ...widget };
    });
    for (const place of [above, box]) place.replaceChildren(...rows.filter(({ control }) => placeOf(control) === place).map(({ row }) => row));
  }

  function update({ inputs, reached, step, board }) {
    for (const { control, row, update: write } of rows) {
      const { from, until, on, network } = control;
      const within = !board && (from === undefined || reached(from)) && (until === undefined || !reached(until));
      const chosen = network === undefined || inputs.network === network;
      row.hidden = !chosen || (on ? !on.includes(step) : !within);
      write(inputs);
    }
    for (const place of [above, box]) place.hidden = rows.every(({ control, row }) => row.hidden || placeOf(control) !== place);
  }

  return { above, box, show, update };
}

/**
 * The other values of a control that has few, the nearest first; none for a text or a fine scale.
 *
 * @param {FigureControl} control
 * @param {Inputs[string]} now
 * @returns {Inputs[string][]}
 */
export function valuesAhead(control, now) {
  /** @type {(value: Inputs[string]) => number} */
  const far = (value) => (typeof value === "number" && typeof now === "number" ? Math.abs(value - now) : 0);
  /** @type {Inputs[string][]} */
  let values = [];
  if (control.kind === "choice") values = control.options.map(([value]) => (typeof now === "number" ? Number(value) : value));
  else if (control.kind === "slider" && !control.log) {
    const { min, max, step } = control;
    values = Array.from({ length: Math.round((max - min) / step) + 1 }, (_, i) => Number((min + i * step).toFixed(decimals(step))));
  }
  return values.filter((value) => value !== now).sort((a, b) => far(a) - far(b)).slice(0, MOST_AHEAD);
}

const decimals = (step) => (String(step).split(".")[1] ?? "").length;

/** @type {Record<string, number>} */
const BY_KEY = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/**
 * The nearest position of a logarithmic slider whose rounded value differs: one press of a key always changes it.
 *
 * @param {number} from
 * @param {number} by 1 or −1
 * @param {(at: number) => number} valueOf
 */
export function nextPosition(from, by, valueOf) {
  let at = from;
  while (at + by >= 0 && at + by <= ENDS && valueOf(at) === valueOf(from)) at += by;
  return at;
}

const CONTROLS = { slider, choice, text };

function slider(control, change) {
  const { input, label, min, max, step, log, plays } = control;
  const digits = decimals(step);
  const range = element("input", "story-range", { type: "range", "aria-label": label });
  const [low, high, size] = log ? [0, ENDS, 1] : [min, max, step];
  Object.assign(range, { min: String(low), max: String(high), step: String(size) });
  const number = element("output", "story-amount");
  const row = element(plays ? "div" : "label", "story-control", {}, element("span", "", {}, label), range, number);
  const valueOf = (/** @type {number} */ at) => (log ? Number((min * (max / min) ** (at / ENDS)).toFixed(digits)) : at);
  let now = min;
  const stop = plays ? addPlay() : () => {};
  range.addEventListener("input", () => {
    stop();
    change({ [input]: valueOf(Number(range.value)) });
  });

  function addPlay() {
    const button = element("button", "hs-button", { type: "button" });
    const changed = (/** @type {boolean} */ on) => {
      setText(button, on ? "❚❚ Pause" : "▶ Play");
      button.setAttribute("aria-label", `${on ? "Pause" : "Play"}: ${label}`);
    };
    const player = playing({
      ...{ min, max, step, changed, value: () => now, inSight: () => row.isConnected && !row.hidden },
      move: (value) => change({ [input]: value }),
    });
    changed(false);
    button.addEventListener("click", player.toggle);
    row.append(button);
    return player.stop;
  }
  if (log)
    range.addEventListener("keydown", (event) => {
      const by = BY_KEY[event.key];
      if (!by) return;
      event.preventDefault();
      const at = nextPosition(Number(range.value), by, valueOf);
      range.value = String(at);
      change({ [input]: valueOf(at) });
    });
  return {
    row,
    /** @param {Inputs} inputs */
    update(inputs) {
      const value = (now = Number(inputs[input]));
      const at = log ? (ENDS * Math.log(value / min)) / Math.log(max / min) : value;
      if (valueOf(Number(range.value)) !== value) range.value = String(at);
      setText(number, fixed(value, digits));
      range.setAttribute("aria-valuetext", fixed(value, digits));
    },
  };
}

function choice({ input, label, options }, change) {
  const buttons = options.map(([value, title]) => {
    const node = element("button", "hs-button", { type: "button" }, title);
    node.addEventListener("click", () => change({ [input]: typeof now === "number" ? Number(value) : value }));
    return node;
  });
  /** @type {Inputs[string]} */
  let now = "";
  const row = element("div", "story-control", { role: "group", "aria-label": label }, element("span", "", {}, label), element("div", "hs-switch", {}, ...buttons));
  return {
    row,
    /** @param {Inputs} inputs */
    update(inputs) {
      now = inputs[input];
      buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(String(now) === options[i][0])));
    },
  };
}

function text({ input, label, longest }, change) {
  const field = element("input", "story-field", { type: "text", maxlength: String(longest), spellcheck: "false" });
  field.addEventListener("input", () => change({ [input]: field.value }));
  const row = element("label", "story-control", {}, element("span", "", {}, label), field);
  return {
    row,
    /** @param {Inputs} inputs */
    update(inputs) {
      const value = String(inputs[input]);
      if (field.value !== value) field.value = value;
    },
  };
}
