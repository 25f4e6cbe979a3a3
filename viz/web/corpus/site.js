// The view of a run on a page of static files, which its source reads.

import { jsonOf } from "../core/pack.js";
import { Absent, Failed } from "../core/sources.js";
import { mount as mountCorpus } from "./corpus.js";

/** @import {Host, Source, ViewProps} from "../types" */

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
    return jsonOf(await this.file(name));
  }
}

const encoded = (value) => new TextEncoder().encode(JSON.stringify(value));

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
