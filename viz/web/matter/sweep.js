// Sweeps: what every head, switched off in turn, or every state of a second input, patched in, does to the output;
// first by attribution, then, where that is largest, in passes of their own.

import { colourOf } from "../core/colours.js";
import { useAnswer, useFrameSignal } from "../core/hooks.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { signed } from "../core/ticks.js";
import { largest } from "../methods/methods.js";
import { CellTable } from "../parts/cells.js";
import { Button, Quoted } from "../parts/controls.js";
import { useMemo } from "../vendor/hooks.js";
import { Experiment } from "./experiment.js";

/** @import {Swept, Theme} from "../types" */
/** @import {Place as At} from "../parts/cells.js" */

/**
 * What a sweep found.
 *
 * @typedef {object} Found
 * @property {Theme} theme
 * @property {Swept} answer
 * @property {number[][]} values exact where they are known
 * @property {number} most the largest
 * @property {At} at what is read
 * @property {(at: At | null) => void} choose
 */

const TOP = 10; // effects that are computed in passes of their own
const NUMBERED = 16; // columns up to which numbers stand in the cells
const FAINT = 0.02; // of the largest, below which a cell has no number
const DIGITS = 3;

/**
 * @param {object} props
 * @param {import("../core/state.js").State<any>} props.view
 * @param {Theme} props.theme
 * @param {string} props.slot the route, too
 * @param {Record<string, string | number | undefined> | null} props.asked null asks nothing
 * @param {boolean} props.isOn
 * @param {() => void} props.onToggle
 * @param {string} props.text of the button
 * @param {string} props.title
 * @param {unknown} [props.choices]
 * @param {(answer: Swept) => unknown} props.subject what the numbers are, before a colon
 * @param {(answer: Swept, at: At) => unknown} props.nameOf
 * @param {(swept: Found) => unknown} props.cells
 * @param {number} [props.from] the first column that may be read at first
 * @param {(answer: Swept, at: At) => unknown} props.actions with what is read
 * @param {string} props.doubt
 */
export function Sweep({ view, theme, slot, asked, isOn, onToggle, text, title, choices, ...others }) {
  const rough = asked && pathOf(slot, asked);
  const first = /** @type {any} */ (rough && view.answer(slot, rough));
  const isFirst = first && first.why === undefined;
  const path = isFirst ? pathOf(slot, { ...asked, top: TOP }) : rough;
  const { answer, reason, isRefused } = useAnswer(view, slot, path, "Running the model");
  const newest = answer ?? (isFirst && !isRefused ? first : null);
  return html`
    <${Experiment} ...${{ isOn, onToggle, text, title, choices, reason, kind: `hs-sweep hs-${slot}` }}>
      ${newest && html`<${Effects} ...${{ view, theme, answer: newest, ...others }} />`}
    <//>
  `;
}

/** @param {{answer: Swept} & Record<string, any>} props */
function Effects({ view, theme, answer, subject, nameOf, cells, from = 0, actions, doubt }) {
  const { attribution, exact, number } = answer;
  const pointed = useFrameSignal(view, /** @type {At | null} */ (null));
  const values = useMemo(() => effectsOf(answer), [answer]);
  const most = largest(values.flat());
  const last = pointed.value;
  const at = last && values[last.row]?.[last.column] !== undefined ? last : strongestIn(values, from);
  const choose = (place) => {
    if (place && (place.row !== at.row || place.column !== at.column)) pointed.value = place;
  };
  const table = useMemo(
    () => cells({ theme, answer, values, most, at, choose }),
    [theme, answer, at.row, at.column],
  );
  const passes = exact?.flat().filter((value) => value !== null).length ?? 0;
  const way =
    number === "distance"
      ? "each in a pass of its own."
      : `by attribution${exact && passes ? `, ${passes} of them exactly, framed; ${disagreement(attribution, exact)}` : "."}`;
  const known = exact?.[at.row][at.column] ?? null;
  return html`
    <p class="hs-check" aria-live="polite">
      ${subject(answer)}${`: ${values.flat().length} ${way} Colours up to ${most.toPrecision(3)}.`}
    </p>
    ${table}
    <div class="hs-row">
      <p class="hs-sweep-read" aria-live="polite">
        ${nameOf(answer, at)}${`: ${signed(attribution[at.row][at.column] ?? 0, DIGITS)} by attribution`}
        ${known === null ? "." : `, ${signed(known, DIGITS)} exactly.`}
      </p>
      ${actions(answer, at)}
    </div>
    <p class="hs-doubt">${doubt}</p>
  `;
}

/** The effects, exact where they were computed in passes of their own. @param {Swept} answer */
const effectsOf = ({ attribution, exact }) =>
  attribution.map((row, i) => row.map((rough, j) => exact?.[i][j] ?? rough ?? 0));

/** The place of the largest effect from a column on. @type {(values: number[][], from: number) => At} */
function strongestIn(values, from) {
  const places = values.flatMap((row, i) => row.slice(from).map((_, j) => ({ row: i, column: from + j })));
  const size = ({ row, column }) => Math.abs(values[row][column]);
  return places.reduce((most, at) => (size(at) > size(most) ? at : most));
}

/**
 * Effects as a table.
 *
 * @param {Found & {label: string, columns: any[], names: {name: string, label: string}[]}} props names of the rows
 */
export function EffectTable({ theme, answer, values, most, at, choose, label, columns, names }) {
  const isNumbered = columns.length <= NUMBERED;
  const cellAt = (value, row, column) => ({
    text: isNumbered && Math.abs(value) >= FAINT * most ? signed(value, 2) : "",
    label: `${names[row].label}, ${columns[column].name}: ${signed(value, DIGITS)}`,
    ground: colourOf(theme, value, most, answer.number !== "distance"),
    kind:
      ((answer.exact?.[row][column] ?? null) === null ? "" : "hs-exact ") +
      (row === at.row && column === at.column ? "hs-followed" : ""),
  });
  const rows = values.map((row, i) => ({ ...names[i], cells: row.map((value, j) => cellAt(value, i, j)) }));
  return html`<${CellTable} ...${{ label, theme, columns, rows, onFocus: choose }} kind="hs-cells-square" />`;
}

/** Makes the patch of a state an edit of the pass. */
export const PatchButton = ({ noun, at, edit }) => html`
  <${Button}
    title=${`Make this an edit of the pass, with the second ${noun}`}
    disabled=${!edit}
    onClick=${() => edit({ edit: "Patch", layer: at.row, what: "hidden", source: "second", token: at.column })}
  >
    Patch this state
  <//>
`;

/** "What it does to the logit of “mat” at position 3". */
export const logitOf = (verb, { name, position }) => html`
  ${`What ${verb} does to the logit of `}<${Quoted} label=${legible(name).trim()} />
  ${position !== null && ` at position ${position}`}
`;

export const OF_STATES =
  "What it does not prove: one state at a time is patched; by attribution, what follows it is linearised. Where nothing" +
  " follows a state, it changes nothing.";

/** Where exact numbers differ from attributions by more than half of the larger. */
function disagreement(attribution, exact) {
  const pairs = exact.flatMap((row, i) => row.map((known, j) => [attribution[i][j] ?? 0, known]));
  const far = pairs.filter(
    ([rough, known]) =>
      known !== null && Math.abs(rough - known) > Math.max(Math.abs(rough), Math.abs(known)) / 2,
  );
  return `${far.length ? `in ${far.length}` : "nowhere"} the two differ by more than half of the larger.`;
}
