// Inside a head: from the queries and keys to what the head writes, as pictures from left to right; then one
// query and key element by element, and the steps from their product to the weight.

import { markPainted } from "../../web/core/dom.js";
import { useAnswer, useNewest, useSpace } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { legible, nounOf, placeIn } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { figures } from "../../web/core/ticks.js";
import { Field, Menu, Quoted } from "../../web/parts/controls.js";
import { strongest } from "../../web/text/weights.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../../web/vendor/hooks.js";
import { Cells } from "./cells.js";
import { Split } from "./split.js";

/** @import {InsideHeader, Message} from "../../web/types" */
/** @import {Place} from "./cells.js" */

/**
 * A matrix or vector of the head.
 *
 * @typedef {object} Part
 * @property {string} name
 * @property {string} title
 * @property {string} arrow what leads on to the next one
 * @property {Float32Array | null} values
 * @property {number} across
 * @property {"query" | "key" | null} down what its rows are
 * @property {"key" | null} over what its columns are
 */

const SENTENCE =
  "What this head computes, from left to right: the query times every key, the softmax over the scores, the weighted" +
  " sum of values, and what that adds to the layer’s output. Choose a row or a column to see its pair.";
const DOUBT =
  "This is one head of one layer: what it writes is added to what the others write, and later layers may use it or" +
  " not. A large product of two elements is no explanation yet: the elements have no meaning of their own.";
const ONE_HEAD = "One head is opened here: choose a head in place of the mean or the largest.";
const HINT = "Point at a cell to read its number; arrow keys move in a picture that has the focus.";
const [WIDE, TALL, VECTOR] = [150, 150, 32]; // pixels a matrix may take at a unit of 1, and cells in a row of a vector
const [LEAST, MOST] = [2, 14]; // of a cell
const NAMED = 3; // keys that are read out
/** @type {[string, string, Part["down"], Part["over"]][]} */
const FLOW = [
  ["q", "×", "query", null],
  ["k", "→", "key", null],
  ["products", "+ bias, mask →", "query", "key"],
  ["scores", "softmax →", "query", "key"],
  ["weights", "×", "query", "key"],
  ["v", "→", "key", null],
  ["output", "W_O →", "query", null],
  ["written", "", null, null],
];

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export function Head({ state, theme }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(stage);
  const { site, head } = state.selection;
  const isOne = typeof head === "number" && state.site().kind !== "joint";
  const { newest, pair, dim, reason } = useInside(state, isOne);
  const choose = (next) => {
    const { query, key } = { ...pair, ...next };
    if (query >= 0 && key >= 0) state.select({ token: query, partner: key, direction: "out" });
  };
  const names = [state.base.model, state.siteName(site), state.headName(head)].join(" · ");
  state.panel.figure = () => ({ ...pair });
  return html`
    <div ref=${stage}>
      <p class="hs-heading">${names}${pair && html`<${Pair} ...${{ state, pair }} />`}</p>
      <p class="hs-sentence">${isOne ? SENTENCE : ONE_HEAD}</p>
      ${isOne && html`<${Chosen} ...${{ state, pair, choose }} />`}
      <p class="hs-even" role="status">${reason}</p>
      ${newest && html`<${Opened} ...${{ state, theme, unit: space.unit, newest, dim, choose }} />`}
      <p class="hs-doubt">${DOUBT}</p>
    </div>
  `;
}

/** The newest answer, and the pair: the chosen one, or the one that the server opens with. */
function useInside(state, isAsked) {
  const { site, head, token, partner, direction } = state.selection;
  const [query, key] = direction === "in" ? [partner, token] : [token, partner];
  const path = pathOf("inside", { site, head, query: query ?? undefined, key: key ?? undefined });
  const { answer, reason, isRefused } = useAnswer(state, "inside", isAsked ? path : null, "Computing");
  const newest = useNewest(Boolean(answer), () => opened(answer), [answer]);
  const isGone = !isAsked || isRefused || (!answer && !state.remote);
  return {
    newest: isGone ? null : newest,
    dim: !answer,
    reason,
    pair: answer && newest ? { query: newest.header.query, key: newest.header.key } : null,
  };
}

