// What is worth seeing on an input, up to three rows of heads; and the strip at the foot of the picture: the steps of the
// example’s tour, or a walk through those rows. After another head or word it leads back.

import { useAnswer } from "../core/hooks.js";
import { html } from "../core/html.js";
import { layerName } from "../core/labels.js";
import { siteFor } from "../core/selection.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { asksOf, headSwitch, isTyped } from "./switches.js";
import { percentOf } from "./reading.js";

/** @import {WorthRow} from "../types" */

/** @typedef {{actions: object[], chosen: object | null}} Step what is done, and what is chosen then; null: what was */

/** @param {{state: any, rows: WorthRow[] | null}} props */
export function Tour({ state, rows }) {
  const steps = state.props.tour ?? [];
  if (steps.length) return html`<${Steps} key=${steps[0].text} ...${{ state, steps }} />`;
  return html`<${Walk} ...${{ state, rows: rows ?? [] }} />`;
}

function Steps({ state, steps }) {
  const [at, setAt] = useState(0);
  const [reply, setReply] = useState("");
  const [backs, setBacks] = useState(/** @type {Step[]} */ ([])); // what takes each step back
  const [place, setPlace] = useState(() => placeOf(state, state.props.defaults)); // where the step leads
  const [due, setDue] = useState(/** @type {{from: string, chosen: object} | null} */ (null));
  const { site, head } = state.selection;
  const here = `${site}/${head}`;
  const { behind, trace } = state;
  useEffect(() => {
    if (!due || behind || trace === due.from) return;
    state.select(due.chosen); // of another text the word at the same place
    setPlace(`${state.selection.site}/${state.selection.head}`);
    setDue(null);
  }, [due, behind, trace]);
  const take = (/** @type {Step} */ { actions, chosen }, /** @type {number} */ next) => {
    for (const action of actions) act(state, action);
    if (chosen) state.select(chosen);
    const isText = actions.some((action) => "input" in action);
    setDue({ from: isText ? trace : "", chosen: chosen ?? chosenIn(state) });
    setPlace("");
    setReply("");
    setAt(next);
  };
  const go = () => {
    setBacks([...backs, backFrom(state, steps, at)]);
    take({ actions: steps[at].do ?? [], chosen: null }, Math.min(at + 1, steps.length - 1));
  };
  const goBack = () => {
    const back = backs.at(-1);
    if (!back) return;
    setBacks(backs.slice(0, -1));
    take(back, at - 1);
  };
  if (place && place !== here) {
    const [before, name] = place.split("/");
    const back = () =>
      state.select({ site: Number(before), head: isNaN(Number(name)) ? name : Number(name) });
    return html`<${Strip} ...${{ state, count: steps.length, at, text: "You chose another head.", button: "Back to the tour", onGo: back }} />`;
  }
  const { text, button, choices = [] } = steps[at];
  const isAsked = choices.length > 0 && !reply;
  const isLast = at + 1 >= steps.length;
  return html`
    <${Strip}
      ...${{ state, count: steps.length, at, text: reply || text, button: isAsked ? "" : (button ?? (isLast ? "" : "Next →")) }}
      onGo=${go}
      onBack=${goBack}
    >
      ${isAsked && choices.map((each) => html`<button type="button" class="hs-button" onClick=${() => setReply(each.reply)}>${each.text}</button>`)}
    <//>
  `;
}

/** What takes back what a step does. */
function backFrom(state, steps, at) {
  const typed = steps.slice(0, at).flatMap((step) => step.do ?? []);
  const input = typed.findLast((action) => "input" in action)?.input ?? steps[0].input;
  const actions = (steps[at].do ?? []).flatMap((action) => {
    if ("select" in action) return []; // what was chosen is chosen again
    return ["input" in action ? { input } : "off" in action ? { undo: true } : { redo: true }];
  });
  return { actions, chosen: chosenIn(state) };
}

const chosenIn = ({ selection: { site, head, token, direction, form } }) => ({
  ...{ site, head, token, direction, form },
});

/** The site and head that a link means; "" where it names none. */
const placeOf = (state, { layer, attention, tower, head }) =>
  layer === null
    ? ""
    : `${siteFor(state.base.sites, { layer, attention: attention ?? null, tower: tower || null })}/${head}`;

