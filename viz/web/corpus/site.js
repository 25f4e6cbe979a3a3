// The view of a run on a page of static files: its source reads them, and answers searches itself.

import { Absent, Failed } from "../core/sources.js";
import { mount as mountCorpus } from "./corpus.js";

/** @import {Host, Source, ViewProps} from "../types" */

/** @typedef {{site: number, head: number, value: number}} Ranked */
/**
 * @typedef {object} Search
 * @property {Record<string, string>} named what people call tokens
 * @property {[number, number][]} places site and head, by number
 * @property {Record<string, Record<string, [number, number][]>>} shares of heads, by role and token
 * @property {Record<string, Record<string, [number, number][]>>} pairs weights of heads, by query and key
 * @property {Record<string, number>} sampled queries, by token
 */

const LISTED = 10;
const NUMBERS = ["layer", "head", "part"];
/** @type {Record<string, string>} */
const FILES = { overview: "overview.bin" };

/** What the address of the page chooses. */
function startOf(query, defaults) {
  /** @type {Record<string, unknown>} */
  const start = { ...defaults };
  for (const [name, value] of query) {
    if (!(name in defaults)) continue;
    if (!NUMBERS.includes(name)) start[name] = value;
    else if (/^\d{1,3}$/.test(value)) start[name] = Number(value);
  }
  return start;
}

/** @implements {Source} */
class SiteSource {
  /** @param {(path: string) => Promise<Response>} load a file of the site */
  constructor(load) {
    this.remote = true;
    this.load = load;
    /** @type {Map<string, Promise<Uint8Array>>} */
    this.files = new Map();
  }

  /**
   * @param {string} path
   * @returns {Promise<Uint8Array>}
   */
  async get(path) {
    const [route, text = ""] = path.split("?");
    const query = new URLSearchParams(text);
    if (route in FILES) return this.file(FILES[route]);
    if (route === "head" || route === "alike") {
      const name = `heads/${Number(query.get("site"))}-${Number(query.get("head"))}.json`;
      return encoded((await this.json(name))[route]);
    }
    if (route === "changes") return encoded((await this.json("changes.json"))[query.get("number") ?? ""]);
    if (route === "attending") return encoded(attending(await this.search(), query));
    throw new Absent(`not on this page: ${path}`);
  }

  /**
   * The bytes of a file, loaded once.
   *
   * @param {string} name
   */
  file(name) {
    const known = this.files.get(name);
    if (known) return known;
    const loading = this.bytes(name);
    this.files.set(name, loading);
    loading.catch(() => this.files.delete(name)); // another try may succeed
    return loading;
  }

  /** @param {string} name */
  async bytes(name) {
    /** @type {Response} */
    let response;
    try {
      response = await this.load(name);
    } catch (error) {
      throw new Failed("no connection to the server", { cause: error });
    }
    if (!response.ok) throw new Absent(`${name}: the server has no such file`);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** @param {string} name */
  async json(name) {
    return JSON.parse(new TextDecoder().decode(await this.file(name)));
  }

  /** @returns {Promise<Search>} */
  search() {
    return this.json("search.json");
  }
}

const encoded = (value) => new TextEncoder().encode(JSON.stringify(value));

/**
 * The heads that give the largest share of their weight to some tokens, from some, or both.
 *
 * @param {Search} search
 * @param {URLSearchParams} query
 */
export function attending(search, query) {
  const [from, to] = [tokensOf(search, query.get("query")), tokensOf(search, query.get("key"))];
  const both = from.length > 0 && to.length > 0;
  const whole = both ? from.reduce((sum, token) => sum + (search.sampled[token] ?? 0), 0) : 1;
  const role = to.length ? "key" : "query";
  const lists = both
    ? from.flatMap((token) => to.map((each) => search.pairs[token]?.[each]))
    : [...from, ...to].map((token) => search.shares[role]?.[token]);
  const values = /** @type {number[]} */ (new Array(search.places.length).fill(NaN));
  for (const [head, share] of lists.flatMap((list) => list ?? []))
    values[head] = (values[head] || 0) + share / whole;
  return ranked(values, search.places);
}

/** Tokens as they are looked for, separated by commas; of a comma alone, the comma. */
function tokensOf(search, typed) {
  const text = (typed ?? "").trim();
  const parts = text.split(",").filter((part) => part.trim());
  return [...new Set(parts.length ? parts.map((part) => tokenOf(search, part)) : text)];
}

/** A token as it is looked for: without spaces and case, or what people call it. */
function tokenOf({ named }, typed) {
  const text = typed.trim().toLowerCase();
  return named[text] ?? named[text.replace(/s$/, "")] ?? text;
}

function ranked(values, places) {
  const order = [...values.keys()].filter((i) => !Number.isNaN(values[i]));
  order.sort((a, b) => values[b] - values[a] || a - b);
  const heads = order
    .slice(0, LISTED)
    .map((i) => ({ site: places[i][0], head: places[i][1], value: values[i] }));
  return { heads };
}

/**
 * @param {HTMLElement} root
 * @param {ViewProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  const source = new SiteSource((path) => fetch(new URL(path, document.baseURI)));
  host.source = () => source;
  const start = startOf(new URLSearchParams(location.search), props.defaults ?? {});
  return mountCorpus(root, { ...props, start, path: [location.pathname] }, host);
}
