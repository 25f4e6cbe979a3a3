// What each layer would predict at each token: the likeliest token of a lens by layer and token, and the
// rank of the output in question by layer.

import { colourOf } from "../../web/core/colours.js";
import { markPainted, moreIs } from "../../web/core/dom.js";
import { useAnswer, useFrameSignal } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, legible } from "../../web/core/labels.js";
import { chosenOf } from "../../web/core/selection.js";
import { pathOf } from "../../web/core/sources.js";
import { probability } from "../../web/core/ticks.js";
import { OutputMenu } from "../../web/methods/choices.js";
import { CellTable } from "../../web/parts/cells.js";
import { Field, Menu, Pager, Quoted } from "../../web/parts/controls.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../../web/vendor/hooks.js";

/** @import {Lens as Page} from "../../web/types" */
/** @import {Place} from "../../web/parts/cells.js" */

const WINDOW = 24; // tokens in one answer, as in viz/api/why.py
const DOING = "Reading every layer";
const LENSES = {
  logit: {
    name: "Logit lens",
    sentence:
      "The state that leaves each layer, read through the final norm and the unembedding: the likeliest token" +
      " there, had the network ended. Choose one to follow it through the layers.",
    slow: "",
  },
  jacobian: {
    name: "Jacobian lens",
    sentence:
      "The state that leaves each layer, carried to the last one by the mean Jacobian of this text, then read" +
      " through the final norm and the unembedding. Choose a token to follow it through the layers.",
    slow: " A Jacobian of one short text is a rough mean; it takes as many backward passes as states are wide.",
  },
};
const DOUBT =
  "What it does not prove: a lens shows what a state would make the network write, not that later layers read" +
  " it so; early layers may hold the same in other directions.";

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export function Lens({ state, theme }) {
  const { lens } = state.selection;
  const { name, sentence, slow } = LENSES[lens];
  const { ranks, page, pending, reason, turn } = useLens(state);
  const [pointed, setPointed] = useState(/** @type {{page: Page | null, at: Place | null} | null} */ (null));
  const at = pointed?.page === page ? pointed?.at : null;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const names = /** @type {(keyof typeof LENSES)[]} */ (Object.keys(LENSES));
  const title = [`${state.base.model} · ${name}`, state.base.caveat].filter(Boolean).join(" — ");
  const summary = page && summaryOf(ranks, theme);
  const onPoint = (place) => setPointed({ page, at: place });
  const table = useMemo(
    () => page && html`<${Table} ...${{ state, theme, page, ranks, onPoint, box, dim: pending }} />`,
    [theme, page, ranks, pending],
  );
  useLayoutEffect(() => {
    if (!page || !box.current) return;
    reveal(box.current);
    markPainted(box.current);
  }, [theme, page, ranks]);
  state.panel.figure = () => chosenOf(state.selection, ["lens", "output"]);
  return html`
    <div class="hs-model">
      <p class="hs-heading">${title}</p>
      <p class="hs-sentence">${sentence}</p>
      <div class="hs-row">
        <${Field} name="lens">
          <${Menu}
            name="Lens"
            title="How a state is read"
            labels=${names.map((each) => LENSES[each].name)}
            index=${names.indexOf(lens)}
            onChoose=${(index) => state.select({ lens: names[index] })}
          />
        <//>
        <${OutputMenu} state=${state} />
        ${page && page.tokens > WINDOW && html`<${Pages} ...${{ page, turn }} />`}
      </div>
      <p class="hs-even" role="status">${reason}</p>
      ${table}
      ${
        page &&
        html`<p class="hs-read" aria-live="polite">${at ? html`<${Words} ...${{ page, at }} />` : summary}</p>`
      }
      <p class="hs-doubt">${DOUBT}${slow}</p>
    </div>
  `;
}

/** The ranks of the output in question, and the page of tokens that was turned to or has its position. */
function useLens(state) {
  const { lens, output } = state.selection;
  const how = lens === "logit" ? undefined : lens;
  const ask = pathOf("ranks", { output: output || undefined, lens: how });
  const { answer: ranks, newest, ...followed } = useAnswer(state, "ranks", ask, DOING);
  const turned = useFrameSignal(state, /** @type {any} */ (null));
  const isTurned = turned.value?.trace === state.trace && turned.value.ranks === newest;
  const start = ranks && Math.floor(ranks.position / WINDOW) * WINDOW;
  const first = isTurned ? turned.value.first : start;
  const path = first !== null && !followed.isRefused ? pathOf("lens", { first, lens: how }) : null;
  const { answer, newest: page, ...reply } = useAnswer(state, "lens", path, DOING);
  return {
    ranks: newest,
    page: followed.isRefused ? null : page,
    pending: !answer,
    reason: answer ? "" : followed.reason || reply.reason,
    turn(by) {
      if (page) turned.value = { trace: state.trace, ranks: newest, first: page.first + by * WINDOW };
    },
  };
}

