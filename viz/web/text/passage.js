// A running text of shaded tokens that can be scrolled and walked through: only the rows in sight are
// elements. The panel below the picture has one, the form "Text" one for each head.

import { changes } from "../core/changes.js";
import { parse, textOn } from "../core/colours.js";
import { element, setAttribute } from "../core/dom.js";
import { legible } from "../core/labels.js";
import { fontOf, widthOf } from "../painting/lettering.js";
import { rowOf, rowsInSight, wrapped } from "./wrap.js";

/** @import {Text} from "../types" */
/** @import {Rgb} from "../core/colours.js" */
/** @import {Range} from "./span.js" */
/** @import {Row} from "./wrap.js" */

const NAME_MS = 300; // after which the names for assistive technology are set
const BESIDE = 2; // rows that are there above and below the window
const GAP = 4; // pixels between tokens
const PADDING = 4; // of the box
const CHIP = { padding: 14, least: 24, row: 36, coarse: 42, line: 21 }; // pixels at a unit of 1

/**
 * What the user does in a passage.
 *
 * @typedef {object} Actions
 * @property {(index: number | null) => void} point
 * @property {(index: number) => void} choose
 * @property {() => void} scrolled
 */

/**
 * How the tokens look.
 *
 * @typedef {object} Look
 * @property {(index: number) => Rgb | null} ground colour of a token; null for none
 * @property {(index: number) => string} describe what is said of a token besides its text
 * @property {number | null} current the token that is asked about
 * @property {number | null} chosen
 * @property {number | null} over
 * @property {ReadonlySet<number>} matches
 * @property {ReadonlySet<number>} marked
 * @property {Range | null} brushed
 */

/**
 * @param {string} className
 * @param {string} name
 * @param {Actions} on
 */
