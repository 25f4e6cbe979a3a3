// The text of a step, some with a question that comes before the answer.

import { html } from "../core/html.js";
import { useState } from "../vendor/hooks.js";
import { Prose } from "./prose.js";

/** @import {StoryStep} from "../types" */
/** @import {Story} from "./state.js" */

/** @param {{story: Story, step: StoryStep, at: number}} props */
export function Step({ story, step, at }) {
  const numbers = story.numbersOf(at);
  const { other } = step;
  const { prose, tries } = other && story.inputsOf(at).network === other.network ? other : step;
  return html`<section class=${`story-step ${at === story.step ? "current" : ""}`} id=${`step-${step.name}`}>
    <h5 class="story-title"><small>${at + 1}</small> ${step.title}</h5>
    ${step.ask && html`<${Question} ask=${step.ask} ...${{ story, at, numbers }} />`}
    <div class="story-told" hidden=${story.isWaiting(at)}>
      ${step.formulas.map((parts) => html`<p class="story-formula"><${Prose} ...${{ parts, numbers }} /></p>`)}
      ${prose.map((parts) => html`<p><${Prose} ...${{ parts, numbers }} /></p>`)}
      ${step.code.length > 0 && html`<${Code} ...${{ lines: step.code, numbers }} />`}
      ${
        tries.length > 0 &&
        html`<div class="story-tries" role="group" aria-label="Try this">
          ${tries.map(({ label, inputs }) => html`<button type="button" class="hs-button" onClick=${() => story.tryOut(inputs)}>${label}</button>`)}
        </div>`
      }
    </div>
  </section>`;
}

const Code = ({ lines, numbers }) =>
  html`<pre class="story-code" tabindex="0">${lines.map((parts, i) => html`${i ? "\n" : ""}<${Prose} ...${{ parts, numbers }} />`)}</pre>`;

/** A question, with a reply to each answer. */
function Question({ story, at, ask, numbers }) {
  const [chosen, choose] = useState(-1);
  const answer = (/** @type {number} */ i) => {
    choose(i);
    if (story.isWaiting(at)) story.answer(at);
  };
  const reply = ask.options[chosen];
  return html`<div class="story-ask">
    <p><b>Predict first. </b><${Prose} parts=${ask.text} numbers=${numbers} /></p>
    <div class="story-options">
      ${ask.options.map((option, i) => html`<button type="button" class="hs-button" aria-pressed=${String(i === chosen)} onClick=${() => answer(i)}>${option.text}</button>`)}
      ${story.isWaiting(at) && html`<button type="button" class="story-show" onClick=${() => story.answer(at)}>Just show me</button>`}
    </div>
    <p class="story-feedback" aria-live="polite">
      ${reply && html`<b>${reply.right ? "Right. " : "Not quite. "}</b><${Prose} parts=${reply.feedback} numbers=${numbers} />`}
    </p>
  </div>`;
}
