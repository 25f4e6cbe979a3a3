// The figure beside the text: its picture, what it is computed from, its controls and its numbers.

import { html } from "../core/html.js";
import { useState } from "../vendor/hooks.js";
import { fixed } from "../scene/numbers.js";
import { boardPart } from "./board.js";
import { Controls } from "./controls.js";
import { written } from "./inputs.js";
import { Picture } from "./picture.js";

/** @import {FigureControl, FigureTable} from "../types" */
/** @import {Story} from "./state.js" */

const DIGITS = 4;

/** @param {{story: Story, go: (step: number) => void, isNarrow: boolean}} props */
export function FigurePane({ story, go, isNarrow }) {
  const { step, props, refusal, figure } = story;
  const { steps, title } = props;
  const numbers = story.numbersOf();
  const controls = controlsOf(story);
  const { failure } = story.numbers;
  return html`<div class="story-figure" role="group" aria-label=${title}>
    <div class="story-bar">
      <${Button} text="←" label="The step before" disabled=${step === 0} press=${() => go(step - 1)} />
      <${Button} text="→" label="The next step" disabled=${step === steps.length - 1} press=${() => go(step + 1)} />
      <span class="story-place">${`Step ${step + 1} of ${steps.length}: ${steps[step].title}`}</span>
      ${
        written(story.inputs, story.openingInputs(story.opened)) &&
        html`<${Button} text="Reset" label="The figure as it was at first" press=${() => story.reset()} />`
      }
      <div class="hs-switch story-save" role="group" aria-label="Save">
        <${Button} text="Save SVG" label="Save this figure as an SVG file" press=${() => story.save("svg")} />
        <${Button} text="PNG" label="Save this figure as a PNG file" press=${() => story.save("png")} />
      </div>
    </div>
    <${Controls} story=${story} controls=${controls.filter(({ above }) => above)} />
    <${Picture} story=${story} isNarrow=${isNarrow} />
    <p class="story-computed"><${Computed} ...${{ story, numbers, controls }} /></p>
    <p class="story-problem" role="alert" hidden=${!refusal && !failure}>
      ${refusal || failure} ${
        failure &&
        html`<${Button} text="Try again" label="Request the numbers again" press=${() => story.numbers.retry()} />`
      }
    </p>
    <${Controls} story=${story} controls=${controls.filter(({ above }) => !above)} />
    ${figure && numbers && html`<${Tables} ...${{ story, numbers }} />`}
  </div>`;
}

const Button = ({ text, label, press, disabled = false }) =>
  html`<button type="button" class="hs-button" title=${label} aria-label=${label} disabled=${disabled} onClick=${press}>${text}</button>`;

/** @type {(story: Story) => FigureControl[]} */
const controlsOf = (story) => (story.figure?.controls?.(story.moment()) ?? []).flatMap((each) => each || []);

/** What the numbers are computed from, or for how long they have been; a link to the model behind them. */
function Computed({ story, numbers, controls }) {
  const { seconds } = story.numbers;
  if (seconds) return `Still computing: ${seconds} s`;
  const at = story.drawnStep(story.step);
  const step = story.props.steps[at];
  const { computed, explore } = step.sizes ? {} : ((step.board ? numbers?.board : numbers) ?? {});
  const isOther = step.other?.network === story.inputsOf(at).network;
  const source = computed ?? (isOther && step.other ? step.other : step).computed;
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
    <div class="story-numbers-inner">${isOpen && tablesOf(story, numbers).map((each) => html`<${Table} ...${each} />`)}</div>
  </details>`;
}

/** @type {(story: Story, numbers: any) => FigureTable[]} */
function tablesOf(story, numbers) {
  const { part } = story.partOf(numbers);
  const stored = boardPart({ rows: [numbers.tables ?? []] });
  return [...(part.tables ?? []), ...(stored.tables ?? [])];
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
