// Choosing a number of heads, and what is said about it: its formula, source and range.

import { element, setText } from "../core/dom.js";
import { signed } from "../core/ticks.js";

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
  /**
   * @param {Measure[]} all
   * @param {string} key
   */
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

/** @param {Pick<Measure, "low" | "high">} measure */
function rangeText({ low, high }) {
  /** @param {number} bound */
  const text = (bound) => signed(bound, Number.isInteger(bound) ? 0 : 3);
  if (low !== null && high !== null) return `${text(low)} to ${text(high)}`;
  if (low !== null) return `${text(low)} or more`;
  return high === null ? "" : `${text(high)} or less`;
}

/**
 * Everything that is told about a measure, in one line.
 *
 * @param {Omit<Measure, "key" | "title">} measure
 */
export function aboutOf(measure) {
  const { about, formula, source } = measure;
  const range = rangeText(measure);
  const parts = [about, formula && `Formula: ${formula}`, range && `Range: ${range}`];
  return [...parts, source && `Source: ${source}`]
    .filter(Boolean)
    .map((part) => part.replace(/\.?$/, "."))
    .join(" ");
}

/** A part that opens: what the chosen measures are. */
export function withFormulas() {
  const list = element("dl", "hs-formulas");
  const summary = element("summary", "", {}, "What these numbers are");
  const box = element("details", "hs-formulas-box", {}, summary, list);
  /** @param {Measure[]} measures */
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
