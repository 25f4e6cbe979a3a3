// Sources of responses about a trace, and how responses are packed. A path is a route with its query, such as
// "map?site=0&head=3"; the response is JSON, or the binary format of viz/pack.py: u32 length | JSON header | sections.

import { START } from "./declared.js";

/** @import {Message, Path, Priority, Source} from "../types" */

/** The trace is no longer on the server, or never was (404, 410). */
export class Gone extends Error {}

/** The source does not have the path and never will. */
export class Absent extends Error {}

/** A temporary failure; a retry may succeed. */
export class Failed extends Error {}

/**
 * The path of a route and its query, without what is undefined.
 *
 * @template {string} R
 * @param {R} route
 * @param {Record<string, string | number | undefined>} [query]
 * @returns {Path<R>}
 */
export function pathOf(route, query = {}) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parts.set(name, String(value));
  const text = parts.toString();
  return /** @type {any} */ (text ? `${route}?${text}` : route);
}

const DEFAULTS = new Map(Object.entries(START).map(([name, value]) => [name, String(value)]));

/** The same path whatever the order of its query, and whether it says defaults. @param {string} path */
export function canonical(path) {
  const [route, text = ""] = path.split("?");
  const query = new URLSearchParams(text);
  for (const [name, value] of [...query]) if (DEFAULTS.get(name) === value) query.delete(name);
  query.sort();
  return pathOf(route, Object.fromEntries(query));
}

/** The app's own server. @implements {Source} */
export class HttpSource {
  /**
   * @param {string} base address of the trace, with a slash at its end
   * @param {string} [session] token for the server's fair scheduling
   * @param {Record<string, string>} [stored] addresses of responses that are there before the trace
   */
  constructor(base, session = "", stored = {}) {
    this.remote = true;
    this.base = base;
    this.stored = new Map(Object.entries(stored).map(([path, address]) => [canonical(path), address]));
    this.headers = session ? { "X-Headscope-Session": session } : undefined;
  }

  /** @param {string} path @param {{signal: AbortSignal, priority: Priority}} options */
  async get(path, { signal, priority }) {
    const address = this.stored.get(canonical(path));
    if (address) {
      this.stored.delete(canonical(path)); // asked for again it is computed
      const response = await fetch(address, { signal, priority }).catch(() => null);
      if (response?.ok) return new Uint8Array(await response.arrayBuffer());
    }
    /** @type {Response} */
    let response;
    try {
      response = await fetch(this.base + path, { signal, priority, headers: this.headers });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Failed("no connection to the server", { cause: error });
    }
    if (response.status === 204) throw new Absent("its computation was interrupted, or failed");
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

  /** @param {string} path */
  has(path) {
    return this.responses.has(canonical(path));
  }

  /** @type {(path: string) => Promise<Uint8Array>} */
  async get(path) {
    const response = this.responses.get(canonical(path));
    if (!response) throw new Absent(`not in this file: ${path}`);
    return response;
  }
}

const PATIENCE_MS = 30_000;

/**
 * A two-way channel of messages with buffers, such as that of a notebook's widget.
 *
 * @typedef {object} Channel
 * @property {(message: {id: number, path: string}) => void} send
 * @property {(listener: (message: Reply, buffers: DataView[]) => void) => void} listen
 * @property {() => boolean} live whether somebody may answer: not in a saved notebook without a kernel
 */

/** @typedef {{id: number, status: number, reason?: string}} Reply with the status codes of HTTP */

/** The other end of a channel; some responses are there from the start. @implements {Source} */
export class ChannelSource {
  /**
   * @param {Channel} channel
   * @param {Iterable<[string, Uint8Array]>} responses by path
   * @param {number} [patience] milliseconds after which a response counts as lost
   */
  constructor(channel, responses, patience = PATIENCE_MS) {
    this.channel = channel;
    this.patience = patience;
    this.held = new EmbeddedSource(responses);
    this.count = 0;
    /** @type {Map<number, (reply: Reply, data: DataView | undefined) => void>} by id */
    this.waiting = new Map();
    channel.listen((reply, [data]) => this.waiting.get(reply.id)?.(reply, data));
  }

  get remote() {
    return this.channel.live();
  }

  /** @param {string} path */
  has(path) {
    return this.held.has(path);
  }

  /** @type {(path: string, options: {signal: AbortSignal, priority: Priority}) => Promise<Uint8Array>} */
  get(path, { signal }) {
    if (!this.remote || this.held.has(path)) return this.held.get(path);
    const id = (this.count += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => end(() => reject(new Failed("No answer from the kernel: run the cell again."))),
        this.patience,
      );
      const end = (settle) => {
        clearTimeout(timer);
        this.waiting.delete(id);
        settle();
      };
      signal.addEventListener("abort", () => end(() => reject(new Failed("aborted"))));
      this.waiting.set(id, ({ status, reason = "" }, data) =>
        end(() => {
          if (status === 200 && data) resolve(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
          else if (status === 404 || status === 410) reject(new Gone(reason));
          else reject(status === 400 ? new Absent(reason) : new Failed(reason));
        }),
      );
      this.channel.send({ id, path });
    });
  }
}

const VERSION = 1;

/** The data of a JSON response. @param {Uint8Array} bytes */
export const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/**
 * Header and section area of a response. The bytes may be an unaligned view of a larger buffer: the
 * area is copied, so that typed arrays can be laid over it.
 *
 * @type {(bytes: Uint8Array) => Message}
 */
export function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const header = jsonOf(bytes.subarray(4, 4 + length));
  if (header.v !== VERSION) throw new Error(`expected message version ${VERSION}, received ${header.v}`);
  return { header, area: bytes.slice(4 + length) };
}
