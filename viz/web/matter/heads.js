// Which heads an output needs: every head switched off in turn, first by attribution, then, where that is largest, in
// passes of their own.

import { useFrameSignal } from "../core/hooks.js";
import { html } from "../core/html.js";
import { capital, legible, siteName } from "../core/labels.js";
import { signed } from "../core/ticks.js";
import { colourOf, largest } from "../methods/methods.js";
import { editAt } from "../core/edits.js";
import { CellTable } from "../parts/cells.js";
import { Button, Field, Menu, Quoted } from "../parts/controls.js";
import { useLayoutEffect, useMemo } from "../vendor/hooks.js";
import { Exactly, Experiment } from "./experiment.js";
import { useTwoSteps } from "./two_steps.js";

/** @import {Swept, Selection, Theme} from "../types" */

/**
 * What is swept in a view.
 *
 * @typedef {object} SweepProps
 * @property {import("../core/state.js").State<any>} view
 * @property {Theme} theme
 * @property {number} site of the kind whose heads are switched off
 * @property {(change: Partial<Selection>) => void} select
 * @property {((asked: import("../core/edits.js").Asked) => void) | null | undefined} ask asks for an edit of the pass
 * @property {unknown} [more] controls
 * @property {(answer: Swept) => void} [receive] what else shows the numbers
 */

/** @typedef {{site: number, head: number, rough: number, exact: number | null}} Effect of one head */

export const KEY = "matters";
const OFF = /** @type {Selection["matter"][]} */ (["zero", "mean"]);
const DIGITS = 3;
const NUMBERED = 16; // heads of a layer up to which numbers stand in the cells
const FAINT = 0.02; // of the largest, below which a cell has no number
const LEAST = 0.005; // below which a cell has no number
const APART = 0.5; // of the larger of two effects, from which on they are said to disagree
const DOUBT =
  "What it does not prove: one head at a time is off, and others may do its work then; zero is not what the model" +
  " was trained with.";
const LINEAR = " By attribution, what follows the head is linearised.";

/** @param {SweepProps} props */
export function HeadsThatMatter({ view, theme, site, select, ask, more, receive }) {
  const { matter } = view.selection;
  const top = useFrameSignal(view, "10");
  const isOn = matter !== "no";
  const isState = view.base.explains === "similarity"; // which has no logit
  const output = isState ? undefined : view.selection.output || undefined;
  const asked = isOn ? { site, off: matter, output } : null;
  const { answer, reason } = useTwoSteps(view, KEY, asked, top.value, "Switching off heads");
  useLayoutEffect(() => {
    if (answer) receive?.(answer);
  });
  const choices = html`
    <${Field} name="values become">
      <${Menu}
        name="What values become"
        labels=${OFF}
        index=${OFF.indexOf(matter)}
        onChoose=${(index) => select({ matter: OFF[index] })}
      />
    <//>
    <${Exactly} what="Heads" value=${top.value} onChange=${(value) => (top.value = value)} />
    ${more}
  `;
  return html`
    <${Experiment}
      ...${{ view, slot: KEY, isOn, reason, choices, kind: "hs-matter" }}
      text="Which heads matter"
      title="Switch off every head in turn, and see what the output loses"
      onToggle=${() => select({ matter: isOn ? "no" : "zero" })}
    >
      ${answer && html`<${Answer} ...${{ view, theme, answer, select, ask, count: Number(top.value) }} />`}
    <//>
  `;
}

function Answer({ view, theme, answer, select, ask, count }) {
  const effects = useMemo(() => effectsOf(answer), [answer]);
  const passes = effects.filter(({ exact }) => exact !== null);
  const first = (passes.length ? passes : effects).toSorted((a, b) => Math.abs(last(b)) - Math.abs(last(a)));
  const pointed = useFrameSignal(view, /** @type {{site: number, head: number} | null} */ (null));
  const isThere = effects.some((effect) => isSame(effect, pointed.value));
  const chosen = isThere && pointed.value ? pointed.value : { site: first[0].site, head: first[0].head };
  const nameOf = (site) => siteName(view.base, site);
  const choose = (of) => {
    if (!isSame(of, pointed.value)) pointed.value = { site: of.site, head: of.head };
  };
  const show = (of) => {
    choose(of);
    select({ site: of.site, head: of.head });
  };
  const onFocus = (at) => at && choose({ site: answer.sites[at.row], head: at.column });
  const table = useMemo(
    () => html`<${Table} ...${{ theme, answer, effects, chosen, nameOf, onFocus }} />`,
    [theme, answer, chosen.site, chosen.head],
  );
  const isDistance = answer.number === "distance"; // exact for every head
  const said = passes.length ? `, ${passes.length} of them exactly, framed. ${apartIn(passes, nameOf)}` : ".";
  const how = isDistance ? ", each in a pass of its own." : ` by attribution${said}`;
  return html`
    <p class="hs-check" aria-live="polite">
      <${Subject} answer=${answer} />${`: ${effects.length} heads${how}`}
    </p>
    ${table}
    <${Chosen} ...${{ view, effects, chosen, show, ask, nameOf }} />
    <div class="hs-cells-scroller">
      <${Strongest} ...${{ strongest: first.slice(0, count), nameOf, show }} />
    </div>
    <p class="hs-doubt">${DOUBT}${isDistance ? "" : LINEAR}</p>
  `;
}

