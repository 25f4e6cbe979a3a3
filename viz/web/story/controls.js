// The controls of a figure.

import { html } from "../core/html.js";
import { Switch } from "../parts/controls.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { fixed } from "../scene/numbers.js";

/** @import {FigureControl} from "../types" */
/** @import {Story} from "./state.js" */

const ENDS = 200; // positions of a slider with a logarithmic scale, at most
const PLAY_MS = 900; // long enough to see what a step changes

const decimals = (step) => (String(step).split(".")[1] ?? "").length;

/** The values of a slider in ascending order, each once. @type {(control: {min: number, max: number, step: number, log: boolean}) => number[]} */
export function valuesOf({ min, max, step, log }) {
  const count = log ? ENDS : Math.round((max - min) / step);
  const at = (i) => (log ? min * (max / min) ** (i / count) : min + i * step);
  return [...new Set(Array.from({ length: count + 1 }, (_, i) => Number(at(i).toFixed(decimals(step)))))];
}

/** Controls below the picture. @param {{story: Story, controls: FigureControl[]}} props */
export function Controls({ story, controls }) {
  if (!controls.length) return null;
  return html`<div class="story-controls">
    ${controls.map((control) => {
      const { kind, input } = control;
      const props = { control, now: story.inputs[input], change: (value) => story.patch({ [input]: value }) };
      return html`<${KINDS[kind]} key=${`${kind}/${input}`} ...${props} />`;
    })}
  </div>`;
}

const KINDS = { slider: Slider, choice: Choice, text: Field };

/** A slider whose positions are those of its values. */
function Slider({ control, now, change }) {
  const { label, step, plays } = control;
  const values = valuesOf(control);
  const [last, said] = [values.length - 1, fixed(now, decimals(step))];
  const above = values.findIndex((value) => value >= now);
  const at = above < 0 ? last : above;
  const [isPlaying, play] = useState(false);
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (at === last) return play(false);
    const timer = setTimeout(() => change(values[at + 1]), PLAY_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, now]);
  const toggle = () => {
    play(!isPlaying);
    if (!isPlaying) change(values[at === last ? 0 : at + 1]); // from the start where it is at its end
  };
  const input = (event) => {
    play(false);
    change(values[Number(event.target.value)]);
  };
  return html`<label class="story-control">
    <span>${label}</span>
    <input class="story-range" type="range" aria-label=${label} aria-valuetext=${said} min="0" max=${last} step="1" value=${at} onInput=${input} />
    <output class="story-amount">${said}</output>
    ${plays && html`<button type="button" class="hs-button" aria-label=${`${isPlaying ? "Pause" : "Play"}: ${label}`} onClick=${toggle}>${isPlaying ? "❚❚ Pause" : "▶ Play"}</button>`}
  </label>`;
}

function Choice({ control: { label, options }, now, change }) {
  const choose = (value) => change(typeof now === "number" ? Number(value) : value);
  const choices = options.map(([value, title]) => ({ value, label: title, title }));
  return html`<div class="story-control">
    <span>${label}</span>
    <${Switch} ...${{ name: label, choices, chosen: String(now), onChoose: choose }} />
  </div>`;
}

function Field({ control: { label, longest }, now, change }) {
  return html`<label class="story-control">
    <span>${label}</span>
    <input class="story-field" type="text" maxlength=${longest} spellcheck=${false} value=${String(now)} onInput=${(event) => change(event.target.value)} />
  </label>`;
}
