// What sites, heads and tokens are called. Pure functions of a message's base.

/** @import {Base, Head, Site} from "../types" */

/** @typedef {{sites: Site[]}} Sites */

/** The texts of a site's rows and columns, and whether they are one. @param {Base} base @param {number} site */
export function textsOf(base, site) {
  const { query_text: query = 0, key_text: key = 0 } = base.sites[site];
  return { query: base.texts[query], key: base.texts[key], one: query === key };
}

/**
 * The place of a token of the trace among those of a view, which may be words; −1 for none.
 *
 * @type {(text: import("../types").Text, token: number) => number}
 */
export const placeIn = ({ origins, labels }, token) =>
  origins ? origins.findIndex((group) => group.includes(token)) : token < labels.length ? token : -1;

/** Everything that can be chosen as head of a site. @type {(base: Sites, site: number) => Head[]} */
export function headsOf(base, site) {
  return [...Array(base.sites[site].heads).keys(), "mean", "max"];
}

/** The kinds of attention, each with the indexes of its sites. @type {(base: Sites) => Map<string, number[]>} */
export function groupsOf(base) {
  const groups = new Map();
  base.sites.forEach(({ kind, tower }, index) => {
    const name = tower ? `${tower}: ${kind}` : kind;
    groups.set(name, [...(groups.get(name) ?? []), index]);
  });
  return groups;
}

/** The sites of the same kind as this one, itself among them. @type {(base: Sites, site: number) => number[]} */
export function groupOf(base, site) {
  return [...groupsOf(base).values()].find((sites) => sites.includes(site)) ?? [];
}

/**
 * The number of a site's layer, with its module or part where another site has the same.
 *
 * @param {Sites} base
 * @param {number} site
 */
export function layerName(base, site) {
  const mine = base.sites[site];
  const { layer, kind, tower, module, part = 0 } = mine;
  const twins = base.sites.filter(
    (other) => other !== mine && other.layer === layer && other.kind === kind && other.tower === tower,
  );
  if (!twins.length) return String(layer);
  const named = module && twins.some((other) => other.module !== module);
  return `${layer} (${named ? module : `part ${part}`})`;
}

/**
 * "layer 3"; "layer 3 · cross" among several kinds, "layer 3 · text: self" in several towers.
 *
 * @param {Sites} base
 * @param {number} site
 */
export function siteName(base, site) {
  const { kind, tower } = base.sites[site];
  const layer = `layer ${layerName(base, site)}`;
  if (groupsOf(base).size < 2) return layer;
  const alike = base.sites.filter((other) => other.kind === kind);
  const named = alike.some((other) => other.tower !== tower) ? `${tower}: ${kind}` : kind;
  return `${layer} · ${named}`;
}

/**
 * "head 3"; with grouped queries also which keys it uses.
 *
 * @param {Sites} base
 * @param {number} site
 * @param {Head} head
 */
export function headName(base, site, head) {
  if (head === "mean") return "mean of heads";
  if (head === "max") return "max of heads";
  const { heads, kv_heads: groups = heads } = base.sites[site];
  const shared = heads / groups;
  return shared > 1 ? `head ${head} (keys of group ${Math.floor(head / shared)})` : `head ${head}`;
}

/**
 * The indexes of the sites one layer on and one back that have this head.
 *
 * @param {Sites} base
 * @param {number} site
 * @param {Head} head
 */
export function neighboursOf(base, site, head) {
  const group = groupOf(base, site);
  const place = group.indexOf(site);
  return [group[place + 1], group[place - 1]]
    .filter((other) => other !== undefined)
    .filter((other) => typeof head !== "number" || head < base.sites[other].heads);
}

/** A label as it is shown: blanks and line breaks get a sign, everything else stays literal. @param {string} label */
export function legible(label) {
  const visible = label.replace(/\r?\n/g, "↵").replace(/\t/g, "⇥");
  if (visible === "") return "∅";
  return visible.trim() === "" ? visible.replace(/\s/gu, "␣") : visible;
}

/** Labels side by side, without the space in front where they differ without it. @param {string[]} labels */
export function distinct(labels) {
  const bare = labels.map((label) => legible(label).trim());
  const same = (/** @type {string} */ name) => bare.indexOf(name) !== bare.lastIndexOf(name);
  return bare.map((name, i) => (same(name) && labels[i].startsWith(" ") ? `␣${name}` : name));
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a position of an axis is, in words. @param {{timed?: boolean}} text */
export const nounOf = ({ timed }) => (timed ? "moment" : "token");
