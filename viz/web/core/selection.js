// Selections of a view, as pure functions: what is chosen in terms of a link (layer, kind, tower, module, part),
// which outlives a trace, and in terms of the trace that is shown (site index).

import { START as OPTIONS } from "./declared.js";
import { tokenThere } from "./grids.js";
import { textsOf } from "./labels.js";

/** @import {Address, Axis, Base, Form, Head, LinkSelection, RunBase, Scale, Selection, Site} from "../types" */

/** @typedef {Base | RunBase} AnyBase */

/**
 * What a view knows of scales and forms; the first is the default.
 *
 * @typedef {{scales?: readonly Scale[], forms?: readonly Form[]}} Known
 */

/** @type {Address} of an empty link */
const HERE = { layer: 0, attention: null, tower: null, module: null, part: null };
/** @type {Selection} before there is a trace */
export const START = { site: 0, head: 0, ...OPTIONS };
const NAMES = /** @type {(keyof Selection)[]} */ (Object.keys(START));
/** What is chosen on the pictures beside a text. */
export const ON_PICTURES = /** @type {const} */ ([
  ...["rival", "relevant", "area", "moment", "captions", "caption"],
]);
/** What is chosen on some pictures, and means nothing on others. */
const NOT_OF_OTHERS = {
  ...{ token: null, partner: null, area: "", rival: "", moment: 0 },
  relevant: /** @type {const} */ ("no"),
};
const PLACED = /.@\d+$|^\d+\.\d+$/s; // a token at a position

/** @param {Selection} a @param {Selection} b */
export const same = (a, b) => NAMES.every((name) => a[name] === b[name]);

/**
 * The site at an address: the nearest layer of the kind and tower; of several calls in it that of the module and
 * part. What no site has is ignored: the first kind, tower, module or part counts.
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
 * The address of a site; its kind only where there are several, module and part where the rest would choose another.
 *
 * @type {(sites: Site[], site: number) => Address}
 */
export function addressOf(sites, site) {
  const { layer, kind, tower = null, module = null, part = null } = sites[site];
  const attention = sites.some((other) => other.kind !== kind) ? kind : null;
  const short = { ...HERE, layer, attention, tower };
  const [first, second] = [short, { ...short, module }];
  return [first, second].find((each) => siteFor(sites, each) === site) ?? { ...second, part };
}

/**
 * What a link chooses in a trace: a head that is not there becomes the last one, a token none.
 *
 * @param {{sites: Site[]}} base
 * @param {Partial<LinkSelection>} link
 * @param {Known} [known]
 * @returns {Selection}
 */
export function fromLink({ sites }, link, { scales = ["fixed", "own"], forms = [] } = {}) {
  const { layer, attention, tower, module, part, ...rest } = { ...HERE, ...START, ...link };
  const site = siteFor(sites, { layer, attention, tower, module, part });
  const { heads, queries, keys } = sites[site];
  const isInward = rest.direction === "in";
  const [mine, others] = isInward ? [keys, queries] : [queries, keys];
  const inside = (token, size) => (typeof token === "number" && token >= 0 && token < size ? token : null);
  const { head } = rest;
  const isHead = head === "mean" || head === "max";
  return {
    ...rest,
    site,
    head: isHead ? head : typeof head === "number" ? Math.min(Math.max(0, head), heads - 1) : 0,
    token: inside(rest.token, mine),
    partner: inside(rest.partner, others),
    direction: isInward ? "in" : "out",
    scale: scales.includes(rest.scale) ? rest.scale : scales[0],
    form: link.form && forms.includes(link.form) ? link.form : (forms[0] ?? rest.form),
    shown: typeof rest.shown === "string" ? rest.shown : "",
  };
}

/** @type {(base: {sites: Site[]}, selection: Selection) => LinkSelection} */
export const toLink = ({ sites }, { site, ...selection }) => ({ ...addressOf(sites, site), ...selection });

