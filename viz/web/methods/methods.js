// The methods of the whole-model form in words and numbers, as they are declared and chosen.

import { METHODS, START } from "../core/declared.js";

/** @import {Fusion, MethodInfo} from "../types" */

/**
 * How a method makes the heads of a layer one, and the share of the smallest weights it leaves out.
 *
 * @typedef {{fusion: Fusion, discard: number}} Fused
 */

/**
 * @param {string} name
 * @returns {MethodInfo}
 */
export const methodOf = (name) =>
  METHODS.find((each) => each.name === name) ?? methodOf(START.method);

/** The first relevance, which explains outputs of any kind. */
export const RELEVANCE = METHODS.filter(({ kind }) => kind === "relevance")[0].name;

/** @type {Record<Fusion, string>} */
const FUSED = {
  mean: "their mean weight",
  max: "their largest weight in each cell",
  min: "their smallest weight in each cell",
};

/** @type {Record<Fusion, string>} */
const SHORT = { mean: "", max: ", largest of heads", min: ", smallest of heads" };

/**
 * The method's name, with how the heads are fused where that is not by their mean.
 *
 * @param {MethodInfo} info
 * @param {Fused} fused
 */
export function nameOf({ title, fused }, { fusion, discard }) {
  const left = fused.includes("discard") && discard ? `, ${inPercent(discard)} left out` : "";
  return `${title}${fused.includes("fusion") ? SHORT[fusion] : ""}${left}`;
}

/**
 * What a method shows, with how the heads were fused.
 *
 * @param {MethodInfo} info
 * @param {Fused} selection
 */
export function showsOf({ shows, fused }, { fusion, discard }) {
  const parts = [shows];
  if (fused.includes("fusion")) parts.push(`A layer’s heads are fused by ${FUSED[fusion]}.`);
  if (fused.includes("discard") && discard)
    parts.push(`The smallest ${inPercent(discard)} of each layer’s weights above 0 are left out.`);
  return parts.join(" ");
}

/**
 * The sum of a relevance over all tokens, hidden ones included, and what no token gets.
 *
 * @param {{total: number, hidden: number, unassigned: number | null}} relevance
 */
export function together({ total, hidden, unassigned }) {
  const parts = [`All tokens together ${number(total)}`];
  if (hidden) parts.push(`${number(hidden)} of it on hidden tokens`);
  if (unassigned !== null) parts.push(`${number(unassigned)} unassigned`);
  return `${parts.join(", ")}.`;
}

/** @param {number} value */
export const number = (value) =>
  value === 0 ? "0" : Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toExponential(1);

/**
 * How the heads are fused, as parameters of a request; empty for the defaults.
 *
 * @param {MethodInfo} info
 * @param {Fused} selection
 * @returns {Record<string, string | number>}
 */
export const fusedQueryOf = ({ fused }, { fusion, discard }) => ({
  ...(fused.includes("fusion") && fusion !== "mean" ? { fusion } : {}),
  ...(fused.includes("discard") && discard ? { discard } : {}),
});

/** @param {number} share */
export const inPercent = (share) => `${Number((100 * share).toFixed(1))}\u00a0%`;

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

/**
 * Where exact numbers differ from attributions by more than half of the larger.
 *
 * @param {(number | null)[][]} attribution
 * @param {(number | null)[][]} exact null where no pass was made
 */
export function disagreement(attribution, exact) {
  const pairs = exact.flatMap((row, i) => row.map((known, j) => [attribution[i][j] ?? 0, known]));
  const far = pairs.filter(([rough, known]) => known !== null && Math.abs((rough ?? 0) - known) > Math.max(Math.abs(rough ?? 0), Math.abs(known)) / 2);
  return `${far.length ? `in ${far.length}` : "nowhere"} the two differ by more than half of the larger.`;
}
