// A decoder goes on with the text: how it draws tokens, and, where it wrote, each step with
// what every token in the cache receives from it.

import { colourOf, textOn } from "../core/colours.js";
import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { Button } from "../parts/controls.js";
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { percentOf, wordOf } from "./reading.js";

/** @import {Host} from "../types" */
/** @import {TextState} from "../text/state.js" */

const NAMED = 3; // tokens of the cache in the sentence
const FIELDS = [
  { key: "count", name: "Tokens", min: 1, max: 64, step: "1", value: 8 },
  { key: "temperature", name: "Temperature", min: 0, max: 100, step: "any", value: 0 },
  { key: "top_k", name: "Top-k", min: 0, max: 999_999, step: "1", value: 0 },
  { key: "top_p", name: "Top-p", min: 0.01, max: 1, step: "any", value: 1 },
  { key: "seed", name: "Seed", min: 0, max: 99_999, step: "1", value: 0 },
];
const USUAL = Object.fromEntries(FIELDS.map(({ key, value }) => [key, value]));
const ABOUT = "Temperature 0 takes the likeliest token each time; top-k 0 and top-p 1 keep all tokens.";

/** Goes on with the text by the likeliest words. @param {{state: TextState, host: Host}} props */
export function Continue({ state, host }) {
  const { write, reason } = useWriting(state, host, "written");
  if (!state.remote) return null;
  return html`
    <${Button} title="Let the model go on with the text" onClick=${() => write(USUAL)}>Continue →<//>
    <span class="hs-answer-note" role="status">${reason}</span>
  `;
}

/** Writes on when asked, tells the page, and goes back to the word after which it wrote. */
function useWriting(state, host, slot) {
  const { given } = state.props;
  const from = useRef(""); // the trace whose text the page goes on with
  const [asked, setAsked] = useState(/** @type {Record<string, number> | null} */ (null));
  const path = asked && pathOf("written", asked.temperature ? asked : { count: asked.count });
  const { answer, ...reply } = useAnswer(state, slot, path, "Writing");
  useEffect(() => {
    if (!answer || !asked) return;
    from.current = state.trace;
    const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    host.set("write", { id, text: answer.text, written: [...answer.written].length });
    if (!answer.note) setAsked(null);
  }, [answer]);
  useEffect(() => {
    if (!given || !from.current || from.current === state.trace) return;
    from.current = "";
    state.select({ ...placeOf(state, given - 1), direction: "out" });
  }, [state.trace, given]);
  return { write: setAsked, reason: answer?.note || reply.reason };
}

/** Goes on by chance: how tokens are drawn. */
export function Sampling({ state, host }) {
  const [how, setHow] = useState(USUAL);
  const { write, reason } = useWriting(state, host, "drawn");
  const read = ({ currentTarget }) => {
    const typed = [...new FormData(currentTarget)].map(([key, text]) => [
      key,
      text === "" ? USUAL[key] : Number(text),
    ]);
    setHow(Object.fromEntries(typed));
  };
  const submit = (event) => {
    event.preventDefault();
    write(how);
  };
  return html`
    <form class="hs-sampling" aria-label="Continue by chance" onInput=${read} onSubmit=${submit}>
      <h4 class="hs-heading">Continue by chance</h4>
      ${FIELDS.map(
        ({ key, name, ...range }) => html`
          <label class="hs-lab-row hs-apart">
            ${name}<input class="hs-select" type="number" name=${key} aria-label=${name} ...${range} />
          </label>
        `,
      )}
      <p class="hs-card-doubt">${ABOUT}</p>
      <button class="hs-button">Write</button>
      <p class="hs-doubt" role="status">${reason}</p>
    </form>
  `;
}

/** The steps, and what each wrote. */
export function Written({ state, given }) {
  const { answer, reason, step } = useSteps(state, given, "steps");
  if (!answer) return html`<p class="hs-sentence">${reason}</p>`;
  const { first, rows, probabilities } = answer;
  const walk = ({ currentTarget }) =>
    state.select({ ...placeOf(state, given - 1 + Number(currentTarget.value)), direction: "out" });
  const [before, wrote] = [first + step, first + step + 1].map((token) =>
    wordOf(state, "query", shownAt(state, token)),
  );
  return html`
    <input
      class="hs-writing-slider"
      type="range"
      min="0"
      max=${rows.length - 1}
      step="1"
      aria-label="Step"
      aria-valuetext=${`Step ${step + 1} of ${rows.length}`}
      value=${step}
      onInput=${walk}
    />
    <span class="hs-walk-text" aria-live="polite">
      ${`Step ${step + 1} of ${rows.length}: after ${before} it wrote ${wrote} (${percentOf(probabilities[step])}).`}
    </span>
  `;
}

/** What every token in the cache receives from the step. */
export function Cache({ state, theme, given }) {
  const { answer, step } = useSteps(state, given, "cache");
  const row = answer?.rows[step];
  const chips = useMemo(() => row?.map(chip), [answer, step, theme]);
  if (!row) return null;
  const most = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, NAMED);
  const words = most.map((key) => `${wordOf(state, "query", shownAt(state, key))} ${percentOf(row[key])}`);
  return html`
    <h4 class="hs-heading">${`The cache at step ${step + 1}`}</h4>
    <p class="hs-card-doubt">
      ${`The mean weight, over all heads, that each token receives from this step. Most: ${words.join(", ")}.`}
    </p>
    <div class="hs-chips hs-cache" role="group" aria-label="The cache: what each token receives">${chips}</div>
  `;

  function chip(share, key) {
    const ground = colourOf(theme, share, 1, false);
    const style = { background: `rgb(${ground.join()})`, color: textOn(ground, theme.text) };
    const name = legible(state.texts().query.labels[shownAt(state, key)] ?? "");
    return html`<span class="hs-chip" title=${`${name} (${key}): ${percentOf(share)}`} style=${style}>${name}</span>`;
  }
}

/** What the cache received from every step, and the step that is chosen. */
function useSteps(state, given, slot) {
  const path = pathOf("cache", { first: given - 1 });
  const { answer, ...reply } = useAnswer(state, slot, path, "Adding up what the cache receives");
  const { token } = state.selection;
  const chosen = (token === null ? given - 1 : tokenOf(state, token)) - given + 1;
  const step = Math.min(Math.max(0, chosen), (answer?.rows.length ?? 1) - 1);
  return { answer, reason: reply.reason, step };
}

const shownAt = (state, token) => placeOf(state, token).token ?? token;

/** Where the view shows a token of the pass. */
function placeOf(state, token) {
  const { origins } = state.texts().query;
  const place = origins ? origins.findIndex((tokens) => tokens.includes(token)) : token;
  return place < 0 ? {} : { token: place };
}

const tokenOf = (state, place) => state.texts().query.origins?.[place]?.at(-1) ?? place;
