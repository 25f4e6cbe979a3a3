// The methods of the whole-model form in words and numbers, as they are declared and chosen.

import { METHODS, START } from "../core/declared.js";

/** @import {MethodInfo} from "../types" */

/**
 * @param {string} name
 * @returns {MethodInfo}
 */
export const methodOf = (name) =>
  METHODS.find((each) => each.name === name) ?? methodOf(START.method);

/** The first relevance, which explains outputs of any kind. */
export const RELEVANCE = METHODS.filter(({ kind }) => kind === "relevance")[0].name;

/**
 * The sum of a relevance over all tokens, and what no token gets.
 *
 * @param {{total: number, unassigned: number | null}} relevance
 */
export function together({ total, unassigned }) {
  const parts = [`All tokens together ${number(total)}`];
  if (unassigned !== null) parts.push(`${number(unassigned)} unassigned`);
  return `${parts.join(", ")}.`;
}

/** @param {number} value */
export const number = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toExponential(1);

/**
 * The largest distance from 0, at least a little.
 *
 * @param {ArrayLike<number>} values
 */
export const largest = (values) => Math.max(1e-12, ...Array.from(values, Math.abs));
