// Which states carry what two texts differ in, as a table of layers and tokens.

import { useFrameSignal } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { legible } from "../../web/core/labels.js";
import { signed } from "../../web/core/ticks.js";
import { StatesThatMatter } from "../../web/matter/states.js";
import { colourOf } from "../../web/methods/methods.js";
import { CellTable } from "../../web/parts/cells.js";
import { Entry, Field, Quoted } from "../../web/parts/controls.js";
import { useLayoutEffect, useMemo, useRef } from "../../web/vendor/hooks.js";

/** @import {Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const FAINT = 1 / 50; // of the largest, below which a cell has no number
const ABOUT =
  "Type a second text with the same number of tokens, changed at the word in question. Each cell patches the state" +
  " that enters a layer at a token from the second text’s pass; a framed one was patched in a pass of its own.";

/** @param {{state: TextState, theme: Theme}} props */
export function Patching({ state, theme }) {
  const { patched, output } = state.selection;
  const isOpen = useFrameSignal(state, patched !== "");
  const typed = useFrameSignal(state, patched);
  const top = useFrameSignal(state, "10");
  const pointed = useFrameSignal(state, /** @type {any} */ (null));
  const isOn = isOpen.value || patched !== "";
  const second = patched || typed.value;
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
  `;
  const toggle = () => {
    typed.value = second;
    isOpen.value = !isOn;
    state.select({ patched: isOn ? "" : second });
  };
  const onFocus = (answer) => (at) => at && (pointed.value = { answer, at });
  return html`
    <${StatesThatMatter}
      ...${{ state, theme, isOn, choices, about: ABOUT, kind: "hs-patching", slot: "patched", noun: "text" }}
      asked=${isOn && patched ? { second: patched, output: output || undefined } : null}
      top=${top.value}
      onTop=${(value) => (top.value = value)}
      onToggle=${toggle}
      subject=${subjectOf}
      chosenIn=${({ answer }) => (pointed.value?.answer === answer ? pointed.value.at : null)}
      nameOf=${nameOf}
      edit=${state.ask && ((value) => state.ask?.({ do: "toggle", value, second: patched }))}
      cells=${({ answer, effects, most }) => html`<${Table} ...${{ theme, answer, effects, most, onFocus: onFocus(answer) }} />`}
    />
  `;
}

const subjectOf = ({ name, position }) => html`
  ${"What each state of the second text does to the logit of "}<${Quoted} label=${legible(name).trim()} />
  ${position !== null && ` at position ${position}`}
`;

function nameOf({ labels, second }, { row, column }) {
  const differs = labels[column] !== second[column];
  return html`
    ${`Layer ${row}, at `}<${Quoted} label=${labels[column]} />${` (${column})`}
    ${differs && html`${", with "}<${Quoted} label=${second[column]} />${" there"}`}
  `;
}

function Table({ theme, answer, effects, most, onFocus }) {
  const { labels, second, exact } = answer;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const table = useMemo(() => {
    const columns = labels.map((label, i) => {
      if (label === second[i]) return { name: label, title: `${legible(label)} (${i})` };
      const more = html`<br />→ <bdi>${legible(second[i])}</bdi>`;
      const title = `${legible(label)} → ${legible(second[i])} (${i})`;
      return { name: label, title, kind: "hs-cells-here", more };
    });
    const rows = effects.map((row, i) => ({
      name: String(i),
      cells: row.map((value, j) => ({
        text: Math.abs(value) < most * FAINT ? "" : signed(value, 2),
        label: `Layer ${i}, token ${j}: ${signed(value, 3)}`,
        ground: colourOf(theme, value, most, true),
        kind: (exact?.[i][j] ?? null) === null ? "" : "hs-followed",
      })),
    }));
    const label = "Effects by layer and token";
    return html`<${CellTable} ...${{ label, theme, columns, rows, box, onFocus }} kind="hs-cells-square" />`;
  }, [theme, answer]);
  useLayoutEffect(() => {
    const first = /** @type {HTMLElement | null} */ (box.current?.querySelector(".hs-cells-here"));
    const corner = /** @type {HTMLElement | null} */ (box.current?.querySelector(".hs-cells-corner"));
    box.current?.scrollTo({ left: first && corner ? first.offsetLeft - 2 * corner.offsetWidth : 0 });
  }, [answer]);
  return table;
}
