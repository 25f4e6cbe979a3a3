// All layers together: a map, query by key, or the tokens of a text, shaded by their numbers.

import { colourOf, textOn } from "../../web/core/colours.js";
import { moreIs } from "../../web/core/dom.js";
import { useAnswer, useNewest, useSpace } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, legible } from "../../web/core/labels.js";
import { cellOf } from "../../web/core/raster.js";
import { pathOf } from "../../web/core/sources.js";
import {
  choiceOf,
  explainedIn,
  largest,
  MethodChoices,
  methodOf,
  number,
  together,
} from "../../web/methods/choices.js";
import { Faithful } from "../../web/methods/faithful.js";
import { Quoted } from "../../web/parts/controls.js";
import { restingIn, sharesOf } from "../../web/text/weights.js";
import { useMemo, useRef, useState } from "../../web/vendor/hooks.js";
import { MapOfLayers, topOf } from "./map.js";

/** @import {Cell} from "../../web/types" */

function Chips({ theme, text: { labels, special }, values, label, onRead, onChoose, current }) {
  const signed = values.some((value) => value < 0);
  const top = largest(values);
  const chip = (token, i) => {
    const value = values[i];
    const title = value === undefined ? "" : `“${legible(token)}” (${i}): ${number(value)}`;
    const ground = value === undefined ? null : colourOf(theme, value, top, signed);
    const style = ground ? { background: `rgb(${ground.join()})`, color: textOn(ground, theme.text) } : {};
    const kinds = ["hs-chip", special.includes(i) && "hs-special", i === current && "hs-current"];
    const read = () => onRead(title);
    const leave = () => onRead("");
    return html`
      <button
        type="button"
        dir="auto"
        class=${kinds.filter(Boolean).join(" ")}
        ...${{ title, style }}
        aria-label=${title || legible(token)}
        onPointerEnter=${read}
        onFocus=${read}
        onPointerLeave=${leave}
        onBlur=${leave}
        onClick=${() => onChoose?.(i)}
      >
        ${legible(token)}
      </button>
    `;
  };
  return html`<div class="hs-chips" role="group" aria-label=${label}>${labels.map(chip)}</div>`;
}

const UNEXPLAINED =
  "Relevance explains a token, a class or a similarity: this model’s output is none of them.";
const KINDS = { map: MapPart, row: FlowPart, relevance: RelevancePart };

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export function Model({ state, theme }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(stage);
  const info = methodOf(state.selection.method);
  state.panel.figure = () => ({ query: rowOf(state), sinks: state.selection.sinks, ...choiceOf(state) });
  return html`
    <div class="hs-model">
      <div class="hs-row"><${MethodChoices} state=${state} /></div>
      <div class="hs-model-parts" ref=${stage}>
        <${KINDS[info.kind]} key=${info.kind} ...${{ state, theme, space, info }} />
      </div>
      ${state.base.explains === "nothing" && html`<p class="hs-doubt">${UNEXPLAINED}</p>`}
    </div>
  `;
}

/** The row that is shown: the chosen token, else the last of a causal tower, else the first. */
function rowOf(state) {
  const { token, direction } = state.selection;
  const { kind, queries } = state.site();
  if (token !== null && direction === "out") return Math.min(token, queries - 1);
  return kind === "causal" ? queries - 1 : 0;
}

const placeOf = (state, { of }) => ({
  site: of === "tower" ? state.group()[0] : state.selection.site,
  head: of === "head" ? state.selection.head : "mean",
});

/** One method's part, with what is said of the method. */
const Part = ({ info, note = "", dim = false, reason = "", children = null, after = null }) => html`
  <section class=${dim ? "hs-section hs-dim" : "hs-section"}>
    ${info.kind !== "map" && html`<h3 class="hs-heading">${info.title}</h3>`}
    <p class="hs-sentence">${info.shows}${note && ` ${capital(note)}.`}</p>
    ${reason && html`<p class="hs-sentence">${reason}</p>`}
    ${children}
    <p class="hs-doubt">${`What it does not prove: ${info.doubt}`}</p>
    ${after}
  </section>
`;

function MapPart({ state, theme, space, info }) {
  const { site, head, sinks: hides } = state.selection;
  const asked = { ...placeOf(state, info), method: info.name };
  const { answer, ...reply } = useAnswer(state, "all layers", pathOf("model", asked), "Computing");
  const place = `${state.trace} ${asked.site} ${asked.head} ${info.name}`;
  const newest = useNewest(Boolean(answer), () => ({ map: answer, place }), [answer, place]);
  const row = rowOf(state);
  const { answer: values } = useAnswer(
    state,
    "row of layers",
    answer && pathOf("model_row", { ...asked, index: row }),
  );
  const [cell, setCell] = useState(/** @type {Cell | null} */ (null));
  const map = newest?.place === place && !reply.isRefused ? newest.map : null; // it stays until the next comes
  const sinks = useMemo(() => (map && hides !== "shown" ? restingOf(state, map) : null), [map, hides]);
  if (!map) return html`<${Part} ...${{ info, reason: reply.reason }} />`;
  const of = info.of === "head" ? [state.siteName(site), state.headName(head)] : [];
  const name = [...of, info.title].join(", ");
  const shares = (values?.values ?? []).map((value, key) => (sinks?.keys.includes(key) ? 0 : value));
  const sum = values?.sum ?? null;
  const hidden = sinks && legible(state.texts().key.labels[sinks.key]).trim();
  const said = [
    ...(sum === null ? [] : [`The row sums to ${number(sum)}.`]),
    ...(sinks
      ? [`“${hidden}” is hidden: ${(100 * sinks.share).toFixed(0)}\u00a0% of a row went there.`]
      : []),
    `Colours from 0 to ${number(topOf(map, sinks))}. ${moreIs(theme.mode)} = more.`,
  ].join(" ");
  return html`
    <${Part} ...${{ info, note: map.note, dim: !answer }}>
      <${MapOfLayers}
        ...${{ state, theme, space, map, name, row, sinks }}
        onPoint=${(next) => (isSame(cell, next) ? undefined : setCell(next))}
      />
      <${Row} ...${{ state, theme, values: shares, said: cell ? html`<${AtCell} ...${{ state, map, cell, sinks }} />` : said }} />
    <//>
  `;
}

