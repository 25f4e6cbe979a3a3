// Sources of responses about a trace. A path is a route with its query, such as
// "map?site=0&head=3"; the response is bytes.

/** @import {Priority, Source} from "../types" */

/** The trace is no longer on the server, or never was (404, 410). */
export class Gone extends Error {}

/** The source does not have the path and never will. */
export class Absent extends Error {}

/** A temporary failure; a retry may succeed. */
export class Failed extends Error {}

/**
 * The path of a route and its query.
 *
 * @param {string} route
 * @param {Record<string, string | number>} [query]
 */
export function pathOf(route, query = {}) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parts.set(name, String(value));
  const text = parts.toString();
  return text ? `${route}?${text}` : route;
}

/**
 * The same path whatever the order of its query.
 *
 * @param {string} path
 */
export function canonical(path) {
  const [route, text = ""] = path.split("?");
  const query = new URLSearchParams(text);
  query.sort();
  return pathOf(route, Object.fromEntries(query));
}

/** The app's own server. @implements {Source} */
export class HttpSource {
  /**
   * @param {string} base address of the trace, with a slash at its end
   * @param {string} [session] token for the server's fair scheduling
   */
  constructor(base, session = "") {
    this.remote = true;
    this.base = base;
    this.headers = session ? { "X-Headscope-Session": session } : undefined;
  }

  /**
   * @param {string} path
   * @param {{signal: AbortSignal, priority: Priority}} options
   */
  async get(path, { signal, priority }) {
    /** @type {Response} */
    let response;
    try {
      response = await fetch(this.base + path, { signal, priority, headers: this.headers });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Failed("no connection to the server", { cause: error });
    }
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    const reason = (await response.text()).slice(0, 200);
    if (response.status === 404 || response.status === 410) throw new Gone(reason);
    if (response.status === 400 || response.status === 403) throw new Absent(reason);
    throw new Failed(reason);
  }
}

/** Responses embedded in a file or page. @implements {Source} */
export class EmbeddedSource {
  /** @param {Iterable<[string, Uint8Array]>} responses by path */
  constructor(responses) {
    this.remote = false;
    /** @type {Map<string, Uint8Array>} */
    this.responses = new Map();
    for (const [path, bytes] of responses) this.responses.set(canonical(path), bytes);
  }

  /**
   * @param {string} path
   * @returns {Promise<Uint8Array>}
   */
  async get(path) {
    const found = this.responses.get(canonical(path));
    if (!found) throw new Absent(`not in this file: ${path}`);
    return found;
  }
}
