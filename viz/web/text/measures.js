// Choosing a number of heads, and what is said about it: its formula, source and range.

import { aboutOf } from "../core/about.js";
import { element, setText } from "../core/dom.js";

/** @import {Measure} from "../types" */
/** @import {HeadNumbers, Spot} from "./numbers.js" */

/**
 * A labelled select of measures.
 *
 * @param {string} label
 * @param {string} name for assistive technology
 * @param {(key: string) => void} choose
 */
export function measureSelect(label, name, choose) {
  const select = element("select", "hs-select", { "aria-label": name });
  const box = element("label", "hs-measure", {}, element("span", "hs-label", {}, label), select);
  /** @type {Measure[]} */
  let measures = [];
  select.onchange = () => choose(measures[select.selectedIndex].key);
  function show(all, key) {
    if (all.length !== measures.length || all.some((each, i) => each.key !== measures[i].key))
      select.replaceChildren(...all.map(({ title }) => element("option", "", {}, title)));
    measures = all;
    const index = all.findIndex((each) => each.key === key);
    select.selectedIndex = index;
    select.title = all[index] ? aboutOf(all[index]) : "";
  }
  return { box, select, show, title: () => measures[select.selectedIndex]?.title ?? "" };
}

/** A part that opens: what the chosen measures are. */
export function withFormulas() {
  const list = element("dl", "hs-formulas");
  const summary = element("summary", "", {}, "What these numbers are");
  const box = element("details", "hs-formulas-box", {}, summary, list);
  function show(measures) {
    list.replaceChildren(
      ...measures.flatMap((measure) => [
        element("dt", "", {}, measure.title),
        element("dd", "", {}, aboutOf(measure)),
      ]),
    );
  }
  return { box, show };
}

/**
 * For how many heads a measure is not defined, and why; "" if it is for all.
 *
 * @param {HeadNumbers} numbers
 * @param {string} key
 * @param {Spot[]} spots
 */
export function undefinedNote(numbers, key, spots) {
  const count = numbers.values(key, spots).filter((value) => value === null).length;
  if (!count) return "";
  const of = count === spots.length ? "any head here" : `${count} of ${spots.length} heads`;
  const reason = numbers.reason(key);
  return `${numbers.measure(key).title} is not defined for ${of}${reason ? `: ${reason}` : ""}.`;
}

/**
 * A line that is shown only when it says something.
 *
 * @param {HTMLElement} line
 * @param {string} text
 */
export function showLine(line, text) {
  setText(line, text);
  line.hidden = !text;
}
