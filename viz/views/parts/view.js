// Direct logit attribution: what each head and each MLP adds to the logit of an output, or to the
// difference of two; below it, on request, what the output rests on.

import { colourOf } from "../../web/core/colours.js";
import { markPainted } from "../../web/core/dom.js";
import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital } from "../../web/core/labels.js";
import { chosenOf } from "../../web/core/selection.js";
import { pathOf } from "../../web/core/sources.js";
import { signed } from "../../web/core/ticks.js";
import { largest, OutputMenu } from "../../web/methods/choices.js";
import { CellTable } from "../../web/parts/cells.js";
import { Quoted } from "../../web/parts/controls.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../../web/vendor/hooks.js";
import { Blame } from "./blame.js";

const MLP = "MLP";
const NUMBERED = 16; // heads up to which numbers stand in the cells
const VERSUS = /** @type {const} */ ({ option: "versus", label: "less that of", none: "nothing" });
const SENTENCE =
  "What each head and each MLP writes into the last state of the token, as its share of the logit. Choose a head" +
  " to see it.";
const NO_LOGIT =
  "This model predicts no words, so there is nothing to split up. “Sweeps” in the Lab has how far its output moves without a head.";
const DOUBT =
  "What it does not prove: only what is written directly into the last state is counted, with the final norm held" +
  " at this input’s scale; what a head does through later layers appears as the part of those layers.";

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export function Parts({ state, theme }) {
  const logits = state.base.explains !== "similarity";
  const what = logits ? "parts of a logit" : "what the output needs";
  const title = [`${state.base.model} · ${what}`, state.base.caveat].filter(Boolean).join(" — ");
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (section.current && !logits) markPainted(section.current);
  }, [logits, theme]);
  state.panel.figure = () => chosenOf(state.selection, ["output", "versus", "tested"]);
  return html`
    <div class="hs-model" ref=${section}>
      <p class="hs-heading">${title}</p>
      <p class="hs-sentence">${logits ? SENTENCE : NO_LOGIT}</p>
      ${logits && html`<${Division} ...${{ state, theme }} /><${Blame} ...${{ state, theme }} />`}
    </div>
  `;
}

function Division({ state, theme }) {
  const { output, versus, site, head } = state.selection;
  const path = pathOf("parts", { output: output || undefined, versus: versus || undefined });
  const { answer, newest: parts, reason } = useAnswer(state, "parts", path, "Dividing the logit");
  const [pointed, setPointed] = useState(/** @type {any} */ (null));
  const at = pointed?.parts === parts ? pointed?.at : null;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const table = useMemo(
    () =>
      parts &&
      html`<${Table} ...${{ state, theme, parts, box, onPoint: (place) => setPointed({ parts, at: place }) }} />`,
    [theme, parts, site, head],
  );
  useLayoutEffect(() => {
    if (box.current) markPainted(box.current);
  }, [theme, parts, site, head]);
  return html`
    <div class="hs-row"><${OutputMenu} state=${state} /><${OutputMenu} ...${{ state, which: VERSUS }} /></div>
    <p class="hs-even" role="status">${reason}</p>
    ${
      parts &&
      html`
      <div class=${answer ? "" : "hs-dim"}>
        <p class="hs-sentence">Shares of <${Logit} parts=${parts} />:</p>
        ${table}
        <p class="hs-read" aria-live="polite">
          ${at ? wordsOf(state, parts, at) : legendOf(theme, largestOf(parts))}
        </p>
        <p class="hs-check hs-cells-sum">${sumsOf(parts)}<${Logit} parts=${parts} />${` is ${plus(parts.logit)}.`}</p>
        <p class="hs-doubt">${DOUBT}</p>
      </div>
    `
    }
  `;
}

function Table({ state, theme, parts, box, onPoint }) {
  const { rows } = parts;
  const most = widest(parts);
  const top = largestOf(parts);
  const columns = [...Array(most).keys(), MLP].map((name) => ({ name: String(name) }));
  const cellAt = (row, column) => {
    const value = valueAt(parts, row, column);
    if (value === null) return null;
    const isMlp = column === most;
    const isChosen = !isMlp && rows[row].site === state.selection.site && column === state.selection.head;
    return {
      text: most <= NUMBERED ? signed(value, 1).replace(/^−?0\.0$/, "") : "",
      label: wordsOf(state, parts, { row, column }),
      ground: colourOf(theme, value, top, true),
      kind: isChosen ? "hs-followed" : "",
      place: isMlp ? "hs-cells-mlp" : "",
      pressed: isMlp ? undefined : isChosen,
    };
  };
  const lines = rows.map(({ site }, row) => {
    const label = state.siteName(site);
    return {
      name: label.replace("layer ", ""),
      label,
      cells: columns.map((_, column) => cellAt(row, column)),
    };
  });
  const choose = ({ row, column }) => column < most && state.select({ site: rows[row].site, head: column });
  return html`
    <${CellTable}
      label="Parts of the logit by layer and head"
      kind="hs-cells-square"
      ...${{ theme, columns, box, onPoint, rows: lines, onChoose: choose }}
    />
  `;
}

/** How many heads a row has at most. */
const widest = ({ rows }) => Math.max(...rows.map(({ heads }) => heads.length));

const largestOf = ({ rows }) => largest(rows.flatMap(({ heads, mlp }) => [...heads, mlp ?? 0]));

function valueAt(parts, row, column) {
  const { heads, mlp } = parts.rows[row];
  return (column === widest(parts) ? mlp : heads[column]) ?? null;
}

function wordsOf(state, parts, { row, column }) {
  const name = column === widest(parts) ? MLP : `head ${column}`;
  const site = capital(state.siteName(parts.rows[row].site));
  return `${site}, ${name}: ${plus(valueAt(parts, row, column) ?? 0)}`;
}

const Logit = ({ parts: { name, versus, position } }) => html`
  ${"the logit of "}<${Quoted} label=${name} />${` at position ${position}`}
  ${versus !== null && html`${", less that of "}<${Quoted} label=${versus} />`}
`;

const legendOf = ({ mode }, top) =>
  `${mode === "dark" ? "Orange" : "Brown"} adds to it, blue takes away; colours up to ${top.toPrecision(3)}.`;

function sumsOf({ rows, rest, sum }) {
  const heads = rows.flatMap((row) => row.heads).reduce((a, b) => a + b, 0);
  const mlps = rows.reduce((total, { mlp }) => total + (mlp ?? 0), 0);
  const others = Object.entries(rest)
    .map(([name, value]) => `, ${name} ${plus(value)}`)
    .join("");
  return `Heads ${plus(heads)}, MLPs ${plus(mlps)}${others}. Together ${plus(sum)}; `;
}

/** A part with its sign. */
const plus = (value) => `${value > 0 ? "+" : ""}${signed(value, Math.abs(value) < 0.1 ? 3 : 2)}`;
