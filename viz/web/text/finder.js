// The heads with the most or the least of a number, as a ranked list with bars.

import { aboutOf } from "../core/about.js";
import { changes } from "../core/changes.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { rangeOf } from "../core/ticks.js";
import { measureSelect, showLine, undefinedNote } from "./measures.js";
import { ranked, rankOf, shareOf } from "./numbers.js";

/** @import {ManyHeads, Panel} from "../types" */
/** @import {Spot} from "./numbers.js" */

const LISTED = 10;
const FIRST = ["previous token"]; // the first ranking

/**
 * @param {ManyHeads} state
 * @param {HTMLElement} parent
 */
export function finder(state, parent) {
  const order = element("select", "hs-select", { "aria-label": "Most or least" });
  order.append(element("option", "", {}, "the most"), element("option", "", {}, "the least"));
  const measure = measureSelect("", "Number to rank by", (key) => choose(key, isLeast()));
  const words = element("span", "hs-finder-words", {}, "The ten heads with");
  const list = element("ol", "hs-finder-list");
  const about = element("p", "hs-doubt");
  const missing = element("p", "hs-doubt");
  const wait = element("p", "hs-sentence", { role: "status" });
  const box = element(
    "details",
    "hs-finder",
    {},
    element("summary", "", {}, "Find heads"),
    element("div", "hs-row", {}, words, order, measure.box),
    ...[wait, list, missing, about],
  );
  parent.append(box);
  let opened = false; // by the user, or with a view that has the numbers anyway
  const listed = changes();
  const marked = changes();
  const switched = changes();
  /** @type {Spot[]} */
  let hits = [];

  order.onchange = () => choose(keyOf(state.numbers), order.selectedIndex === 1);
  box.ontoggle = () => {
    if (box.open !== opened) {
      opened = box.open;
      state.changed();
    }
  };
  const isLeast = () => rankOf(state.selection.rank).least;

  function keyOf(numbers) {
    const { key } = rankOf(state.selection.rank);
    return !numbers || numbers.has(key) ? key : numbers.firstDefined(FIRST, state.spots());
  }

  const choose = (key, least) => state.select({ rank: `${least ? "-" : ""}${key}` });

  function row(numbers, spot, key, share) {
    const name = `${state.siteName(spot.site)} · head ${spot.head}`;
    const line = element("span", "hs-bar-line", { "aria-hidden": "true" });
    line.style.setProperty("--share", `${100 * share}%`);
    const node = element(
      "button",
      "hs-finder-row",
      { type: "button" },
      element("span", "", {}, name),
      line,
      element("span", "hs-bar-number", {}, numbers.text(key, numbers.value(key, spot))),
    );
    node.title = numbers.sentence(spot) ?? "";
    node.onclick = () => state.select(spot);
    return element("li", "", {}, node);
  }

  function rank(numbers) {
    const { least } = rankOf(state.selection.rank);
    const key = keyOf(numbers);
    const spots = state.passing();
    const values = numbers.values(key, spots);
    const [low, high] = rangeOf(values) ?? [0, 1];
    hits = ranked(values, least).slice(0, LISTED).map((place) => spots[place]);
    const rows = hits.map((spot) =>
      row(numbers, spot, key, shareOf(numbers.value(key, spot) ?? low, [Math.min(low, 0), high])),
    );
    list.replaceChildren(...rows);
    measure.show(numbers.measures, key);
    order.selectedIndex = least ? 1 : 0;
    const many = Math.min(LISTED, spots.length);
    setText(words, many < LISTED ? "The heads with" : "The ten heads with");
    showLine(missing, undefinedNote(numbers, key, spots));
    setText(about, aboutOf(numbers.measure(key)));
  }

  function mark() {
    const { site, head } = state.selection;
    [...list.children].forEach((item, i) => {
      const chosen = hits[i].site === site && hits[i].head === head;
      setAttribute(/** @type {Element} */ (item.firstChild), "aria-pressed", String(chosen));
    });
  }

  return {
    /** The heads that are listed; null while the finder is closed. */
    listed: () => (opened && state.numbers ? hits : null),
    /** @type {Panel["render"]} */
    render() {
      const { site, head, overview, rank: by } = state.selection;
      if (switched(overview) && overview === "scatter") opened = box.open = true;
      if (!opened) return;
      const numbers = state.askNumbers();
      showLine(
        wait,
        numbers ? "" : state.waitingFor("numbers", "Computing the numbers of every head"),
      );
      if (!numbers) return;
      if (listed(numbers, by, state.group()[0], state.conditions)) rank(numbers);
      if (marked(hits, site, head)) mark();
    },
  };
}
