// Sources, bases and messages for the tests.

import { Absent } from "../../viz/web/core/sources.js";

/** Lets everything that is resolved already run. */
export const settled = () => new Promise((resolve) => setTimeout(resolve));

/** A source that answers when it is told to. */
export class HeldSource {
  constructor() {
    this.remote = true;
    /** @type {{path: string, priority: string, aborted: boolean}[]} */
    this.requests = [];
    /** @type {Map<string, {resolve: (bytes: Uint8Array) => void, reject: (error: Error) => void}>} */
    this.open = new Map();
  }

  /**
   * @param {string} path
   * @param {{signal: AbortSignal, priority: string}} options
   * @returns {Promise<Uint8Array>}
   */
  get(path, { signal, priority }) {
    const request = { path, priority, aborted: false };
    this.requests.push(request);
    return new Promise((resolve, reject) => {
      this.open.set(path, { resolve, reject });
      signal.addEventListener("abort", () => {
        request.aborted = true;
        reject(new Error("aborted"));
      });
    });
  }

  paths() {
    return this.requests.map(({ path }) => path);
  }

  /** @param {string} path */
  async answer(path, bytes = new Uint8Array()) {
    this.open.get(path)?.resolve(bytes);
    await settled();
  }

  /**
   * @param {string} path
   * @param {Error} [error]
   */
  async refuse(path, error = new Absent("no")) {
    this.open.get(path)?.reject(error);
    await settled();
  }
}

/**
 * A base with one text and these sites.
 *
 * @param {Partial<import("../../viz/web/types").Site>[]} sites
 * @param {Partial<import("../../viz/web/types").Text>} [text]
 * @returns {import("../../viz/web/types").Base}
 */
export function baseOf(sites, text = {}) {
  const labels = text.labels ?? [..."abcdefg"];
  const size = { queries: labels.length, keys: labels.length, query_text: 0, key_text: 0 };
  const colours = {
    ...{ background: "#fff", surface: "#eee", text: "#000", muted: "#777", line: "#ccc" },
    ...{ primary: "#00f", heads: [], sequential: 0, diverging: 0 },
  };
  return {
    model: "m",
    note: "",
    caveat: "",
    texts: [{ special: [], ...text, labels }],
    sites: sites.map((site, layer) => ({ layer, kind: "self", heads: 3, ...size, ...site })),
    theme: { light: colours, dark: colours },
  };
}

/**
 * A message as viz/pack.py packs it.
 *
 * @param {object} header
 * @param {number[]} bytes
 */
export function packed(header, bytes = []) {
  const text = new TextEncoder().encode(JSON.stringify({ v: 1, ...header }));
  const padding = (8 - ((4 + text.length) % 8)) % 8;
  const all = new Uint8Array(4 + text.length + padding + bytes.length);
  new DataView(all.buffer).setUint32(0, text.length + padding, true);
  all.set(text, 4);
  all.fill(32, 4 + text.length, 4 + text.length + padding);
  all.set(bytes, 4 + text.length + padding);
  return all;
}