/** The numbers of an answer, by name; of the pair they come last. */
function opened(/** @type {Message} */ { header: { inside }, area }) {
  const header = /** @type {InsideHeader} */ (inside);
  const numbers = new Map(
    Object.entries(header.numbers).map(([name, { shape, at }]) => {
      const values = new Float32Array(area.buffer, area.byteOffset + at, shape[0] * shape[1]);
      return [name, { values, across: shape[1] }];
    }),
  );
  return { header, numbers };
}

const Pair = ({ state, pair: { query, key } }) => {
  const labels = state.labels();
  return html`
    ${" · "}<${Quoted} label=${labels.query[query]} />${` (${query}) → `}
    <${Quoted} label=${labels.key[key]} />${` (${key})`}
  `;
};

/** Menus of the query and the key. */
function Chosen({ state, pair, choose }) {
  const texts = state.texts();
  const menu = (axis, what) => {
    const text = texts[axis];
    const name = `${axis}: the ${nounOf(text)} ${what}`;
    const labels = text.labels.map((label, i) => `${i} ${legible(label)}`);
    const onChoose = (index) => choose({ [axis]: index });
    const menuProps = { name, title: name, labels, index: pair?.[axis] ?? -1, onChoose };
    return html`<${Field} name=${axis}><${Menu} ...${menuProps} /><//>`;
  };
  return useMemo(
    () => html`<div class="hs-row">${menu("query", "that attends")}${menu("key", "attended to")}</div>`,
    [texts.query, texts.key, pair?.query, pair?.key],
  );
}

function Opened({ state, theme, unit, newest: { header, numbers }, dim, choose }) {
  const [pointed, setPointed] = useState(/** @type {{part: Part, at: Place} | null} */ (null));
  const parts = useMemo(() => partsOf(header, numbers), [header]);
  const point = pointed && [...parts.flow, ...parts.strips].includes(pointed.part) ? pointed : null;
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (section.current) markPainted(section.current);
  }, [header, theme]);
  const { query, key } = state.texts();
  const indexOf = (text, { index }) => placeIn(text, index);
  const chooseAt = ({ down, over }, { row, col }) => {
    const { tokens } = header;
    const next = down === "query" ? { query: indexOf(query, tokens.query[row]) } : {};
    const keyAt = down === "key" ? row : over ? col : null;
    choose(keyAt === null ? next : { ...next, key: indexOf(key, tokens.key[keyAt]) });
  };
  const panel = (part) => html`
    <${Panel}
      ...${{ part, header, theme, unit }}
      at=${(point?.part === part && point?.at) || null}
      onPoint=${(at) => setPointed(at && { part, at })}
      onChoose=${(at) => part.down && chooseAt(part, at)}
    />
  `;
  return html`
    <div class=${dim ? "hs-dim" : ""} ref=${section}>
      <div class="hs-flow">${parts.flow.map(panel)}</div>
      <p class="hs-check hs-stage-summary"><${Summary} ...${{ header, numbers }} /></p>
      <div class="hs-flow">${parts.strips.map(panel)}</div>
      <p class=${point ? "hs-read" : "hs-read hs-muted"} aria-live="polite">
        ${point ? html`<${Words} ...${{ header, ...point }} />` : HINT}
      </p>
      <ol class="hs-steps" aria-label="From the product to the weight">
        ${header.steps.map(
          ({ name, value, how }) => html`
            <li class="hs-step">
              <span class="hs-step-name">${name}</span>
              <b class="hs-step-value">${figures(value)}</b>
              <span class="hs-step-how">${how}</span>
            </li>
          `,
        )}
      </ol>
      <ul class="hs-applied">
        ${header.applied.map((words) => html`<li>${words}</li>`)}
      </ul>
      <${Split} ...${{ state, pair: header }} />
    </div>
  `;
}

