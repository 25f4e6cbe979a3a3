// Which states carry what two texts differ in: each state of the second one patched in, by layer and token.

import { useFrameSignal } from "../core/hooks.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { Entry, Field, Quoted } from "../parts/controls.js";
import { EffectTable, logitOf, OF_STATES, PatchButton, Sweep } from "./sweep.js";

/** @import {Swept, Theme} from "../types" */
/** @import {TextState} from "../text/state.js" */

/** @param {{state: TextState, theme: Theme}} props */
export function StatesOfTexts({ state, theme }) {
  const { patched, output } = state.selection;
  const isOpen = useFrameSignal(state, patched !== "");
  const isOn = isOpen.value || patched !== "";
  const choices = html`
    <${Field} name="second text">
      <${Entry}
        class="hs-select hs-second"
        maxlength="2000"
        aria-label="Second text, with the same number of tokens"
        placeholder="as many tokens, changed at the word in question"
        value=${patched}
        onCommit=${(text) => state.select({ patched: text })}
      />
    <//>
  `;
  const toggle = () => {
    isOpen.value = !isOn;
    if (isOn) state.select({ patched: "" });
  };
  const edit = state.ask && ((value) => state.ask?.({ do: "toggle", value, second: patched }));
  return html`
    <${Sweep}
      ...${{ view: state.view, theme, isOn, choices, nameOf, slot: "patched", doubt: OF_STATES }}
      text="Which states matter"
      title="Patch in each state of a second text, and see what that does to the output"
      asked=${isOn && patched ? { second: patched, output: output || undefined } : null}
      onToggle=${toggle}
      subject=${(answer) => logitOf("each state of the second text", answer)}
      cells=${(swept) => html`<${EffectTable} ...${{ ...swept, ...namesOf(swept) }} />`}
      actions=${(_, at) => html`<${PatchButton} ...${{ noun: "text", at, edit }} />`}
    />
  `;
}

/** @type {(answer: Swept, at: import("../parts/cells.js").Place) => unknown} */
function nameOf({ labels, second }, { row, column }) {
  const differs = labels[column] !== second[column];
  return html`
    ${`Layer ${row}, at `}<${Quoted} label=${labels[column]} />${` (${column})`}
    ${differs && html`${", with "}<${Quoted} label=${second[column]} />${" there"}`}
  `;
}

function namesOf({ values, answer: { labels, second } }) {
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
  const names = values.map((_, layer) => ({ name: String(layer), label: `Layer ${layer}` }));
  return { label: "Effects by layer and token", columns, names };
}
