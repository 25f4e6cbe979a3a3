// Every head of the chosen layer at once: where the token in question looks, or who looks at it.

import { element, setAttribute, setText } from "../core/dom.js";
import { nearlyUniform } from "../core/flatness.js";
import { partsOf } from "./rows.js";
import { planOf, tilesOf } from "./tiles.js";
import { nameOf, theToken } from "./words.js";

/** @import {ImageState, Rows} from "./state.js" */
/** @import {Plan} from "./tiles.js" */

/** @type {Record<string, string>} */
const PARTS = { class: "the class token", registers: "the registers", patches: "the patches" };
const LIST = new Intl.ListFormat("en");
/** @type {Record<string, number>} */
const MOVES = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 * @param {HTMLElement[]} [controls] beside the heading
 */
export function headsOf(state, parent, controls = []) {
  const sentence = element("p", "hs-sentence");
  const { tiles, render: draw } = tilesOf(state);
  const stage = element("div", "hs-stage", {}, tiles);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const heading = element("h3", "hs-heading");
  const even = element("p", "hs-even");
  const top = element("div", "hs-row", {}, heading, ...controls);
  const section = element("section", "hs-section", {}, top, sentence, stage, read, even);
  parent.append(section);
  /** @type {{wide: number, unit: number, family: string} | null} */
  let space = null;
  /** @type {Plan | null} */
  let plan = null;

  /** The head at a point, and the token where it is on a patch. */
  function at(event) {
    if (!plan) return null;
    const box = tiles.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const [col, row] = [Math.floor(x / plan.stepX), Math.floor(y / plan.stepY)];
    const index = row * plan.across + col;
    if (col < 0 || row < 0 || col >= plan.across || index >= plan.count) return null;
    const [inX, inY] = [x - plan.places[index][0], y - plan.places[index][1] - plan.label];
    const inside = inX < plan.wide && inY >= 0 && inY < plan.tall;
    if (!inside) return { index, token: null };
    const [rows, cols] = state.base.grid;
    const patch = Math.floor((inY / plan.tall) * rows) * cols + Math.floor((inX / plan.wide) * cols);
    return { index, token: state.base.prefix + patch };
  }

  tiles.onpointermove = (event) => {
    const spot = at(event);
    tiles.style.cursor = spot ? "pointer" : "";
    state.readAt(spot && spot.token !== null ? { head: spot.index, token: spot.token } : null);
  };
  tiles.onpointerleave = () => state.readAt(null);
  tiles.onclick = (event) => {
    const spot = at(event);
    if (spot) state.select({ head: state.heads()[spot.index] });
  };
  tiles.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !plan) return;
    const names = state.heads();
    const now = names.indexOf(state.selection.head);
    /** @type {Record<string, number>} */
    const steps = { ...MOVES, ArrowUp: -plan.across, ArrowDown: plan.across };
    /** @type {Record<string, number>} */
    const ends = { Home: 0, End: names.length - 1 };
    const next = ends[event.key] ?? now + (steps[event.key] ?? NaN);
    if (Number.isNaN(next)) return;
    event.preventDefault();
    if (next >= 0 && next < names.length) state.select({ head: names[next] });
  };

  function measure() {
    const { fontSize, fontFamily: family } = getComputedStyle(section);
    space = { wide: stage.clientWidth, unit: parseFloat(fontSize) / 16, family };
  }

  function words() {
    const { title } = state.view.props;
    setText(heading, title ? `${title}: every head` : "Every head of this layer");
    const inward = state.selection.direction === "in";
    const name = theToken(state, state.token());
    const lead = inward ? `Who looks at ${name}` : `Where ${name} looks`;
    const much = inward ? "comes from" : "goes to";
    const rows = state.rows();
    setText(even, rows ? evenOf(rows) : "");
    const parts = Object.values(partsOf(state.base)).filter(Boolean).map((part) => PARTS[part] ?? part);
    const bars = parts.length > 1 ? ` Bars: how much ${much} ${LIST.format(parts)}.` : "";
    if (state.difference) setText(sentence, `${lead}: what the edits changed, in each head.`);
    else setText(sentence, `${lead}, in each head.${bars}`);
    const spot = state.read;
    read.classList.toggle("hs-muted", !spot);
    if (!rows || !spot)
      setText(read, "Point at a patch here to read its weight; click a head to see it large.");
    else setText(read, reading(rows, spot, inward));
    setAttribute(
      tiles,
      "aria-label",
      `${title ? `${title}: ` : ""}${state.site().heads} heads of ${state.siteName()} as small pictures, then their mean and ` +
        `maximum${state.base.note ? `; ${state.base.note}` : ""}. Chosen: ${state.headName()}. ` +
        "Arrow keys choose another one.",
    );
  }

  /** Which heads give all patches about the same, as a sentence; "" if none does. */
  function evenOf({ heads }) {
    if (state.selection.paint === "mask" || state.difference) return "";
    const flat = state.heads().filter((_, i) => nearlyUniform(heads[i], state.base.prefix));
    return flat.length ? `Nearly uniform, so faint: ${flat.join(", ")}.` : "";
  }

  /** @type {(rows: Rows, spot: {head: number, token: number}, inward: boolean) => string} */
  function reading(rows, spot, inward) {
    const value = rows.heads[spot.head][state.cellOf(spot.token, rows.factor)];
    const sign = rows.exact ? "" : rows.factor > 1 ? "≲ " : "≈ ";
    const pair = [state.token(), spot.token].map((token) => nameOf(state, token));
    if (inward) pair.reverse();
    const head = state.heads()[spot.head];
    const who = typeof head === "number" ? `Head ${head}` : `${head} of heads`;
    return `${who}: ${pair[0]} → ${pair[1]}: ${sign}${value.toFixed(rows.exact ? 5 : 4)}`;
  }

  function render(theme) {
    stage.classList.toggle("hs-dim", !state.complete);
    const { bitmap } = state;
    const rows = state.complete ? state.rows() : null;
    if (bitmap && rows && space?.wide) {
      const count = state.heads().length;
      plan = planOf(space.wide, bitmap, count, state.base.grid, space.unit);
      draw(plan, bitmap, rows, theme, space.family);
    }
    words();
  }

  /** The single head at a point; null for none. */
  function headAt(event) {
    const spot = at(event);
    const head = spot && state.heads()[spot.index];
    return typeof head === "number" ? head : null;
  }

  return { measure, render, tiles, headAt };
}