/** Does what a step says, or takes it back. */
function act(state, action) {
  if ("input" in action) state.ask?.({ do: "input", value: action.input });
  else if ("off" in action) headSwitch(state).isOff || asksOf(state).toggle();
  else if ("undo" in action || "redo" in action) state.ask?.({ do: "undo" in action ? "undo" : "redo" });
  else {
    const { layer, ...rest } = action.select;
    const { attention, tower } = state.chosen;
    const there = layer === undefined ? {} : { site: siteFor(state.base.sites, { layer, attention, tower }) };
    state.select({ ...rest, ...there });
  }
}

function Walk({ state, rows }) {
  if (!rows.length) return null;
  const at = rows.findIndex((row) => isChosen(state, row));
  const next = rows[(at + 1) % rows.length];
  const { words, weight } = rows[Math.max(0, at)];
  const text =
    at < 0
      ? "You chose this yourself."
      : `“${words.query}” gives ${percentOf(weight)} of its attention to “${words.key}”.`;
  const back = `Back to “${next.words.query} → ${next.words.key}”`;
  const button =
    at < 0 ? back : rows.length === 1 ? "" : at + 1 < rows.length ? "Next link →" : "First link →";
  return html`<${Strip} ...${{ state, count: rows.length, at, text, button, onGo: () => choose(state, next), onBack: () => choose(state, rows[Math.max(at - 1, 0)]) }} />`;
}

function Strip({ state, count, at, text, button, onGo, onBack, children = null }) {
  useArrows((state.props.type_size ?? 1) > 1, button ? onGo : null, onBack);
  return html`
  <span class="hs-steps-dots" aria-hidden="true">
    ${Array.from({ length: count }, (_, i) => html`<i class=${i === at ? "hs-at" : ""}></i>`)}
  </span>
  <span class="hs-walk-text" aria-live="polite">${text}</span>
  <span class="hs-spring"></span>
  ${children} ${button && html`<button type="button" class="hs-button hs-strong" onClick=${onGo}>${button}</button>`}
  `;
}

/** While the page is presented, arrow keys go to the next step and back. */
function useArrows(isPresented, onGo, onBack) {
  useEffect(() => {
    if (!isPresented) return undefined;
    const press = (/** @type {KeyboardEvent} */ event) => {
      const go = { ArrowRight: onGo, ArrowLeft: onBack }[event.key];
      if (!go || event.defaultPrevented || isTyped(event)) return;
      event.preventDefault();
      go();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}

/**
 * The rows, none where nothing stands out; null until they are here.
 *
 * @type {(view: import("../core/state.js").State<any>) => WorthRow[] | null}
 */
export const useWorth = (view) => useAnswer(view, "worth", view.remote ? "worth" : null).newest?.rows ?? null;

/** Chooses a row of them. */
export const choose = (state, { site, head, query }) =>
  state.select({ site, head, token: query, direction: "out" });

const isChosen = ({ selection: { site, head, token, direction } }, row) =>
  row.site === site && row.head === head && row.query === token && direction !== "in";

/**
 * @param {object} props
 * @param {any} props.state
 * @param {WorthRow[] | null} props.rows
 * @param {(row: WorthRow) => unknown} [props.pictureOf] what stands before the words of a row
 */
export function WorthSeeing({ state, rows, pictureOf }) {
  if (!state.remote) return null;
  return html`
    <div class="hs-card-head">
      <h3 class="hs-card-title">Worth seeing here</h3>
      <span class="hs-answer-note">layer · head</span>
    </div>
    <div class="hs-worth" role="listbox" aria-label="Worth seeing here">
      ${rows?.length === 0 && html`<p class="hs-card-doubt">No head stands out on this input.</p>`}
      ${(rows ?? []).map(
        (row) => html`
          <button
            type="button"
            class="hs-worth-row"
            role="option"
            aria-selected=${isChosen(state, row)}
            onClick=${() => choose(state, row)}
          >
            ${pictureOf?.(row)}
            <b><bdi>${row.words.query}</bdi> → <bdi>${pictureOf ? row.words.key.replace(/^patch /, "") : row.words.key}</bdi></b>
            <span>${percentOf(row.weight)}</span>
            <span class="hs-worth-reason">${row.reason}</span>
            <span class="hs-worth-head">${layerName(state.base, row.site)} · ${row.head}</span>
          </button>
        `,
      )}
    </div>
  `;
}
