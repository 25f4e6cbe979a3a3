// What the matrix shows, as two menus for the toolbar.

import { menu } from "../core/bar.js";
import { element, setAttribute } from "../core/dom.js";

/** @import {Selection, Sinks} from "../types" */
/** @import {TextState} from "./state.js" */

/**
 * @typedef {object} Choice
 * @property {string} label
 * @property {Partial<Selection>} change
 */

/** @type {Choice[]} */
const VALUES = [
  { label: "Weights", change: { values: "weights" } },
  { label: "Log weights", change: { values: "weights", scale: "log" } },
  { label: "Scores", change: { values: "scores" } },
];
const VALUES_TITLE = "Weights after the softmax, or the scores before it";
const LOG = 1;
const SCORES = 2;

/** @type {{label: string, sinks: Sinks}[]} */
const SINKS = [
  { label: "Sinks shown", sinks: "shown" },
  { label: "Sinks hidden", sinks: "hidden" },
  { label: "Sinks hidden, rows sum to 1", sinks: "renormalised" },
];

/** @param {TextState} state */
export function choicesOf(state) {
  const values = menu(
    "Values",
    VALUES_TITLE,
    VALUES.map(({ label }) => label),
    (index) => {
      const { scale } = state.selection;
      state.select({ scale: scale === "log" ? "fixed" : scale, ...VALUES[index].change });
    },
  );
  const sinks = menu(
    "Sinks",
    "The first token, special tokens and those on which a head of this layer rests: they take weight when a head finds nothing to look at",
    SINKS.map(({ label }) => label),
    (index) => state.select({ sinks: SINKS[index].sinks }),
  );
  const box = element("div", "hs-values", {}, values, sinks);
  return {
    box,
    render() {
      const { difference } = state.view.props;
      for (const select of [values, sinks]) select.disabled = Boolean(difference);
      const { values: chosen } = state.variant();
      const log = state.selection.scale === "log";
      values.selectedIndex = chosen === "scores" ? SCORES : log ? LOG : 0;
      const has = state.hasScores();
      values.options[SCORES].disabled = !has;
      setAttribute(values, "title", has ? VALUES_TITLE : "Only pairs of single tokens have scores");
      sinks.selectedIndex = SINKS.findIndex((each) => each.sinks === state.selection.sinks);
    },
  };
}
