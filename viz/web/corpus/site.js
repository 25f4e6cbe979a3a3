// The view of a run on a page of static files, which its source reads.

import { Absent, Gone, HttpSource } from "../core/sources.js";
import { mount as mountCorpus } from "./corpus.js";

/** @import {Host, ViewProps} from "../types" */

const NUMBERS = ["layer", "head", "part"];

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

/** The files of the site, each the answer to a path. */
class SiteSource extends HttpSource {
  get(path, options) {
    const file = `${decodeURIComponent(path.replaceAll("+", " ")).replace(/[^\p{L}\p{N}_]+/gu, "-")}.bin`;
    return super.get(file, options).catch((error) => {
      throw error instanceof Gone ? new Absent(`not on this page: ${path}`) : error;
    });
  }
}

/**
 * @param {HTMLElement} root
 * @param {ViewProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  const source = new SiteSource(new URL("data/", document.baseURI).href);
  host.source = () => source;
  const start = startOf(new URLSearchParams(location.search), props.defaults ?? {});
  return mountCorpus(root, { ...props, start, path: [location.pathname] }, host);
}