/** The matrices in their order, and the vectors of the pair. */
function partsOf({ titles, missing }, numbers) {
  const flow = FLOW.map(([name, arrow, down, over]) => {
    const title = titles[name];
    const matrix = numbers.get(name) ?? { values: null, across: 0 };
    return {
      name,
      title: matrix.values ? title : `${title}: ${missing[name]}`,
      arrow,
      down,
      over,
      ...matrix,
    };
  });
  const strips = [...numbers.keys()].filter((name) => !FLOW.some(([of]) => of === name));
  const last = strips.length - 1;
  return {
    flow,
    strips: strips.map((name, i) => {
      const sum = i === last ? `; sum ${figures(numbers.get(name).values.reduce((a, b) => a + b, 0))}` : "";
      const title = name.replace(/ of the pair$/, "") + sum;
      return { name, title, arrow: "", down: null, over: null, ...numbers.get(name) };
    }),
  };
}

/** One matrix; a vector is laid in rows. */
function Panel({ part, header, theme, unit, at, onPoint, onChoose }) {
  const { name, title, arrow, values, down, over } = part;
  if (!values) return html`<div class="hs-panel-box"><p class="hs-panel-title">${title}</p></div>`;
  const across = acrossOf(part);
  const rows = Math.ceil(values.length / across);
  const size = (room, count) => Math.min(MOST, Math.max(LEAST, room / count)) * unit;
  const [row, key] = header.at;
  const shape = `${values.length / part.across} × ${part.across}`;
  const marked = { row: down === "query" ? row : down === "key" ? key : null, col: over && key };
  return html`
    <div class="hs-panel-box">
      <div>
        <p class="hs-panel-title">${`${title} · ${shape}`}</p>
        <${Cells}
          ...${{ theme, values, across, marked, at, onPoint, onChoose }}
          wide=${size(WIDE, across)}
          tall=${size(TALL, rows)}
          isShare=${name === "weights"}
          label=${`${title}, ${shape.replace("×", "by")} numbers`}
        />
      </div>
      <span class="hs-panel-arrow" aria-hidden="true">${arrow}</span>
    </div>
  `;
}

const acrossOf = ({ down, across }) => (down ? across : Math.min(across, VECTOR));

/** The number of a cell. */
function Words({ header: { tokens }, part, at: { row, col } }) {
  const { title, values, down, over } = part;
  const flat = row * acrossOf(part) + col;
  const value = figures(values[flat]);
  const of = down && html`<${Token} ...${tokens[down][row]} />`;
  const at = over ? html`${" × "}<${Token} ...${tokens[over][col]} />` : `element ${down ? col : flat}`;
  return html`${title}: ${of}${down && !over && ", "}${at}: ${value === "−∞" ? "masked" : value}`;
}

const Token = ({ index, label }) => html`<${Quoted} label=${label} />${` (${index})`}`;

/** What the query attends to most, and how long the vectors are that come of it. */
function Summary({ header: { tokens, at, of, missing }, numbers }) {
  const rowOf = (name, row) => {
    const { values, across } = numbers.get(name);
    return values.subarray(row * across, (row + 1) * across);
  };
  const best = strongest(rowOf("weights", at[0]), NAMED).map(
    ([place, value], i) => html`${i ? ", " : ""}<${Token} ...${tokens.key[place]} />${` ${figures(value)}`}`,
  );
  const length = (name, row) => figures(Math.hypot(...rowOf(name, row)));
  const adds = numbers.has("written")
    ? `through W_O it adds a vector of length ${length("written", 0)}`
    : `what it adds to the layer cannot be told: ${missing.written}`;
  const few = tokens.key.length < of ? ` The ${tokens.key.length} strongest of ${of} keys are drawn.` : "";
  return html`
    <${Token} ...${tokens.query[at[0]]} />${" attends most to "}${best}
    ${`. The weighted sum of values has length ${length("output", at[0])}; ${adds}.${few}`}
  `;
}
