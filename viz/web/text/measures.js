// Choosing a number of heads, and what is said about it: its formula, source and range.

import { aboutOf } from "../core/about.js";
import { element, setText } from "../core/dom.js";

/** @import {Measure} from "../types" */

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
