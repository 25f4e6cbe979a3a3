// Sweeps: what every head, switched off in turn, or every state of a second input, patched in, does to the output;
// first by attribution, then, where that is largest, in passes of their own.

import { colourOf } from "../core/colours.js";
import { editAt } from "../core/edits.js";
import { cellBeside, cellOf, tokenAt } from "../core/grids.js";
import { useAnswer, useFrameSignal } from "../core/hooks.js";
import { html } from "../core/html.js";
import { stepOf } from "../core/keys.js";
import { capital, legible, siteName } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { signed } from "../core/ticks.js";
import { largest } from "../methods/choices.js";
import { pixelsOf } from "../painting/pixels.js";
import { CellTable } from "../parts/cells.js";
import { Button, Entry, OnRequest, Field, Menu, Quoted } from "../parts/controls.js";
import { Area, fitted, OverPicture } from "../parts/over_picture.js";
import { useMemo } from "../vendor/hooks.js";

/** @import {Selection, Swept, Theme} from "../types" */
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
 * @param {import("../core/state.js").State<any>} props.state
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
function Sweep({ state, theme, slot, asked, isOn, onToggle, text, title, choices, ...others }) {
  const rough = asked && pathOf(slot, asked);
  const first = /** @type {any} */ (rough && state.answer(slot, rough));
  const isFirst = first && first.why === undefined;
  const path = isFirst ? pathOf(slot, { ...asked, top: TOP }) : rough;
  const { answer, reason, isRefused } = useAnswer(state, slot, path, "Running the model");
  const newest = answer ?? (isFirst && !isRefused ? first : null);
  return html`
    <${OnRequest} ...${{ isOn, onToggle, text, title, choices, reason, kind: `hs-sweep hs-${slot}` }}>
      ${newest && html`<${Effects} ...${{ state, theme, answer: newest, ...others }} />`}
    <//>
  `;
}

