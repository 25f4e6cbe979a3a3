// The figure beside the text: its picture, what it is computed from, its controls and its numbers.

import { Network } from "../build/build.js";
import { html } from "../core/html.js";
import { HttpSource } from "../core/sources.js";
import { Button, Switch } from "../parts/controls.js";
import { SIZE } from "../scene/layout.js";
import { fixed } from "../scene/marks.js";
import { Scene } from "../scene/scene.js";
import { useEffect, useMemo, useState } from "../vendor/hooks.js";
import { writtenCell } from "./board.js";
import { written } from "./inputs.js";
import { Prose } from "./prose.js";

/** @import {Story} from "./state.js" */

const DIGITS = 4;
const TYPE = 13; // pixels of text in a network
const [LEGIBLE, PRESENTED] = [10, 20]; // pixels of text on a phone, and of text that is presented

/** @param {{story: Story, isNarrow: boolean}} props */
export function FigurePane({ story, isNarrow }) {
  const { props, refusal, isPresented, failure } = story;
  const answer = story.at();
  const isWaiting = story.isWaiting();
  const { controls } = props.steps[story.step];
  const network = answer?.moment.board && !isWaiting && answer.numbers.board.network;
  return html`<div class="story-figure" role="group" aria-label=${props.title}>
    <div class="story-tools">
      <span class="story-name">${props.title}</span>
      ${isWaiting && html`<span class="story-waits">waits for your answer</span>`}
      ${
        written(story.inputs, story.openingInputs(story.step)) &&
        html`<${Button} text="Reset" title="The figure as it was at first" onClick=${() => story.set(story.openingInputs(story.step))} />`
      }
      ${
        !network &&
        html`<div class="hs-switch story-save" role="group" aria-label="Save">
          <${Button} text="SVG" title="Save this figure as an SVG file" onClick=${() => story.save("svg")} />
          <${Button} text="PNG" title="Save this figure as a PNG file" onClick=${() => story.save("png")} />
        </div>`
      }
      <${Button} text="Present" title="The figure alone, large, with a caption (P)" onClick=${() => story.present(true)} />
    </div>
    ${network ? html`<${Opened} ...${{ story, network }} />` : html`<${Picture} ...${{ story, isTurning: !answer || story.isLate, isNarrow }} />`}
    ${isPresented && html`<${Caption} ...${{ story, numbers: answer?.numbers, isWaiting }} />`}
    <p class="story-computed"><${Computed} ...${{ story, numbers: answer?.numbers }} /></p>
    <p class="story-problem" role="alert" hidden=${!refusal && !failure}>
      ${refusal || failure} ${
        failure &&
        html`<${Button} text="Try again" title="Request the numbers again" onClick=${() => story.retry()} />`
      }
    </p>
    ${!isWaiting && html`<${Controls} ...${{ story, controls }} />`}
    ${answer && !isWaiting && !network && html`<${Tables} ...${{ story, answer }} />`}
  </div>`;
}

/** A network, from one of its cards down to one multiplication; the text tells of the score that is opened. */
function Opened({ story, network: { trace, card, open } }) {
  const base = `${location.origin}/api/trace/${encodeURIComponent(trace)}/`;
  const source = useMemo(() => new HttpSource(base), [base]);
  const record = (/** @type {string} */ now) => {
    const [, query, key] = /^n:scores:(\d+):(\d+)$/.exec(now) ?? [];
    if (key && now !== open && "query" in story.inputs)
      story.patch({ query: Number(query), key: Number(key) });
  };
  const size = story.isPresented ? PRESENTED / TYPE : 1;
  const look = { root: story.root, source, base: card, asked: open, revision: open, size };
  return html`<div class="story-network"><${Network} ...${{ ...look, record, onGone: () => story.retry() }} /></div>`;
}

/** The picture, which stays, dimmed, until the numbers of another step come. */
function Picture({ story, isTurning, isNarrow }) {
  const { dragging, isPresented } = story;
  const { marks, said, high } = story.drawn();
  const look = {
    ...{ marks, said, high: isPresented ? high : SIZE[1], isStill: dragging },
    least: isPresented ? PRESENTED : isNarrow ? LEGIBLE : 0,
  };
  const act = {
    patch: (patch, dragged) => story.patch(patch, dragged),
    refuse: (reason) => story.refuse(reason),
  };
  return html`<div class=${isTurning ? "story-picture story-turning" : "story-picture"}><${Scene} ...${{ ...look, ...act }} /></div>`;
}

/** What is said of a presented figure: its step's title, and its question or first sentence. */
function Caption({ story, numbers, isWaiting }) {
  const { title, ask, prose } = story.props.steps[story.step];
  const parts = isWaiting && ask ? ask.text : firstSentence(prose[0]);
  return html`<div class="story-caption"><b>${title}</b><p><${Prose} ...${{ parts, numbers }} /></p></div>`;
}

function firstSentence(parts) {
  const at = parts.findIndex((part) => typeof part === "string" && /[.:!?]( |$)/.test(part));
  if (at < 0) return parts;
  const [ending] = /** @type {string} */ (parts[at]).split(/(?<=[.:!?]) /);
  return [...parts.slice(0, at), ending.replace(/:$/, ".")];
}

/** What the numbers are computed from; a link to the model behind them. */
function Computed({ story, numbers }) {
  if (story.isLate) return "Still computing …";
  const step = story.props.steps[story.step];
  const { computed, explore } = step.own ? {} : ((step.board ? numbers?.board : numbers) ?? {});
  const address = explore && new URL(`./?${new URLSearchParams(explore.query)}`, location.href).href;
  return html`${computed ?? step.computed} ${explore && html`<a class="story-explore" href=${address}>${explore.label}</a>`}`;
}

/** The numbers behind the figure, folded away. */
function Tables({ story, answer }) {
  const [isOpen, open] = useState(false);
  const toggled = (event) => open(event.target.open);
  return html`<details class="story-numbers" onToggle=${toggled}>
    <summary>Show numbers</summary>
    <div class="story-numbers-inner">${isOpen && (story.partOf(answer).part.tables ?? []).map((each) => html`<${Table} ...${each} />`)}</div>
  </details>`;
}

const Table = ({ title, rows, cols, values }) => html`<table class="story-table">
  <caption>${title}</caption>
  ${cols.length > 0 && html`<tr><td></td>${cols.map((name) => html`<th scope="col">${name}</th>`)}</tr>`}
  ${values.map((row, i) => html`<tr><th scope="row">${rows[i] ?? ""}</th>${row.map((value) => html`<td>${writtenCell(value, DIGITS)}</td>`)}</tr>`)}
</table>`;

const ENDS = 200; // positions of a slider with a logarithmic scale, at most
const PLAY_MS = 900; // long enough to see what a step changes

const decimals = (step) => (String(step).split(".")[1] ?? "").length;

/** The values of a slider in ascending order, each once. @type {(control: {min: number, max: number, step: number, log: boolean}) => number[]} */
export function valuesOf({ min, max, step, log }) {
  const count = log ? ENDS : Math.round((max - min) / step);
  const at = (i) => (log ? min * (max / min) ** (i / count) : min + i * step);
  return [...new Set(Array.from({ length: count + 1 }, (_, i) => Number(at(i).toFixed(decimals(step)))))];
}

/** Controls below the picture. */
function Controls({ story, controls }) {
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
