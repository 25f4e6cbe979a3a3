// All heads as a table of their numbers: sorted by one of them, filtered by any. Only the rows in
// sight are elements.

import { aboutOf } from "../core/about.js";
import { changes } from "../core/changes.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { rangeOf } from "../core/ticks.js";
import { conditionOf, nameOfSpot, ranked, rankOf, shareOf } from "./numbers.js";
import { inSight } from "./strands.js";

/** @import {ManyHeads, Panel, Range} from "../types" */
/** @import {HeadNumbers, Spot} from "./numbers.js" */

const ROW = 26; // pixels at a unit of 1
const TALLEST = 0.6; // of the window
const BESIDE = 6; // rows that are there above and below the window
const HEAD = "head"; // the order of layers and heads, instead of a measure

/**
 * @param {ManyHeads} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function table(state, parent) {
  const names = element("tr");
  const filters = element("tr", "hs-filters");
  const body = element("tbody");
  const [above, below] = [element("tbody", "hs-space"), element("tbody", "hs-space")];
  const grid = element(
    "table",
    "hs-heads-table",
    {},
    ...[element("thead", "", {}, names, filters), above, body, below],
  );
  const scroller = element(
    "div",
    "hs-scroller hs-table-scroller",
    { tabindex: "0", role: "group", "aria-label": "Numbers of all heads. Arrow keys choose one." },
    grid,
  );
  const count = element("p", "hs-read", { "aria-live": "polite" });
  const wait = element("p", "hs-sentence", { role: "status" });
  const box = element(
    "div",
    "hs-table-view",
    {},
    element(
      "p",
      "hs-sentence",
      {},
      "One row per head. Choose a column’s name to sort by it; filter with “> 0.3” or “0.2 – 0.5”.",
    ),
    ...[wait, scroller, count],
  );
  parent.append(box);

  /** @type {HeadNumbers | null} */
  let numbers = null;
  /** @type {(Spot & {layer: number, siteName: string})[]} all heads of `numbers`, maybe of the network before */
  let spots = [];
  /** @type {number[]} places of the heads shown, in order */
  let order = [];
  /** @type {Map<string, Range>} */
  const ranges = new Map();
  let row = ROW;
  let there = "";
  const built = changes();
  const sorted = changes();
  const revealed = changes();

  scroller.onscroll = () => draw();
  scroller.onkeydown = (event) => {
    if (event.target !== scroller || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(scroller.clientHeight / row) - 3);
    const at = order.indexOf(chosenPlace());
    /** @type {Record<string, number>} */
    const places = {
      ...{ ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page },
      ...{ Home: 0, End: order.length - 1 },
    };
    if (!(event.key in places) || !order.length) return;
    event.preventDefault();
    const to = Math.min(Math.max(0, places[event.key]), order.length - 1);
    const { site, head } = spots[order[to]];
    state.select({ site, head });
  };

  const chosenPlace = () => {
    const { site, head } = state.selection;
    return spots.findIndex((spot) => spot.site === site && spot.head === head);
  };

  // ---- the names of the columns

  function build(of) {
    const columns = [{ key: HEAD, title: "Layer · head", about: "In the order of layers." }, ...of.measures.slice(1)];
    names.replaceChildren(
      ...columns.map((column) => {
        const node = element("button", "hs-sort", { type: "button" }, column.title);
        node.title = "formula" in column ? aboutOf(column) : column.about;
        node.onclick = () => sortBy(column.key);
        const cell = element("th", "", { scope: "col" }, node);
        cell.dataset.key = column.key;
        return cell;
      }),
    );
    filters.replaceChildren(...of.measures.map(({ key, title }) => element("td", "", {}, entry(key, title))));
    for (const { key } of of.measures) {
      const range = rangeOf(of.values(key, spots));
      if (range) ranges.set(key, [Math.min(0, range[0]), range[1]]);
    }
  }

  /** Where a condition on a number is typed. */
  function entry(key, title) {
    const node = element("input", "hs-filter", {
      ...{ type: "text", "aria-label": `Filter by ${title}`, placeholder: "any" },
      ...{ maxlength: "24", spellcheck: "false", autocomplete: "off" },
    });
    node.dataset.key = key;
    node.oninput = () => state.filter({ [key]: node.value });
    return node;
  }

  /** Shows the conditions, which may have been chosen in another view. */
  function showConditions() {
    for (const node of filters.querySelectorAll("input")) {
      const text = state.conditions.get(node.dataset.key ?? "") ?? "";
      if (text !== node.value.trim()) node.value = text;
      setAttribute(node, "aria-invalid", String(text !== "" && !conditionOf(text)));
    }
  }

  function sortBy(key) {
    const now = rankOf(state.selection.rank);
    const most = now.key === key && !now.least;
    state.select({ rank: key === HEAD ? "" : `${most ? "-" : ""}${key}` });
  }

  // ---- rows

  /** Which heads are shown, in which order. */
  function arrange() {
    if (!numbers) return;
    const all = numbers;
    const { key, least } = rankOf(state.selection.rank);
    const kept = new Set(state.passing().map(nameOfSpot));
    const passes = (place) => kept.has(nameOfSpot(spots[place]));
    const places = [...spots.keys()];
    if (all.has(key)) {
      const values = all.values(key, spots);
      const with_ = ranked(values, least);
      order = [...with_, ...places.filter((place) => values[place] === null)].filter(passes);
    } else order = places.filter(passes);
    const by = all.has(key) ? key : HEAD;
    for (const cell of names.children) {
      const isSorted = /** @type {HTMLElement} */ (cell).dataset.key === by;
      setAttribute(cell, "aria-sort", isSorted ? (least || by === HEAD ? "ascending" : "descending") : "none");
    }
    there = "";
    grid.setAttribute("aria-rowcount", String(order.length + 2));
    const part = order.length === spots.length ? "" : ` of ${spots.length}`;
    setText(count, order.length ? `${order.length}${part} heads` : "No head meets these conditions.");
  }

  function rowOf(place) {
    const of = /** @type {HeadNumbers} */ (numbers);
    const spot = spots[place];
    const node = element("tr");
    node.dataset.place = String(place);
    node.title = of.sentence(spot) ?? "";
    node.onclick = () => state.select({ site: spot.site, head: spot.head });
    const name = element("th", "", { scope: "row" }, `${spot.layer} · ${spot.head}`);
    name.setAttribute("aria-label", `${spot.siteName}, head ${spot.head}`);
    node.append(name, ...of.measures.slice(1).map(({ key }) => cellOf(of, key, spot)));
    return node;
  }

  function cellOf(of, key, spot) {
    const value = of.value(key, spot);
    const cell = element("td", "", {}, of.text(key, value));
    const range = ranges.get(key);
    if (value !== null && range) cell.style.setProperty("--share", `${100 * shareOf(value, range)}%`);
    return cell;
  }

  /** The rows in sight. */
  function draw() {
    const head = grid.tHead?.offsetHeight ?? 0;
    const height = Math.max(row, scroller.clientHeight - head);
    const [first, last] = inSight(scroller.scrollTop, height, row, order.length);
    const from = Math.max(0, first - BESIDE);
    const to = Math.min(order.length, last + BESIDE);
    const now = `${from}-${to}`;
    if (now !== there) {
      there = now;
      above.style.height = `${from * row}px`;
      below.style.height = `${(order.length - to) * row}px`;
      body.replaceChildren(...order.slice(from, to).map(rowOf));
      [...body.children].forEach((each, i) =>
        each.setAttribute("aria-rowindex", String(from + i + 3)),
      );
    }
    const chosen = String(chosenPlace());
    for (const each of body.children)
      setAttribute(each, "aria-selected", String(/** @type {HTMLElement} */ (each).dataset.place === chosen));
  }

  /** Scrolls the chosen head into view. */
  function reveal() {
    const at = order.indexOf(chosenPlace());
    if (at < 0) return;
    const head = grid.tHead?.offsetHeight ?? 0;
    const height = scroller.clientHeight - head;
    if (at * row < scroller.scrollTop) scroller.scrollTop = at * row;
    else if ((at + 1) * row > scroller.scrollTop + height)
      scroller.scrollTop = (at + 1) * row - height;
  }

  return {
    render() {
      const { site, head, overview, rank } = state.selection;
      box.hidden = overview !== "table";
      if (box.hidden) return;
      const loaded = state.askNumbers();
      wait.hidden = Boolean(loaded);
      scroller.classList.toggle("hs-dim", !loaded);
      if (!loaded) {
        setText(wait, state.waitingFor("numbers", "Computing the numbers of every head"));
        if (!numbers) scroller.hidden = true;
        return;
      }
      scroller.hidden = false;
      const { fontSize } = getComputedStyle(box);
      if (built(loaded, state.group()[0], fontSize)) {
        numbers = loaded;
        spots = state.spots().map((spot) => ({ ...spot, layer: state.site(spot.site).layer, siteName: state.siteName(spot.site) }));
        row = Math.round((ROW * parseFloat(fontSize)) / 16);
        box.style.setProperty("--row", `${row}px`);
        scroller.style.maxHeight = `${Math.round(innerHeight * TALLEST)}px`;
        build(loaded);
        sorted(null);
      }
      if (sorted(numbers, rank, spots, state.conditions)) {
        arrange();
        showConditions();
        revealed(null);
      }
      draw();
      if (!revealed(site, head)) return;
      reveal();
      draw();
    },
  };
}
