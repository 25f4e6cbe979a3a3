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

/**
 * The colour of a number from −top to top: the diverging scale where any is negative, else the
 * sequential one; proportional to the square root.
 *
 * @param {{ramp: Uint8Array, bothWays: Uint8Array}} theme
 * @param {number} value
 * @param {number} top
 * @param {boolean} signed
 * @returns {[number, number, number]}
 */
export function colourOf({ ramp, bothWays }, value, top, signed) {
  const share = Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value) / top));
  const place = signed ? 127.5 * (1 + share) : 255 * Math.max(0, share);
  const i = 3 * Math.min(255, Math.max(0, Math.round(place)));
  const table = signed ? bothWays : ramp;
  return [table[i], table[i + 1], table[i + 2]];
}
