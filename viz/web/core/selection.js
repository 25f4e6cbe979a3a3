// Selections of a view, as pure functions: conversion between the current trace (site index) and a
// link (layer, kind, tower, module, part), which is independent of the trace.

import { START as OPTIONS } from "./declared.js";

/** @import {Address, Base, Direction, Form, ImageBase, LinkSelection, RunBase, Scale, Selection, Site} from "../types" */

/** @typedef {Base | ImageBase | RunBase} AnyBase */

/** @type {Address} of an empty link */
const HERE = { layer: 0, attention: null, tower: null, module: null, part: null };

/** @type {Selection} before there is a trace */
export const START = { site: 0, head: 0, ...OPTIONS };
const NAMES = /** @type {(keyof Selection)[]} */ (Object.keys(START));

/**
 * @param {Selection} a
 * @param {Selection} b
 */
export const same = (a, b) => NAMES.every((name) => a[name] === b[name]);

/**
 * A selection clamped to the trace: a head out of range becomes the last one; a token out of range
 * is unpinned.
 *
 * @param {{sites: Site[]}} base
 * @param {Selection} selection
 * @returns {Selection}
 */
export function clamp(base, selection) {
  const index = Math.min(Math.max(0, selection.site), base.sites.length - 1);
  const site = base.sites[index];
  let { head } = selection;
  if (typeof head === "number") head = Math.min(Math.max(0, head), site.heads - 1);
  const [mine, other] =
    selection.direction === "in" ? [site.keys, site.queries] : [site.queries, site.keys];
  /** @type {(token: number | null, size: number) => number | null} */
  const inside = (token, size) => (token !== null && token >= 0 && token < size ? token : null);
  const [token, partner] = [inside(selection.token, mine), inside(selection.partner, other)];
  return { ...selection, site: index, head, token, partner };
}

/**
 * The site at an address: the nearest layer of the kind and tower; of several calls in it that of
 * the module and part. What no site has is ignored: the first kind, tower, module or part counts.
 *
 * @param {Site[]} sites
 * @param {Partial<Address> & Pick<Address, "layer" | "attention" | "tower">} address
 */
export function siteFor(sites, { layer, attention, tower, module = null, part = null }) {
  let indexes = [...sites.keys()];
  const narrow = (value, wanted) => {
    const values = indexes.map((index) => value(sites[index]) ?? null);
    const chosen = values.includes(wanted) ? wanted : values[0];
    indexes = indexes.filter((_, i) => values[i] === chosen);
  };
  narrow((site) => site.kind, attention);
  narrow((site) => site.tower, tower || null);
  const distance = (index) => Math.abs(sites[index].layer - layer);
  const nearest = indexes.reduce((best, index) => (distance(index) < distance(best) ? index : best));
  narrow((site) => site.layer, sites[nearest].layer);
  narrow((site) => site.module, module || null);
  narrow((site) => site.part, part);
  return indexes[0];
}

/**
 * The address of a site; module and part only where the rest would choose another one.
 *
 * @param {Site[]} sites
 * @param {number} site
 * @returns {Address}
 */
export function addressOf(sites, site) {
  const { layer, kind, tower = null, module = null, part = null } = sites[site];
  const short = { ...HERE, layer, attention: kind, tower };
  const [first, second] = [short, { ...short, module }];
  return [first, second].find((each) => siteFor(sites, each) === site) ?? { ...second, part };
}

/**
 * What a view knows of scales and forms; the first is the default.
 *
 * @typedef {{scales?: readonly Scale[], forms?: readonly Form[]}} Known
 */

/**
 * @param {{sites: Site[]}} base
 * @param {Partial<LinkSelection>} link
 * @param {Known} [known]
 * @returns {Selection}
 */
export function fromLink(base, link, { scales = ["fixed", "own"], forms = [] } = {}) {
  const { layer, attention, tower, module, part, ...rest } = { ...HERE, ...START, ...link };
  const { head, token, direction, scale, shown: several, partner } = rest;
  return clamp(base, {
    ...rest,
    site: siteFor(base.sites, { layer, attention, tower, module, part }),
    head: typeof head === "number" || head === "mean" || head === "max" ? head : 0,
    token: typeof token === "number" ? token : null,
    direction: direction === "in" ? "in" : "out",
    scale: scales.includes(scale) ? scale : scales[0],
    form: forms.includes(rest.form) ? rest.form : (forms[0] ?? rest.form),
    shown: typeof several === "string" ? several : "",
    partner: typeof partner === "number" ? partner : null,
  });
}

/**
 * The layer and head that a link asks for and a trace does not have, with those shown instead, as a
 * sentence; "" if all are there.
 *
 * @param {{sites: Site[]}} base
 * @param {Partial<LinkSelection>} link
 * @param {Pick<Selection, "site" | "head">} selection
 */
export function missing({ sites }, link, { site, head }) {
  const { layer, heads } = sites[site];
  const asked = [
    (link.layer ?? layer) === layer ? "" : `layer ${link.layer}`,
    typeof link.head === "number" && link.head >= heads ? `head ${link.head}` : "",
  ].filter(Boolean);
  return asked.length ? `There is no ${asked.join(" and no ")}: layer ${layer}, head ${head} is shown` : "";
}

/**
 * @param {{sites: Site[]}} base
 * @param {Selection} selection
 * @returns {LinkSelection}
 */
export function toLink(base, { site, ...selection }) {
  return { ...addressOf(base.sites, site), ...selection };
}

