// The controls of a figure.

import { html } from "../core/html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { fixed } from "../scene/numbers.js";

/** @import {FigureControl, Inputs} from "../types" */
/** @import {Story} from "./state.js" */

const ENDS = 200; // positions of a slider with a logarithmic scale
const MOST_AHEAD = 24; // values of a control that are fetched before they are chosen
/** @type {Record<string, 1 | -1>} */
const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
const PLAY_MS = 900; // long enough to see what a step changes

const decimals = (step) => (String(step).split(".")[1] ?? "").length;

/**
 * The other values of a control that has few, the nearest first; none for a text or a fine scale.
 *
 * @param {FigureControl} control
 * @param {Inputs[string]} now
 * @returns {Inputs[string][]}
 */
export function valuesAhead(control, now) {
  const far = (value) => (typeof value === "number" && typeof now === "number" ? Math.abs(value - now) : 0);
  /** @type {Inputs[string][]} */
  let values = [];
  if (control.kind === "choice")
    values = control.options.map(([value]) => (typeof now === "number" ? Number(value) : value));
  else if (control.kind === "slider" && !control.log) {
    const { min, max, step } = control;
    const count = Math.round((max - min) / step) + 1;
    values = Array.from({ length: count }, (_, i) => Number((min + i * step).toFixed(decimals(step))));
  }
  return values
    .filter((value) => value !== now)
    .sort((a, b) => far(a) - far(b))
    .slice(0, MOST_AHEAD);
}

/**
 * The value at a place of a slider with a logarithmic scale.
 *
 * @param {{min: number, max: number, step: number}} control
 * @param {number} at
 */
const valueAt = ({ min, max, step }, at) =>
  Number((min * (max / min) ** (at / ENDS)).toFixed(decimals(step)));

const placeOf = ({ min, max }, now) => (ENDS * Math.log(now / min)) / Math.log(max / min);

/**
 * The value that a key leads to on such a slider: always another one, but at an end.
 *
 * @param {{min: number, max: number, step: number}} control
 * @param {number} now
 * @param {1 | -1} by
 */
export function stepped(control, now, by) {
  const next = valueAt(control, placeOf(control, now) + by);
  return Math.min(control.max, Math.max(control.min, next === now ? now + by * control.step : next));
}

/** Controls below the picture. @param {{story: Story, controls: FigureControl[]}} props */
export function Controls({ story, controls }) {
  if (!controls.length) return null;
  return html`<div class="story-controls">
    ${controls.map((control) => {
      const touched = () => story.expect(control);
      const { input } = control;
      const props = { control, now: story.inputs[input], change: (value) => story.patch({ [input]: value }) };
      return html`<div key=${`${control.kind}/${input}`} onPointerEnter=${touched} onFocusIn=${touched}><${KINDS[control.kind]} ...${props} /></div>`;
    })}
  </div>`;
}

const KINDS = { slider: Slider, choice: Choice, text: Field };

function Slider({ control, now, change }) {
  const { label, min, max, step, log, plays } = control;
  const digits = decimals(step);
  const [isPlaying, play] = useState(false);
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (now >= max) return play(false);
    const timer = setTimeout(() => change(Math.min(max, now + step)), PLAY_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, now]);
  const toggle = () => {
    play(!isPlaying);
    if (!isPlaying) change(now >= max ? min : Math.min(max, now + step)); // from the start where it is at its end
  };
  const input = (event) => {
    play(false);
    const at = Number(event.target.value);
    change(log ? valueAt(control, at) : at);
  };
  const press = (event) => {
    const by = KEYS[event.key];
    if (!log || !by) return;
    event.preventDefault();
    play(false);
    change(stepped(control, now, by));
  };
  const ends = log ? { min: 0, max: ENDS, step: 1 } : { min, max, step };
  return html`<label class="story-control">
    <span>${label}</span>
    <input class="story-range" type="range" aria-label=${label} aria-valuetext=${fixed(now, digits)} ...${ends} value=${log ? placeOf(control, now) : now} onInput=${input} onKeyDown=${press} />
    <output class="story-amount">${fixed(now, digits)}</output>
    ${plays && html`<button type="button" class="hs-button" aria-label=${`${isPlaying ? "Pause" : "Play"}: ${label}`} onClick=${toggle}>${isPlaying ? "❚❚ Pause" : "▶ Play"}</button>`}
  </label>`;
}

function Choice({ control: { label, options }, now, change }) {
  const choose = (value) => change(typeof now === "number" ? Number(value) : value);
  return html`<div class="story-control" role="group" aria-label=${label}>
    <span>${label}</span>
    <div class="hs-switch">
      ${options.map(([value, title]) => html`<button type="button" class="hs-button" aria-pressed=${String(String(now) === value)} onClick=${() => choose(value)}>${title}</button>`)}
    </div>
  </div>`;
}

function Field({ control: { label, longest }, now, change }) {
  return html`<label class="story-control">
    <span>${label}</span>
    <input class="story-field" type="text" maxlength=${longest} spellcheck=${false} value=${String(now)} onInput=${(event) => change(event.target.value)} />
  </label>`;
}