/** @param {{answer: Swept} & Record<string, any>} props */
function Effects({ state, theme, answer, subject, nameOf, cells, from = 0, actions, doubt }) {
  const { attribution, exact, number } = answer;
  const pointed = useFrameSignal(state, /** @type {At | null} */ (null));
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

/** The place of the largest effect from a column on. */
function strongestIn(values, from) {
  const places = values.flatMap((row, i) => row.slice(from).map((_, j) => ({ row: i, column: from + j })));
  const size = ({ row, column }) => Math.abs(values[row][column]);
  return places.reduce((most, at) => (size(at) > size(most) ? at : most));
}

/** Effects as a table. */
function EffectTable({ theme, answer, values, most, at, choose, label, columns, names }) {
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
const PatchButton = ({ noun, at, edit }) => html`
  <${Button}
    title=${`Make this an edit of the pass, with the second ${noun}`}
    disabled=${!edit}
    onClick=${() => edit({ edit: "Patch", layer: at.row, what: "hidden", source: "second", token: at.column })}
  >
    Patch this state
  <//>
`;

/** "What it does to the logit of “mat” at position 3". */
const logitOf = (verb, { name, position }) => html`
  ${`What ${verb} does to the logit of `}<${Quoted} label=${legible(name).trim()} />
  ${position !== null && ` at position ${position}`}
`;

const OF_STATES =
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

const INSTEAD = /** @type {Selection["matter"][]} */ (["zero", "mean"]);
const OF_HEADS =
  "What it does not prove: one head at a time is off, and others may do its work then; zero is not what the model" +
  " was trained with. By attribution, what follows the head is linearised.";

function HeadsThatMatter({ state, theme, ask }) {
  const { matter, output, site } = state.selection;
  const isOn = matter !== "no";
  const explained = state.base.explains === "similarity" ? undefined : output || undefined; // which has no logit
  const nameOf = (index) => siteName(state.base, index);
  const switchOff = (index, head) => {
    const how = matter === "mean" ? { how: "mean" } : {};
    ask?.({ do: "toggle", value: editAt(state, "Ablate", index, { head, ...how }) });
  };
  const choices = html`
    <${Field} name="values become">
      <${Menu}
        name="What values become"
        labels=${INSTEAD}
        index=${INSTEAD.indexOf(matter)}
        onChoose=${(index) => state.select({ matter: INSTEAD[index] })}
      />
    <//>
  `;
  return html`
    <${Sweep}
      ...${{ state, theme, isOn, choices, slot: "matters", doubt: OF_HEADS }}
      text="Which heads matter"
      title="Switch off every head in turn, and see what the output loses"
      asked=${isOn ? { site: state.group()[0] ?? site, off: matter, output: explained } : null}
      onToggle=${() => state.select({ matter: isOn ? "no" : "zero" })}
      subject=${ofHeads}
      nameOf=${({ sites }, { row, column }) => `${capital(nameOf(sites[row]))}, head ${column}`}
      cells=${(swept) => html`<${EffectTable} ...${{ ...swept, ...namesOfHeads(swept, nameOf) }} />`}
      actions=${({ sites }, { row, column }) => html`
        <${Button}
          title="Show the attention of this head"
          onClick=${() => state.select({ site: sites[row], head: column })}
        >
          Show this head
        <//>
        <${Button}
          title="Make this an edit of the pass"
          disabled=${!ask}
          onClick=${() => switchOff(sites[row], column)}
        >
          Switch it off
        <//>
      `}
    />
  `;
}

/** @param {Swept} answer */
const ofHeads = (answer) =>
  answer.number === "distance"
    ? `How far the last state of the ${answer.name} moves without a head, as 1 − cosine`
    : logitOf("switching a head off", answer);

function namesOfHeads({ answer: { sites, attribution } }, nameOf) {
  const width = Math.max(...attribution.map((heads) => heads.length));
  const names = sites.map((site) => ({
    name: nameOf(site).replace("layer ", ""),
    label: capital(nameOf(site)),
  }));
  const columns = Array.from({ length: width }, (_, head) => ({ name: String(head) }));
  return { label: "Effects by layer and head", names, columns };
}

const SPACE = { wide: 112, high: 112 }; // CSS pixels of a layer

function StatesOfPictures({ state, theme, ask }) {
  const { base } = state;
  const { states, output } = state.selection;
  const { second, edits } = state.props;
  if (!state.remote || !second?.source) return null;
  const isOn = states === "yes";
  const explained = base.explains === "classes" && output ? output : undefined;
  const edit = edits && ask && ((value) => ask({ do: "toggle", value, second: second.source }));
  return html`
    <${Sweep}
      ...${{ state, theme, isOn, slot: "states", from: state.prefix, subject: ofStates, doubt: OF_STATES }}
      text="Which states matter"
      title="Patch in each state of the second picture, and see what that does to the output"
      asked=${isOn ? { second: second.trace, output: explained } : null}
      onToggle=${() => state.select({ states: isOn ? "no" : "yes" })}
      nameOf=${(_, { row, column }) => `Layer ${row}, ${state.nameOf(column)}`}
      cells=${(swept) => html`
        <div class="hs-states" role="group" aria-label="Effects by layer and patch">
          ${swept.values.map((row, layer) => html`<${Layer} ...${{ state, row, layer, ...swept }} />`)}
        </div>
      `}
      actions=${(_, at) => html`<${PatchButton} ...${{ noun: "picture", at, edit }} />`}
    />
  `;
}

/** @param {Swept} answer */
const ofStates = (answer) =>
  answer.number === "logit"
    ? logitOf("each state", answer)
    : `How far each state moves the last state of the ${answer.name} towards that of the second picture, where 1 is all the way`;

function Layer({ state, row, layer, most, at, choose }) {
  const { bitmap, prefix, bothWays } = state;
  const grid = state.grid();
  const layers = useMemo(() => {
    const values = Array.from(grid.places, (place) => row[place]);
    return [{ grid, pixels: pixelsOf(values, { ramp: bothWays, top: most, isSigned: true }) }];
  }, [row, most, grid]);
  const here = at.row === layer ? at.column : -1;
  const size = fitted(SPACE, bitmap, SPACE.high);
  const go = (token) => token >= 0 && choose({ row: layer, column: token });
  const walk = (event) => {
    const next = cellBeside([grid], here < 0 ? prefix : here, stepOf(event));
    if (next < 0) return;
    event.preventDefault();
    event.stopPropagation();
    go(next);
  };
  return html`
    <figure class="hs-states-layer">
      <figcaption>layer ${layer}</figcaption>
      ${
        size &&
        html`<${OverPicture}
          ...${{ bitmap, layers, size, isGrey: true, kind: "hs-small" }}
          label=${`Layer ${layer}: patches of the second picture. Arrow keys choose one.`}
          marks=${html`<${Area} sides=${cellOf([grid], here)} />`}
          onChoose=${(place) => go(tokenAt([grid], place))}
          onKey=${walk}
        />`
      }
      ${state
        .labels()
        .query.slice(0, prefix)
        .map(
          (label, token) => html`
          <button type="button" class="hs-edge" onClick=${() => go(token)}>${`${label}: ${signed(row[token], 2)}`}</button>
        `,
        )}
    </figure>
  `;
}

function StatesOfTexts({ state, theme }) {
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
      ...${{ state, theme, isOn, choices, nameOf: nameOfState, slot: "patched", doubt: OF_STATES }}
      text="Which states matter"
      title="Patch in each state of a second text, and see what that does to the output"
      asked=${isOn && patched ? { second: patched, output: output || undefined } : null}
      onToggle=${toggle}
      subject=${(answer) => logitOf("each state of the second text", answer)}
      cells=${(swept) => html`<${EffectTable} ...${{ ...swept, ...namesOfStates(swept) }} />`}
      actions=${(_, at) => html`<${PatchButton} ...${{ noun: "text", at, edit }} />`}
    />
  `;
}

/** @type {(answer: Swept, at: import("../parts/cells.js").Place) => unknown} */
function nameOfState({ labels, second }, { row, column }) {
  const differs = labels[column] !== second[column];
  return html`
    ${`Layer ${row}, at `}<${Quoted} label=${labels[column]} />${` (${column})`}
    ${differs && html`${", with "}<${Quoted} label=${second[column]} />${" there"}`}
  `;
}

function namesOfStates({ values, answer: { labels, second } }) {
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

/** @param {{state: any, theme: import("../types").Theme, ask: (asked: import("../core/edits.js").Asked) => void}} props */
export function Sweeps({ state, theme, ask }) {
  const { base } = state;
  const states = !base.patches
    ? base.explains !== "similarity" && html`<${StatesOfTexts} ...${{ state, theme }} />`
    : html`
      <${StatesOfPictures} ...${{ state, theme, ask }} />
      ${!state.props.second?.source && html`<p class="hs-doubt">Which states matter needs a second picture: see “Compare”.</p>`}
    `;
  return html`<${HeadsThatMatter} ...${{ state, theme, ask }} />${states}`;
}
