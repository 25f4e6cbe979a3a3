// What is said of a number of heads, or of a method: its formula, range and source.

import { signed } from "./ticks.js";

/** @import {Measure} from "../types" */

function rangeText({ low, high }) {
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