/**
 * The part of a selection that is kept while a trace has no such layer or head.
 *
 * @param {Partial<LinkSelection>} link
 * @returns {Partial<LinkSelection>}
 */
export const siteAndHead = ({ layer, attention, tower, module, part, head }) => ({
  ...{ layer, attention, tower, module, part },
  head,
});

/** What a link names even where it is the default: another default would change what it shows. */
const NAMED = ["layer", "head"];

/**
 * The selection's part of a link: layer and head, and what differs from the defaults, of the names
 * that these have.
 *
 * @param {Record<string, unknown>} selection
 * @param {Record<string, unknown>} defaults
 * @returns {Record<string, string>}
 */
export function queryOf(selection, defaults) {
  /** @type {Record<string, string>} */
  const query = {};
  for (const name of Object.keys(defaults)) {
    const value = selection[name];
    const known = value !== undefined && value !== null && value !== "";
    if (known && (NAMED.includes(name) || value !== defaults[name])) query[name] = String(value);
  }
  return query;
}

/**
 * The selection of one trace in the next one: the site and head that were chosen, and the
 * same original token where tokens are joined to words. A token of another text is unpinned: one
 * that was edited at this token or before it. So is any token of a question about other pictures.
 *
 * @param {AnyBase} before
 * @param {AnyBase} after
 * @param {Selection} selection
 * @param {Partial<LinkSelection>} [wanted] address and head, which `before` may not have
 * @param {Known} [known]
 */
export function carry(before, after, selection, wanted, known) {
  const { direction } = selection;
  const moved = fromLink(after, { ...toLink(before, selection), ...wanted }, known);
  if (!("texts" in before) || !("texts" in after)) return moved;
  /** @type {(place: number | null, side: Direction) => number | null} */
  const carried = (place, side) => {
    const old = textOf(before, selection.site, side);
    const text = textOf(after, moved.site, side);
    if (place === null) return null;
    const original = originOf(old, place);
    const now = text.labels.findIndex((_, index) => tokensOf(text, index).includes(original));
    return now >= 0 && beginAlike(old, place, text, now) ? now : null;
  };
  const token = carried(selection.token, direction);
  const partner = carried(selection.partner, direction === "in" ? "out" : "in");
  const isAsBefore = (side) =>
    textOf(before, selection.site, side).labels.join("\n") ===
    textOf(after, moved.site, side).labels.join("\n");
  const rows = isAsBefore("out") ? moved.rows : "";
  const columns = isAsBefore("in") ? moved.columns : "";
  const output = carriedOutput(before, after, selection.output);
  const unpictured = isOfOtherPictures(before, after) ? NOT_OF_OTHERS : {};
  return clamp(after, { ...moved, token, partner, rows, columns, output, ...unpictured });
}

const ON_PICTURES = /** @type {const} */ (["rival", "relevant", "generic", "area", "mask", "moment", "captions", "caption"]);

/**
 * The choices about the pictures beside a text that differ from the defaults.
 *
 * @param {Selection} selection
 * @returns {Record<string, string | number>}
 */
export const onPictures = (selection) =>
  Object.fromEntries(ON_PICTURES.filter((name) => selection[name] !== START[name]).map((name) => [name, selection[name]]));

/** What is chosen on some pictures, and means nothing on others. */
export const NOT_OF_OTHERS = { token: null, partner: null, area: "", rival: "", relevant: /** @type {const} */ ("no"), generic: "", moment: 0 };

/**
 * Whether both traces are of questions, and of different pictures.
 *
 * @param {AnyBase} before
 * @param {AnyBase} after
 */
export const isOfOtherPictures = (before, after) =>
  "texts" in before && "texts" in after && Boolean(before.asked && after.asked) && before.pictured !== after.pictured;

/**
 * What is explained in one trace, in the next one: a token, class or second text by its name, where
 * such can be explained there too; the position of a token belongs to one model and text. Whether
 * the next model has the name, its server tells.
 *
 * @param {AnyBase} before
 * @param {AnyBase} after
 * @param {string} output
 */
export function carriedOutput(before, after, output) {
  if (!("texts" in before) || !("texts" in after)) return output;
  if (before.explains !== after.explains) return "";
  if (after.explains !== "tokens" || !PLACED.test(output)) return output;
  const text = (/** @type {Base} */ base) => base.texts.map((each) => beginning(each, Infinity)).join("\n");
  return before.model === after.model && text(before) === text(after) ? output : "";
}

const PLACED = /.@\d+$|^\d+\.\d+$/s; // a token at a position

/** Whether two texts are the same as far as a token of each. */
function beginAlike(before, place, after, now) {
  if (before.special.includes(place) !== after.special.includes(now)) return false;
  const [a, b] = [beginning(before, place), beginning(after, now)];
  return a.startsWith(b) || b.startsWith(a); // a token may be the beginning of a word
}

/** A text as far as a token, without blanks and without the tokenizer's own tokens. */
const beginning = ({ labels, special }, last) =>
  labels
    .slice(0, last + 1)
    .filter((_, index) => !special.includes(index))
    .join("")
    .replace(/\s+/g, "");

function textOf(base, index, direction) {
  const site = base.sites[index];
  return base.texts[(direction === "in" ? site.key_text : site.query_text) ?? 0];
}

const tokensOf = (text, index) => text.origins?.[index] ?? [index];

/** The last original token of a word. */
const originOf = (text, index) => tokensOf(text, index).at(-1) ?? index;