function Pages({ page: { first, labels, tokens }, turn }) {
  const end = first + labels.length;
  const text = `tokens ${first}–${end - 1} of ${tokens}`;
  return html`<${Pager} noun="tokens" ...${{ text, isFirst: first === 0, isLast: end >= tokens, onTurn: turn }} />`;
}

function Table({ state, theme, page, ranks, onPoint, box, dim }) {
  const { first, labels, layers, names, ids, probabilities } = page;
  const isHere = (column) => first + column === ranks?.position;
  const columns = labels.map((label, i) => ({
    name: label,
    title: `${legible(label)} (${first + i})`,
    kind: isHere(i) ? "hs-cells-here" : "",
  }));
  const rows = layers.map((layer, row) => ({
    name: layer.replace("layer ", ""),
    label: layer,
    cells: names[row].map((token, column) => ({
      text: legible(token),
      label: wordsOf(page, { row, column }),
      ground: colourOf(theme, probabilities[row][column], 1),
      kind: isHere(column) && ids[row][column] === ranks?.id ? "hs-followed" : "",
    })),
    after: html`
      <td class="hs-cells-rank" title=${ranks && probability(ranks.probabilities[row])}>
        ${ranks?.ranks[row].toLocaleString("en")}
      </td>
    `,
  }));
  const choose = ({ row, column }) => {
    const token = tokenAt(state, first + column);
    state.select({
      output: `${first + column}.${ids[row][column]}`,
      ...(token === null ? {} : { token, direction: "out" }),
    });
  };
  const after = html`<th class="hs-cells-rank" scope="col">rank</th>`;
  const label = "Lens by layer and token";
  return html`<${CellTable} ...${{ label, theme, columns, rows, after, dim, box, onChoose: choose, onPoint }} />`;
}

/** The token of the view that holds a position of the output; null if it shows another text. */
function tokenAt(state, position) {
  const { query } = state.texts();
  const whole = query.origins ?? query.labels.map((_, i) => [i]);
  const { tower } = state.base.sites[state.base.sites.length - 1];
  if (state.site().tower !== tower) return null;
  const index = whole.findIndex((tokens) => tokens.includes(position));
  return index < 0 ? null : index;
}

function Words({ page, at: { row, column } }) {
  const { layers, labels, names, probabilities, first } = page;
  return html`${`${capital(layers[row])}, at `}<${Quoted} label=${labels[column]} />${` (${first + column}): `}
    <${Quoted} label=${names[row][column]} />${` ${probability(probabilities[row][column])}`}`;
}

const wordsOf = ({ layers, labels, names, probabilities, first }, { row, column }) =>
  `${capital(layers[row])}, at “${legible(labels[column])}” (${first + column}): ` +
  `“${legible(names[row][column])}” ${probability(probabilities[row][column])}`;

function summaryOf(ranks, theme) {
  const scale = `Colours from 0 to 1. ${moreIs(theme.mode)} = likelier.`;
  if (!ranks) return scale;
  const { layers, ranks: places, probabilities, name, position } = ranks;
  const end = places.length - 1;
  const since = places.findLastIndex((place) => place !== 1) + 1;
  const rank =
    since < end
      ? `rank 1 from ${layers[since]} on`
      : `rank ${places[end].toLocaleString("en")} in the output`;
  return `“${legible(name)}” at position ${position}: ${rank}, probability ${probability(probabilities[end])}. ${scale}`;
}

/** Scrolls the position of the output into sight. */
function reveal(scroller) {
  const cell = scroller.querySelector(".hs-cells-here");
  if (!cell) return;
  const beside = scroller.querySelector(".hs-cells-corner").offsetWidth;
  const [left, right] = [
    cell.offsetLeft - beside,
    cell.offsetLeft + 2 * cell.offsetWidth - scroller.clientWidth,
  ];
  if (scroller.scrollLeft > left) scroller.scrollLeft = left;
  else if (scroller.scrollLeft < right) scroller.scrollLeft = right;
}
