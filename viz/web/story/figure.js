// The figure beside the text: its picture, what it is computed from, its controls and its numbers.

import { html } from "../core/html.js";
import { useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { fixed } from "../scene/numbers.js";
import { SIZE } from "../scene/layout.js";
import { Scene } from "../scene/scene.js";
import { Controls } from "./controls.js";
import { written } from "./inputs.js";
import { Prose } from "./prose.js";

/** @import {ProsePart} from "../types" */
/** @import {Story} from "./state.js" */

const DIGITS = 4;
const [LEGIBLE, PRESENTED] = [10, 20]; // pixels of text on a phone, and of text that is presented

/** @param {{story: Story, isNarrow: boolean}} props */
export function FigurePane({ story, isNarrow }) {
  const { props, refusal, figure, isPresented } = story;
  const numbers = story.numbersOf();
  const isWaiting = story.isWaiting();
  const { controls } = props.steps[story.step];
  const { failure } = story.numbers;
  return html`<div class="story-figure" role="group" aria-label=${props.title}>
    <div class="story-tools">
      <span class="story-name">${props.title}</span>
      ${isWaiting && html`<span class="story-waits">waits for your answer</span>`}
      ${
        written(story.inputs, story.openingInputs(story.step)) &&
        html`<${Button} text="Reset" label="The figure as it was at first" press=${() => story.reset()} />`
      }
      <div class="hs-switch story-save" role="group" aria-label="Save">
        <${Button} text="SVG" label="Save this figure as an SVG file" press=${() => story.save("svg")} />
        <${Button} text="PNG" label="Save this figure as a PNG file" press=${() => story.save("png")} />
      </div>
      <${Button} text="Present" label="The figure alone, large, with a caption (P)" press=${() => story.present(true)} />
    </div>
    <${Picture} ...${{ story, numbers, isNarrow }} />
    ${isPresented && html`<${Caption} ...${{ story, numbers, isWaiting }} />`}
    <p class="story-computed"><${Computed} ...${{ story, numbers, controls }} /></p>
    <p class="story-problem" role="alert" hidden=${!refusal && !failure}>
      ${refusal || failure} ${
        failure &&
        html`<${Button} text="Try again" label="Request the numbers again" press=${() => story.numbers.retry()} />`
      }
    </p>
    ${!isWaiting && html`<${Controls} ...${{ story, controls }} />`}
    ${figure && numbers && !isWaiting && html`<${Tables} ...${{ story, numbers }} />`}
  </div>`;
}

/** The picture, which stays, dimmed, until the numbers of another step come. */
function Picture({ story, numbers, isNarrow }) {
  const { root, dragging, isPresented } = story;
  const latest = useRef({ marks: [], said: "", high: SIZE[1] });
  if (numbers) latest.current = story.drawn(numbers);
  const isFirst = root.dataset.ready === undefined;
  useLayoutEffect(() => {
    if (numbers) Object.assign(root.dataset, { step: story.moment().step, ready: "" });
  });
  const { marks, said, high } = latest.current;
  const look = {
    ...{ marks, said, high: isPresented ? high : SIZE[1], isStill: dragging || isFirst },
    least: isPresented ? PRESENTED : isNarrow ? LEGIBLE : 0,
  };
  const act = {
    patch: (patch, dragged) => story.patch(patch, dragged),
    refuse: (reason) => story.refuse(reason),
  };
  const isTurning = !numbers || story.numbers.seconds > 0;
  return html`<div class=${isTurning ? "story-picture story-turning" : "story-picture"}><${Scene} ...${{ ...look, ...act }} /></div>`;
}

/** What is said of a presented figure: its step's title, and its question or first sentence. */
function Caption({ story, numbers, isWaiting }) {
  const { title, ask, prose } = story.props.steps[story.step];
  const parts = isWaiting && ask ? ask.text : firstSentence(prose[0]);
  return html`<div class="story-caption"><b>${title}</b><p><${Prose} ...${{ parts, numbers }} /></p></div>`;
}

/** @type {(parts: ProsePart[]) => ProsePart[]} */
function firstSentence(parts) {
  const at = parts.findIndex((part) => typeof part === "string" && /[.:!?]( |$)/.test(part));
  if (at < 0) return parts;
  const [ending] = /** @type {string} */ (parts[at]).split(/(?<=[.:!?]) /);
  return [...parts.slice(0, at), ending.replace(/:$/, ".")];
}

const Button = ({ text, label, press, disabled = false }) =>
  html`<button type="button" class="hs-button" title=${label} aria-label=${label} disabled=${disabled} onClick=${press}>${text}</button>`;

/** What the numbers are computed from, or for how long they have been; a link to the model behind them. */
function Computed({ story, numbers, controls }) {
  const { seconds } = story.numbers;
  if (seconds) return `Still computing: ${seconds} s`;
  const step = story.props.steps[story.step];
  const { computed, explore } = step.sizes ? {} : ((step.board ? numbers?.board : numbers) ?? {});
  const source = computed ?? step.computed;
  const stored = computed && numbers?.nearest ? `${namesOf(numbers.nearest, controls)} · ` : "";
  const address = explore && new URL(`./?${new URLSearchParams(explore.query)}`, location.href).href;
  return html`${stored}${source} ${explore && html`<a class="story-explore" href=${address}>${explore.label}</a>`}`;
}

/** Values by the labels of their controls: “Layer 3, head 4”. */
function namesOf(values, controls) {
  const names = Object.entries(values).map(([name, value]) => {
    const label = controls.find(({ input }) => input === name)?.label ?? name;
    return typeof value === "string" ? `“${value}”` : `${label.toLowerCase()} ${value}`;
  });
  const text = names.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The numbers behind the figure, folded away. */
function Tables({ story, numbers }) {
  const [isOpen, open] = useState(false);
  const toggled = (event) => open(event.target.open);
  return html`<details class="story-numbers" onToggle=${toggled}>
    <summary>Show numbers</summary>
    <div class="story-numbers-inner">${isOpen && (story.partOf(numbers).part.tables ?? []).map((each) => html`<${Table} ...${each} />`)}</div>
  </details>`;
}

function Table({ title, rows, cols, values }) {
  const cell = (value) =>
    value === null
      ? "masked"
      : typeof value === "string"
        ? value
        : fixed(value, Number.isInteger(value) ? 0 : DIGITS);
  return html`<table class="story-table">
    <caption>${title}</caption>
    ${cols.length > 0 && html`<tr><td></td>${cols.map((name) => html`<th scope="col">${name}</th>`)}</tr>`}
    ${values.map((row, i) => html`<tr><th scope="row">${rows[i] ?? ""}</th>${row.map((value) => html`<td>${cell(value)}</td>`)}</tr>`)}
  </table>`;
}