const isSame = (a, b) => a?.query === b?.query && a?.key === b?.key;

function AtCell({ state, map: { shape, cells }, cell, sinks }) {
  const { query, key } = state.labels();
  const [rows, cols] = shape;
  const at = cellOf(cell.query, [0, query.length], rows) * cols + cellOf(cell.key, [0, key.length], cols);
  const isExact = rows === query.length && cols === key.length;
  const value = sinks?.keys.includes(cell.key) ? "hidden" : `${isExact ? "" : "up to "}${number(cells[at])}`;
  return html`<${Quoted} label=${query[cell.query]} />${" → "}<${Quoted} label=${key[cell.key]} />${`: ${value}`}`;
}

/** The token on which a map rests, where every cell is one token's. */
function restingOf(state, { cells, shape: [rows, cols] }) {
  const { queries, keys } = state.site();
  if (rows !== queries || cols !== keys) return null;
  const shares = sharesOf(cells, rows, cols); // of norms, whose rows have other sums than 1
  const resting = restingIn(shares, rows, cols);
  if (!resting) return null;
  const ofRows = Float32Array.from({ length: rows }, (_, query) => shares[query * cols + resting.key]);
  return { ...resting, keys: [resting.key], shares: ofRows };
}

function FlowPart({ state, theme, info }) {
  const asked = { ...placeOf(state, info), method: info.name, index: rowOf(state) };
  const { answer, reason } = useAnswer(state, "flow", pathOf("model_row", asked), "Computing");
  if (!answer) return html`<${Part} ...${{ info, reason }} />`;
  const { values, note } = answer;
  const said = `Colours from 0 to ${number(largest(values))}. ${moreIs(theme.mode)} = more.`;
  return html`<${Part} ...${{ info, note }}><${Row} ...${{ state, theme, values, said }} /><//>`;
}

/** The row of the chosen token, as a shaded text; below it what is said while no token is pointed at. */
function Row({ state, theme, values, said }) {
  const { query, key, one } = state.texts();
  const row = rowOf(state);
  const onChoose = (token) => state.select({ token, direction: "out" });
  const [pointed, setPointed] = useState("");
  const input = {
    text: key,
    values,
    label: "Tokens of the input",
    ...(one ? { onChoose, current: row } : {}),
  };
  const target = { text: query, values: [], label: "Tokens of the target", onChoose, current: row };
  const chips = useMemo(
    () =>
      (one ? [input] : [input, target]).map(
        (each) => html`<${Chips} ...${{ theme, ...each, onRead: setPointed }} />`,
      ),
    [theme, query.labels, key.labels, values.join(), row],
  );
  return html`
    <p class="hs-sentence">
      ${"Row of "}<${Quoted} label=${query.labels[row]} />${one ? ":" : " (choose another below):"}
    </p>
    ${chips}
    <p class="hs-read" aria-live="polite">${pointed || said}</p>
  `;
}

function RelevancePart({ state, theme, info }) {
  const { output } = state.selection;
  const path = pathOf("relevance", { method: info.name, output: output || undefined });
  const { answer, reason } = useAnswer(state, "relevance", path, "Computing");
  const [pointed, setPointed] = useState("");
  const texts = useMemo(() => answer && textsOf(state, answer), [answer]);
  const chips = useMemo(
    () => texts?.map((each) => html`<${Chips} ...${{ theme, ...each, onRead: setPointed }} />`),
    [theme, texts],
  );
  if (!answer) return html`<${Part} ...${{ info, reason }} />`;
  const signs = answer.values.some((value) => value < 0)
    ? `${theme.mode === "dark" ? "Orange" : "Brown"} speaks for the output, blue against it.`
    : `${moreIs(theme.mode)} = more.`;
  const test = html`<${Faithful} ...${{ state, method: info.name }} />`;
  return html`
    <${Part} ...${{ info, note: answer.note, after: test }}>
      <p class="hs-sentence">${`${explainedIn(answer)} ${number(answer.value)}:`}</p>
      ${chips}
      <p class="hs-read" aria-live="polite">${pointed || `${together(answer)} ${signs}`}</p>
    <//>
  `;
}

/** The texts that a relevance shades: the one that is read, and what is written where that is read too. */
function textsOf(state, { sites: [source, target], values, read }) {
  const of = (site) => state.base.texts[state.base.sites[site].query_text ?? 0];
  const input = { text: of(source), values, label: "Tokens of the input" };
  if (target === null || !read) return [input];
  return [input, { text: of(target), values: read, label: "Tokens of the target" }];
}
