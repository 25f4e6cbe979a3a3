// The numbers of every head: their values, the ranks of heads, how a number is written, and what is said of it.

import { signed } from "./ticks.js";

/** @import {Measure, NumbersAnswer, Range, Site} from "../types" */

/** @typedef {{site: number, head: number}} Spot one head of one site */

/** The layer of a head, as if it were one of its numbers. */
const LAYER = "layer";
const DIGITS = 4; // of a number, before and after the point; after it at most so many

export class HeadNumbers {
  /** @param {NumbersAnswer} answer @param {Site[]} sites */
  constructor(answer, sites) {
    this.answer = answer;
    this.sites = sites;
    /** @type {Measure[]} */
    this.measures = [
      {
        ...{ key: LAYER, title: "Layer", formula: "", source: "", low: 0, high: null },
        about: "The network’s own number of the block.",
      },
      ...answer.measures,
    ];
    /** @type {Map<string, number>} */
    this.digits = new Map();
  }

  /** The measure with this key; the layer if there is none. @param {string} key */
  measure(key) {
    return this.measures.find((each) => each.key === key) ?? this.measures[0];
  }

  /**
   * The first of these measures that is defined for any of these heads; else the first that is.
   *
   * @param {readonly string[]} keys
   * @param {Spot[]} spots
   * @param {string} [but] another one than this
   */
  firstDefined(keys, spots, but) {
    const all = [...keys.filter((key) => this.has(key)), ...this.measures.slice(1).map(({ key }) => key)];
    const fits = (key) => key !== but && spots.some((spot) => this.value(key, spot) !== null);
    return all.find(fits) ?? LAYER;
  }

  /** @param {string} key */
  has(key) {
    return this.measures.some((each) => each.key === key);
  }

  /** A head's number; null where it is not defined. @param {string} key @param {Spot} spot */
  value(key, { site, head }) {
    if (key === LAYER) return this.sites[site].layer;
    return this.answer.values[key]?.[site]?.[head] ?? null;
  }

  /** @param {string} key @param {Spot[]} spots */
  values(key, spots) {
    return spots.map((spot) => this.value(key, spot));
  }

  /** @param {Spot} spot */
  sentence({ site, head }) {
    return this.answer.sentences[site]?.[head] ?? null;
  }

  /** Why a measure is not defined for some heads; "" where that is not told. @param {string} key */
  reason(key) {
    return this.answer.reasons[key] ?? "";
  }

  /**
   * A number of a measure, with as many digits as all others of it; "–" where there is none.
   *
   * @param {string} key
   * @param {number | null} value
   */
  text(key, value) {
    if (value === null) return "–";
    let digits = this.digits.get(key);
    if (digits === undefined) {
      digits = key === LAYER ? 0 : digitsOf(this.answer.values[key]?.flat() ?? []);
      this.digits.set(key, digits);
    }
    return signed(value, digits);
  }
}

/** Digits after the point with which values of one measure are written. @param {(number | null)[]} values */
export function digitsOf(values) {
  let most = 0;
  for (const value of values) if (value !== null) most = Math.max(most, Math.abs(value));
  if (values.every((value) => value === null || Number.isInteger(value))) return 0;
  const before = most < 1 ? 0 : Math.floor(Math.log10(most)) + 1;
  return Math.max(0, DIGITS - before);
}

/**
 * Every head of these sites, in order.
 *
 * @param {Site[]} sites
 * @param {number[]} group indexes of sites
 * @returns {Spot[]}
 */
export const spotsOf = (sites, group) =>
  group.flatMap((site) => Array.from({ length: sites[site].heads }, (_, head) => ({ site, head })));

/**
 * Places of the values in order of rank, the largest first; of equal ones the first comes first.
 * Those without a value are left out.
 *
 * @param {(number | null)[]} values
 * @param {boolean} [least] whether the smallest come first
 */
export function ranked(values, least = false) {
  const sign = least ? 1 : -1;
  return values
    .flatMap((value, place) => (value === null ? [] : [{ value, place }]))
    .sort((a, b) => sign * (a.value - b.value) || a.place - b.place)
    .map(({ place }) => place);
}

/** A rank as the link has it: the key of a measure, after "-" if the least come first. @param {string} rank */
export const rankOf = (rank) =>
  rank.startsWith("-") ? { key: rank.slice(1), least: true } : { key: rank, least: false };

/** A name of a head, for sets of them. @param {Spot} spot */
export const nameOfSpot = ({ site, head }) => `${site}/${head}`;

/** Where a value stands between the smallest and the largest, 0 to 1. @param {number} value @param {Range} range */
export const shareOf = (value, [low, high]) =>
  high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0;

function rangeText({ low, high }) {
  const text = (bound) => signed(bound, Number.isInteger(bound) ? 0 : 3);
  if (low !== null && high !== null) return `${text(low)} to ${text(high)}`;
  if (low !== null) return `${text(low)} or more`;
  return high === null ? "" : `${text(high)} or less`;
}

/** Everything that is told about a measure, in one line. @param {Omit<Measure, "key" | "title">} measure */
export function aboutOf(measure) {
  const { about, formula, source } = measure;
  const range = rangeText(measure);
  const parts = [about, formula && `Formula: ${formula}`, range && `Range: ${range}`];
  return [...parts, source && `Source: ${source}`]
    .filter(Boolean)
    .map((part) => part.replace(/\.?$/, "."))
    .join(" ");
}