function Subject({ answer: { number, name, position } }) {
  if (number === "distance")
    return `How far the last state of the ${name} moves without a head, as 1 − cosine`;
  return html`
    ${"What switching a head off does to the logit of "}<${Quoted} label=${legible(name).trim()} />
    ${position !== null && ` at position ${position}`}
  `;
}

function apartIn(passes, nameOf) {
  const isApart = ({ rough, exact }) =>
    Math.abs(rough - exact) > APART * Math.max(Math.abs(rough), Math.abs(exact));
  const apart = passes.filter(isApart);
  if (!apart.length) return "Nowhere do the two differ by more than half of the larger.";
  const named = apart.slice(0, 3).map(({ site, head }) => `${nameOf(site)}, head ${head}`);
  return `They differ by more than half of the larger in ${apart.length}: ${named.join("; ")}${apart.length > 3 ? " …" : "."}`;
}

function Table({ theme, answer: { sites, attribution, number }, effects, chosen, nameOf, onFocus }) {
  const most = largest(effects.map(last));
  const width = Math.max(...attribution.map((heads) => heads.length));
  const cellOf = (effect) => {
    const value = last(effect);
    const exact = effect.exact === null ? "" : "hs-exact";
    return {
      text: width > NUMBERED || Math.abs(value) < Math.max(FAINT * most, LEAST) ? "" : signed(value, 2),
      label: `${capital(nameOf(effect.site))}, head ${effect.head}: ${signed(value, DIGITS)}`,
      ground: colourOf(theme, value, most, number === "logit"),
      kind: isSame(effect, chosen) ? `${exact} hs-followed` : exact,
    };
  };
  const columns = Array.from({ length: width }, (_, head) => ({ name: String(head) }));
  const rows = sites.map((site) => {
    const label = nameOf(site);
    const cells = effects.filter((effect) => effect.site === site).map(cellOf);
    return { name: label.replace("layer ", ""), label, cells };
  });
  const label = "Effects by layer and head";
  return html`<${CellTable} ...${{ label, theme, columns, rows, onFocus }} kind="hs-cells-square" />`;
}

/** What is read of the chosen head. */
function Chosen({ view, effects, chosen, show, ask, nameOf }) {
  const { site, head } = chosen;
  const { rough, exact } = effects.find((effect) => isSame(effect, chosen));
  const switchOff = () => {
    const how = view.selection.matter === "mean" ? { how: "mean" } : {};
    ask?.({ do: "toggle", value: editAt(view, "Ablate", site, { head, ...how }) });
  };
  const passed = exact === null ? "" : `, ${signed(exact, DIGITS)} exactly`;
  return html`
    <div class="hs-row">
      <p class="hs-matter-read" aria-live="polite">
        ${`${capital(nameOf(site))}, head ${head}: ${signed(rough, DIGITS)} by attribution${passed}.`}
      </p>
      <${Button} title="Show the attention of this head" onClick=${() => show(chosen)}>Show this head<//>
      <${Button} title="Make this an edit of the pass" disabled=${!ask} onClick=${switchOff}>Switch it off<//>
    </div>
  `;
}

function Strongest({ strongest, nameOf, show }) {
  const row = (effect) => html`
    <tr>
      <th scope="row">
        <button type="button" class="hs-edge" title="Show this head" onClick=${() => show(effect)}>
          ${`${capital(nameOf(effect.site))}, head ${effect.head}`}
        </button>
      </th>
      ${[effect.rough, effect.exact].map((value) => html`<td>${value === null ? "…" : signed(value, DIGITS)}</td>`)}
    </tr>
  `;
  return html`
    <table class="hs-matter-table">
      <thead>
        <tr>
          ${["Head", "By attribution", "Exactly"].map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${strongest.map(row)}
      </tbody>
    </table>
  `;
}

const isSame = (a, b) => a.site === b?.site && a.head === b?.head;

const last = ({ rough, exact }) => exact ?? rough;

/**
 * @param {Swept} answer
 * @returns {Effect[]}
 */
export const effectsOf = ({ sites, attribution, exact }) =>
  sites.flatMap((site, i) =>
    attribution[i].map((rough, head) => ({ site, head, rough: rough ?? 0, exact: exact?.[i][head] ?? null })),
  );