export function passage(className, name, on) {
  const list = element("div", "hs-rows-of-tokens");
  const box = element("div", className, {}, list);
  /** @type {Text} */
  let text = { labels: [], special: [] };
  /** @type {ReadonlySet<number>} */
  let special = new Set();
  let picks = false; // whether tokens can be chosen
  /** @type {Row[]} */
  let rows = [];
  /** @type {HTMLElement[]} of the tokens in sight, in order */
  let chips = [];
  /** @type {WeakMap<HTMLElement, string>} background as last set */
  const colours = new WeakMap();
  /** @type {Look | null} */
  let look = null;
  let ink = ""; // colour of the text
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let naming;
  const arranged = changes();
  const built = changes();

  const indexOf = (event) => {
    const target = /** @type {Element} */ (event.target).closest("[data-index]");
    return target instanceof HTMLElement ? Number(target.dataset.index) : null;
  };
  box.onscroll = on.scrolled;
  box.onpointerover = (event) => on.point(indexOf(event));
  box.onpointerleave = () => on.point(null);
  box.onclick = (event) => {
    const index = indexOf(event);
    if (picks && index !== null) on.choose(index);
  };
  box.onkeydown = (event) => {
    const index = indexOf(event);
    if (index === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const [first, last] = [rows[0].from, rows[rows.length - 1].to - 1];
    /** @type {Record<string, number>} */
    const places = {
      ...{ ArrowRight: index + 1, ArrowDown: index + 1, ArrowLeft: index - 1, ArrowUp: index - 1 },
      ...{ Home: first, End: last },
    };
    if (!(event.key in places)) return;
    event.preventDefault();
    const to = Math.min(Math.max(first, places[event.key]), last);
    on.choose(to);
    reveal(to);
    build();
    chips.find((each) => Number(each.dataset.index) === to)?.focus();
  };

  /** Breaks a text into rows; a text that is arranged already stays. */
  function arrange(next, range, options) {
    const { unit, family, tallest } = options;
    const width = box.clientWidth - 2 * PADDING;
    const what = [next, ...range, width, unit, family, tallest, options.picks];
    if (width <= 0 || !arranged(...what)) return;
    text = next;
    special = new Set(text.special);
    picks = options.picks;
    const coarse = matchMedia("(pointer: coarse)").matches;
    const [plain, small] = [fontOf(unit, family, 16), `italic ${fontOf(unit, family, 12)}`];
    const least = coarse ? 36 : CHIP.least;
    const widths = text.labels.slice(...range).map((label, i) => {
      const font = special.has(range[0] + i) ? small : plain;
      return Math.max(least, widthOf(font, legible(label)) + CHIP.padding + 0.5);
    });
    const row = (coarse ? CHIP.coarse : CHIP.row) * unit;
    rows = wrapped(widths, width, { gap: GAP, row, line: CHIP.line * unit }, range[0]);
    const end = rows.length ? rows[rows.length - 1].top + rows[rows.length - 1].height : 0;
    list.style.height = `${end}px`;
    box.style.height = `${Math.min(end, Math.max(3 * row, tallest)) + 2 * PADDING}px`;
    if (picks) setAttribute(box, "role", "radiogroup");
    else box.removeAttribute("role");
    if (picks) setAttribute(box, "aria-label", name);
    else box.removeAttribute("aria-label");
    built(null);
  }

  /** Makes the elements of the rows in sight. */
  function build() {
    const [first, last] = rowsInSight(rows, box.scrollTop, box.clientHeight);
    const [from, to] = [Math.max(0, first - BESIDE), Math.min(rows.length, last + BESIDE)];
    if (!built(rows, from, to)) return;
    const focused = chips.find((each) => each.matches(":focus"))?.dataset.index;
    chips = [];
    list.replaceChildren(
      ...rows.slice(from, to).map(({ from: start, to: end, top, height }) => {
        const chipsOfRow = Array.from({ length: end - start }, (_, i) => chip(start + i));
        chips.push(...chipsOfRow);
        const line = element("div", "hs-row-of-tokens", {}, ...chipsOfRow);
        line.style.top = `${top}px`;
        line.style.height = `${height - GAP}px`;
        return line;
      }),
    );
    if (focused !== undefined)
      chips.find((each) => each.dataset.index === focused)?.focus({ preventScroll: true });
    if (look) colour(look);
  }

  function chip(index) {
    const label = legible(text.labels[index]);
    const node = picks
      ? element("button", "hs-chip", { type: "button", dir: "auto", role: "radio" }, label)
      : element("span", "hs-chip", { dir: "auto" }, label);
    node.classList.toggle("hs-special", special.has(index));
    node.dataset.index = String(index);
    node.setAttribute("aria-posinset", String(index - rows[0].from + 1));
    node.setAttribute("aria-setsize", String(rows[rows.length - 1].to - rows[0].from));
    return node;
  }

  function render(next, theme) {
    look = next;
    ink = theme.text;
    build();
    colour(next);
    clearTimeout(naming);
    naming = setTimeout(nameAll, NAME_MS);
  }
  function colour({ ground, current, chosen, over, matches, marked, brushed }) {
    const reachable = rowOf(rows, chosen ?? -1) < 0 ? rows[0]?.from : chosen;
    for (const node of chips) {
      const index = Number(node.dataset.index);
      const rgb = ground(index);
      const fill = rgb ? `rgb(${rgb.join()})` : "";
      if (colours.get(node) !== fill + ink) {
        colours.set(node, fill + ink);
        node.style.background = fill;
        node.style.color = rgb ? textOn(rgb, ink) : "";
      }
      node.classList.toggle("hs-current", index === current);
      node.classList.toggle("hs-over", index === over);
      node.classList.toggle("hs-match", matches.has(index));
      node.classList.toggle("hs-marked", marked.has(index));
      const inside = brushed && index >= brushed[0] && index < brushed[1];
      node.classList.toggle("hs-brushed-chip", Boolean(inside));
      if (!picks) continue;
      setAttribute(node, "aria-checked", String(index === chosen));
      node.tabIndex = index === reachable ? 0 : -1;
    }
  }

  /** The accessible name of each token; it can wait until the picture is there. */
  function nameAll() {
    for (const node of chips) {
      const index = Number(node.dataset.index);
      const description = look?.describe(index);
      const words = `${node.textContent}, position ${index}${description ? `, ${description}` : ""}`;
      setAttribute(node, "aria-label", words);
    }
  }

  /** Scrolls the box, never the page. */
  function reveal(index) {
    const row = rows[rowOf(rows, index)];
    if (!row) return;
    if (row.top < box.scrollTop || row.top + row.height > box.scrollTop + box.clientHeight)
      box.scrollTop = row.top - box.clientHeight / 3;
  }

  return { box, arrange, render, reveal, indexOf, destroy: () => clearTimeout(naming) };
}

/**
 * A colour between the ground (0) and a full one (1).
 *
 * @param {string} ground
 * @param {string} full
 * @param {number} share
 * @returns {Rgb}
 */
export function mixed(ground, full, share) {
  const [from, to] = [parse(ground) ?? [255, 255, 255], parse(full) ?? [0, 0, 0]];
  const part = Math.min(1, Math.max(0, share));
  const mix = (i) => Math.round(from[i] + (to[i] - from[i]) * part);
  return [mix(0), mix(1), mix(2)];
}
