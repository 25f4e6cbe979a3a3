// What a patch looks at, in groups that every picture has: itself, near it, farther away, and tokens without a place.

import { html } from "../core/html.js";
import { isClass } from "../image/state.js";
import { percentOf, ReadingCard } from "./reading.js";

/** @import {PatchState, Rows} from "../image/state.js" */

const NEAR = 2; // patches each way
const DOUBT = "A weight shows where information may come from, not that the network saw what is there.";
const LIST = { itself: "itself", near: `within ${NEAR} patches`, far: "farther away" };

/** The groups, each with its share of the weight and the share that an even row would give it. */
function groupsOf({ grid, labels, token, values }) {
  const { shape, places } = grid;
  const [prefix] = places;
  const sum = Array.from(values).reduce((a, b) => a + b, 0) || 1;
  /** @type {Map<string, {value: number, count: number}>} */
  const groups = new Map();
  const placeOf = (/** @type {number} */ at) => [
    Math.floor((at - prefix) / shape[1]),
    (at - prefix) % shape[1],
  ];
  const [row, col] = placeOf(token);
  for (let key = 0; key < values.length; key++) {
    const group = groups.get(nameAt(key)) ?? { value: 0, count: 0 };
    groups.set(nameAt(key), { value: group.value + values[key], count: group.count + 1 });
  }
  return [...groups].map(([label, { value, count }]) => ({
    label,
    value: value / sum,
    even: count / values.length,
  }));

  /** @param {number} key */
  function nameAt(key) {
    if (key === token) return LIST.itself;
    if (key < prefix) return isClass(labels[key]) ? "[CLS]" : labels[key].replace(/\s*\d+$/, "s");
    if (token < prefix) return "the patches";
    const [down, across] = placeOf(key);
    return Math.max(Math.abs(down - row), Math.abs(across - col)) <= NEAR ? LIST.near : LIST.far;
  }
}

const groupsIn = (state, rows) =>
  groupsOf({
    ...{ grid: state.grid(), labels: state.labels().key },
    ...{ token: state.token(), values: rows.whole[state.headIndex] },
  }).sort((a, b) => b.value - a.value);

/** @param {PatchState} state @param {Rows | null} rows */
export function headlineOf(state, rows) {
  if (!rows) return "";
  if (state.difference) return "What the edits changed, patch by patch.";
  const token = state.token();
  const isPlace = token >= state.prefix;
  const who = isPlace ? "This patch" : "The class token";
  const [most, next] = groupsIn(state, rows);
  const share = `${(100 * most.value).toFixed(0)} %`;
  if (state.axis === "key")
    return `${who} is read ${most.label === LIST.far ? "from far away" : `most by ${most.label}`}: ${share}.`;
  if (most.label === LIST.far && next && most.value < most.even)
    return `${who} looks around itself more than an even share.`;
  const where = {
    [LIST.itself]: "stays on itself",
    [LIST.near]: "looks at its neighbours",
    [LIST.far]: "looks far away",
  };
  const what =
    where[most.label] ?? (most.label === "the patches" ? "looks at the picture" : `rests on ${most.label}`);
  return `${who} ${what}: ${share} of its attention.`;
}

/** @param {{state: PatchState, rows: Rows | null}} props */
export function PatchReading({ state, rows }) {
  if (!rows || state.difference) return html`<h3 class="hs-card-title">…</h3>`;
  const groups = groupsIn(state, rows);
  const isIn = state.axis === "key";
  const bars = groups.map(({ label, value, even }) => ({ label, value, even, text: percentOf(value) }));
  const name = state.token() >= state.prefix ? "This patch" : "The class token";
  const turn = () => state.select({ direction: isIn ? "out" : "in" });
  const near = groups.find(({ label }) => label === LIST.near);
  const sentence =
    near && near.even
      ? `Near patches get ${(near.value / near.even).toFixed(1)} times an even share.`
      : `Point at the picture: every head answers.`;
  return html`<${ReadingCard}
    title=${`${name} ${isIn ? "is read by" : "looks at"}`}
    turned=${isIn ? `What does ${state.nameOf(state.token())} look at?` : "Who looks at it?"}
    doubt=${`${groups.length > 1 ? "The tick is an even share. " : ""}${DOUBT}`}
    ...${{ onTurn: turn, rows: bars, sentence }}
  />`;
}
