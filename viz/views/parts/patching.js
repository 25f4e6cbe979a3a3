// Which states carry what two texts differ in: the state of each layer and token that a second text
// gives, patched in, and what that does to an output; by attribution, and exactly for the largest.

import { callOf } from "../../web/core/edit_text.js";
import { useFrameSignal } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { legible } from "../../web/core/labels.js";
import { signed } from "../../web/core/ticks.js";
import { Exactly, Experiment, passesIn } from "../../web/matter/experiment.js";
import { useTwoSteps } from "../../web/matter/two_steps.js";
import { colourOf, disagreement, largest } from "../../web/methods/methods.js";
import { CellTable } from "../../web/parts/cells.js";
import { Button, Entry, Field, Quoted } from "../../web/parts/controls.js";
import { useLayoutEffect, useMemo, useRef } from "../../web/vendor/hooks.js";

/** @import {PatchedAnswer, Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Place} from "../../web/parts/cells.js" */

const SLOT = "patched";
const DIGITS = 3;
const FAINT = 1 / 50; // of the largest, below which a cell has no number
const ABOUT =
  "Type a second text with the same number of tokens, changed at the word in question. Each cell patches the state" +
  " that enters a layer at a token from the second text’s pass; orange raises the output’s logit, blue lowers it.";
const DOUBT =
  "What it does not prove: one state at a time is patched; by attribution, what follows it is linearised. A framed" +
  " cell was patched in a pass of its own. Where nothing follows a state, it changes nothing.";

/** @param {{state: TextState, theme: Theme}} props */
export function Patching({ state, theme }) {
  const { patched, output } = state.selection;
  const opened = useFrameSignal(state, patched !== "");
  const typed = useFrameSignal(state, patched);
  const top = useFrameSignal(state, "10");
  const isOn = opened.value || patched !== "";
  const second = patched || typed.value;
  const asked = isOn && patched ? { second: patched, output: output || undefined } : null;
  const { answer, reason } = useTwoSteps(state.view, SLOT, asked, top.value, "Patching states");
  const set = (text) => {
    typed.value = text;
    state.select({ patched: text });
  };
  const choices = html`
    <${Field} name="second text">
      <${Entry}
        class="hs-select hs-second"
        maxlength="2000"
        aria-label="Second text, with the same number of tokens"
        placeholder="a second text with the same number of tokens"
        value=${second}
        onCommit=${set}
      />
    <//>
    <${Exactly} what="States" value=${top.value} onChange=${(value) => (top.value = value)} />
  `;
  const toggle = () => {
    typed.value = second;
    opened.value = !isOn;
    state.select({ patched: isOn ? "" : second });
  };
  return html`
    <${Experiment}
      ...${{ view: state.view, slot: SLOT, isOn, reason, choices, about: ABOUT, kind: "hs-patching" }}
      text="Which states matter"
      title="Patch each state from a second text, and see what it does to the output"
      onToggle=${toggle}
    >
      ${answer && html`<${Answer} ...${{ state, theme, answer }} />`}
    <//>
  `;
}

/** @param {{state: TextState, theme: Theme, answer: PatchedAnswer}} props */
function Answer({ state, theme, answer }) {
  const { name, position, attribution, exact } = answer;
  const pointed = useFrameSignal(state, /** @type {{answer: any, at: Place} | null} */ (null));
  const at = pointed.value?.answer === answer ? pointed.value.at : null;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const onFocus = (place) => {
    if (place) pointed.value = { answer, at: place };
  };
  const table = useMemo(() => html`<${Table} ...${{ theme, answer, box, onFocus }} />`, [theme, answer]);
  useLayoutEffect(() => {
    const first = /** @type {HTMLElement | null} */ (box.current?.querySelector(".hs-cells-here"));
    const corner = /** @type {HTMLElement | null} */ (box.current?.querySelector(".hs-cells-corner"));
    box.current?.scrollTo({ left: first && corner ? first.offsetLeft - 2 * corner.offsetWidth : 0 });
  }, [answer]);
  const passes = exact ? `, ${passesIn(exact)} exactly; ${disagreement(attribution, exact)}` : ".";
  const reach = () => {
    const site = state.base.sites.findIndex(({ layer }) => layer === at?.row);
    if (at && site >= 0) state.reach({ site, what: "hidden", head: null, token: at.column });
  };
  const leave = () => state.reach(null);
  const patch = () =>
    at &&
    state.edit?.(
      callOf("Patch", [at.row, "hidden", "second"], { token: at.column }),
      state.selection.patched,
    );
  return html`
    <p class="hs-check" aria-live="polite">
      ${"What each state of the second text does to the logit of "}<${Quoted} label=${legible(name).trim()} />
      ${`${position === null ? "" : ` at position ${position}`}: all by attribution${passes}`}
    </p>
    ${table}
    <div class="hs-row">
      <p class="hs-patching-read" aria-live="polite">
        ${at ? html`<${Words} ...${{ answer, at }} />` : "Choose a cell to read it, and to patch its state."}
      </p>
      <${Button}
        title="Make this an edit of the pass, with the second text"
        disabled=${!at || !state.edit}
        onClick=${patch}
        onPointerEnter=${reach}
        onFocus=${reach}
        onPointerLeave=${leave}
        onBlur=${leave}
      >
        Patch this state
      <//>
    </div>
    <p class="hs-doubt">${DOUBT}</p>
  `;
}

function Table({ theme, answer: { labels, second, attribution, exact }, box, onFocus }) {
  const effects = attribution.map((row, i) => row.map((rough, j) => exact?.[i][j] ?? rough ?? 0));
  const most = largest(effects.flat());
  const columns = labels.map((label, i) => {
    if (label === second[i]) return { name: label, title: `${legible(label)} (${i})` };
    const more = html`<br />→ <bdi>${legible(second[i])}</bdi>`;
    return {
      name: label,
      title: `${legible(label)} → ${legible(second[i])} (${i})`,
      kind: "hs-cells-here",
      more,
    };
  });
  const rows = effects.map((row, i) => ({
    name: String(i),
    cells: row.map((value, j) => ({
      text: Math.abs(value) < most * FAINT ? "" : signed(value, 2),
      label: `Layer ${i}, token ${j}: ${signed(value, DIGITS)}`,
      ground: colourOf(theme, value, most, true),
      kind: (exact?.[i][j] ?? null) === null ? "" : "hs-followed",
    })),
  }));
  const label = "Effects by layer and token";
  return html`<${CellTable} ...${{ label, theme, columns, rows, box, onFocus }} kind="hs-cells-square" />`;
}

function Words({ answer: { labels, second, attribution, exact }, at: { row, column } }) {
  const known = exact?.[row][column] ?? null;
  const differs = labels[column] !== second[column];
  return html`
    ${`Layer ${row}, at `}<${Quoted} label=${labels[column]} />${` (${column})`}
    ${differs && html`${", with "}<${Quoted} label=${second[column]} />${" there"}`}
    ${`: ${signed(attribution[row][column] ?? 0, DIGITS)} by attribution`}
    ${known !== null && `, ${signed(known, DIGITS)} exactly`}
  `;
}