/**
 * The layer and head that a link asks for and a trace does not have, with those shown instead, as a sentence; ""
 * if all are there.
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
 * What becomes of a selection in the next trace: a token stays that of the same characters while the text up to
 * it does, brushed tokens stay while the text does, and an output while it can be explained. What means nothing
 * on other pictures goes.
 *
 * @param {AnyBase} before
 * @param {AnyBase} after
 * @param {Selection} selection
 * @param {number} site of the next trace
 * @returns {Partial<Selection>}
 */
export function carried(before, after, selection, site) {
  if (!("texts" in before) || !("texts" in after)) return {};
  const isOfOthers = before.asked && after.asked && before.pictured !== after.pictured;
  const [from, to] = [textsOf(before, selection.site), textsOf(after, site)];
  if (before.patches && after.patches) return { token: patchThere(selection.token, from.query, to.query) };
  /** @type {Axis[]} */
  const [side, other] = selection.direction === "in" ? ["key", "query"] : ["query", "key"];
  return {
    token: movedToken(selection.token, from[side], to[side]),
    partner: movedToken(selection.partner, from[other], to[other]),
    output: carriedOutput(before, after, selection.output),
    ...(isOfOthers ? NOT_OF_OTHERS : {}),
  };
}

/**
 * Of some options, what is chosen, but for what they start with.
 *
 * @param {Selection} selection
 * @param {readonly (keyof Selection)[]} names
 */
export const chosenOf = (selection, names) =>
  Object.fromEntries(
    names.filter((name) => selection[name] !== START[name]).map((name) => [name, selection[name]]),
  );

/** The token of another text that ends where a token does, or holds its end; null where the texts differ before. */
function movedToken(token, from, to) {
  if (token === null) return null;
  const end = upTo(from, token);
  const isSpecial = from.special.includes(token);
  const isSame = to.labels[token] === from.labels[token] && upTo(to, token) === end;
  const place = isSame
    ? token
    : to.labels.findIndex((_, i) => to.special.includes(i) === isSpecial && upTo(to, i).startsWith(end));
  return place >= 0 && (!isSpecial || upTo(to, place) === end) ? place : null;
}

/**
 * The token at the same place of another picture; one without a place is the same there.
 *
 * @param {number | null} token
 * @param {import("../types").Text} from
 * @param {import("../types").Text} to
 */
export function patchThere(token, { grids: from = [] }, { grids: to = [] }) {
  const there = token === null ? -1 : tokenThere(from, to, token);
  return there < 0 ? token : there;
}

/** A text as far as a token, without blanks and without the tokenizer's own tokens. */
const upTo = ({ labels, special }, last) =>
  labels
    .slice(0, last + 1)
    .filter((_, index) => !special.includes(index))
    .join("")
    .replace(/\s+/g, "");

/**
 * What is explained in one trace, in the next one: a token, class or second text by its name, where such can be
 * explained there too; the position of a token belongs to one model and text. Whether the next model has the
 * name, its server tells.
 */
function carriedOutput(before, after, output) {
  if (before.explains !== after.explains) return "";
  if (after.explains !== "tokens" || !PLACED.test(output)) return output;
  const whole = (base) => base.texts.map((each) => upTo(each, Infinity)).join("\n");
  return before.model === after.model && whole(before) === whole(after) ? output : "";
}

/** A site and head as one text of a link. @type {(base: {sites: Site[]}, site: number, head: Head) => string} */
export function textOf({ sites }, site, head) {
  const { layer, attention, tower, module, part } = addressOf(sites, site);
  const parts = [layer, head, attention, tower, module, part].map((each) => String(each ?? ""));
  const plain = siteFor(sites, { layer, attention: null, tower: null }) === site;
  return (plain ? parts.slice(0, 2) : parts).join(",").replace(/,+$/, "");
}

/** What such a text says; null for nothing, and for what is no place. @param {string} text */
export function placeOf(text) {
  const [layer, head, attention = "", tower = "", module = "", part = ""] = text.split(",");
  if (!/^\d+$/.test(layer) || !/^(\d+|mean|max)$/.test(head ?? "")) return null;
  return {
    layer: Number(layer),
    head: /** @type {Head} */ (/^\d+$/.test(head) ? Number(head) : head),
    attention: attention || null,
    tower: tower || null,
    module: module || null,
    part: part ? Number(part) : null,
  };
}
