// Edits of the pass as text, as models/edits/text.py reads it.

/** @import {Head, Site} from "../types" */

/** @typedef {Pick<Site, "layer" | "kind" | "tower" | "module" | "part">} Place */
/** @typedef {number | string | boolean | null | number[]} Argument */

const FIELDS = /** @type {const} */ (["kind", "tower", "module", "part"]);

/**
 * What names a site beside its layer, where the layer has several.
 *
 * @param {readonly Place[]} sites
 * @param {Place} site
 * @returns {Record<string, Argument>}
 */
export function addressOf(sites, site) {
  /** @type {Record<string, Argument>} */
  const named = {};
  let rivals = sites.filter(({ layer, kind }) => layer === site.layer && kind !== "joint");
  for (const field of FIELDS) {
    const value = site[field] ?? null;
    if (value === null || rivals.every((other) => (other[field] ?? null) === value)) continue;
    named[field] = value;
    rivals = rivals.filter((other) => other[field] === value);
  }
  return named;
}

function written(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return `'${value}'`;
  if (!Array.isArray(value)) return String(value);
  return value.length === 1 ? String(value[0]) : `(${value.join(", ")})`;
}

/**
 * A call such as Ablate(3, 5, how='mean').
 *
 * @param {string} name
 * @param {Argument[]} given by their place
 * @param {Record<string, Argument>} [named]
 */
export function callOf(name, given, named = {}) {
  const words = Object.entries(named).map(([key, value]) => `${key}=${written(value)}`);
  return `${name}(${[...given.map(written), ...words].join(", ")})`;
}

/**
 * The edit that switches a head off; null where no single head is chosen.
 *
 * @param {readonly Place[]} sites
 * @param {Place} site
 * @param {Head} head
 */
export function headOff(sites, site, head) {
  if (typeof head !== "number" || site.kind === "joint") return null;
  return callOf("Ablate", [site.layer, head], addressOf(sites, site));
}
