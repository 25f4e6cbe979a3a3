// The requests of one view for one trace. For each slot ("map", "row", …) the view sets the path it
// needs: requests that no slot needs any more are aborted, identical ones are shared, failures are
// retried. Likely next paths are prefetched one at a time, with low priority, while idle.

import { Absent, Gone, jsonOf, pathOf } from "./sources.js";

/** @import {Priority, RequestState, Source} from "../types" */

const TRIES = 3;
const RETRY_MS = 400; // before the second try; twice as long before each further one

/**
 * @typedef {object} Slot
 * @property {string} path
 * @property {number} since when it was asked for, in milliseconds
 * @property {RequestState} state
 * @property {number} tries
 * @property {string} reason why it is absent or has failed
 * @property {ReturnType<typeof setTimeout> | undefined} timer
 */

/**
 * @typedef {object} Events
 * @property {(path: string, bytes: Uint8Array) => void} received
 * @property {(path: string) => void} gone the trace is no longer on the server; called once
 * @property {() => void} changed a request has failed for good
 */

export class Client {
  /** @param {Source} source @param {Events} events */
  constructor(source, events) {
    this.source = source;
    this.events = events;
    /** @type {Map<string, Slot>} */
    this.slots = new Map();
    /** @type {Map<string, {path: string, timer: ReturnType<typeof setTimeout>}>} what slots will want */
    this.soon = new Map();
    /** @type {Map<string, AbortController>} by path */
    this.flights = new Map();
    /** @type {string[]} paths to prefetch */
    this.queue = [];
    this.ahead = ""; // the path that is prefetched
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.over = false;
  }

  /**
   * Sets the path a slot needs, or null. A path that was received is not fetched again while the
   * slot keeps it.
   *
   * @param {string} name
   * @param {string | null} path
   * @param {number} [delay] milliseconds for which the path must stay the same before it is asked for
   */
  want(name, path, delay = 0) {
    const soon = this.soon.get(name);
    if (delay && soon?.path === path) return;
    clearTimeout(soon?.timer);
    this.soon.delete(name);
    const slot = this.slots.get(name);
    if (this.over || (slot?.path ?? null) === path) return;
    if (delay && path !== null) {
      this.soon.set(name, { path, timer: setTimeout(() => this.want(name, path), delay) });
      return;
    }
    clearTimeout(slot?.timer);
    this.slots.delete(name);
    /** @type {Slot | null} */
    const fresh =
      path === null
        ? null
        : { path, since: performance.now(), state: "pending", tries: 0, reason: "", timer: undefined };
    if (fresh) this.slots.set(name, fresh);
    this.abortIdle();
    if (fresh) this.start(fresh);
  }

  /** Aborts the requests that nobody needs any more. */
  abortIdle() {
    const needed = new Set([this.ahead]);
    for (const { path, state } of this.slots.values()) if (state === "pending") needed.add(path);
    for (const [path, flight] of this.flights)
      if (!needed.has(path)) {
        flight.abort();
        this.flights.delete(path);
      }
  }

  /** @param {string} name @returns {RequestState} of a slot's request */
  state(name) {
    return this.slots.get(name)?.state ?? "none";
  }

  /** Whether a slot's request is this one, and has been answered. @param {string} name @param {string} path */
  isDone(name, path) {
    const slot = this.slots.get(name);
    return slot?.path === path && slot.state === "done";
  }

  /** How long a slot's request has been pending, in milliseconds; null if it is not. @param {string} name */
  age(name) {
    const slot = this.slots.get(name);
    return slot?.state === "pending" ? performance.now() - slot.since : null;
  }

  /** Why a slot's request was refused; "" if it was not. @param {string} name */
  reason(name) {
    return this.slots.get(name)?.reason ?? "";
  }

  /**
   * The slot that has waited longest for its response, if it has waited that long.
   *
   * @type {(milliseconds: number) => {name: string, path: string} | null}
   */
  slowest(milliseconds) {
    const waiting = [...this.slots].filter(([, slot]) => slot.state === "pending");
    const [first] = waiting.sort(([, one], [, other]) => one.since - other.since);
    if (!first || performance.now() - first[1].since <= milliseconds) return null;
    return { name: first[0], path: first[1].path };
  }

  /** Ends the request of a slot; it is made again when the slot has wanted something else. @param {string} name */
  stop(name) {
    const slot = this.slots.get(name);
    if (slot?.state !== "pending") return;
    clearTimeout(slot.timer);
    this.slots.set(name, { ...slot, state: "absent", reason: "Stopped." });
    this.abortIdle();
    this.events.changed();
    this.next();
  }

  /**
   * How much of a request is done; null if that is not known.
   *
   * @type {(path: string) => Promise<{done: number, total: number} | null>}
   */
  async progress(path) {
    const { signal } = new AbortController();
    try {
      const bytes = await this.source.get(pathOf("progress", { of: path }), { signal, priority: "low" });
      const { done, total } = jsonOf(bytes);
      return total > 0 ? { done, total } : null;
    } catch {
      return null; // the source does not report progress
    }
  }

  /**
   * Sets the paths to prefetch, most likely first; replaces the previous list, and aborts a
   * prefetch that is not on the new one.
   *
   * @param {string[]} paths
   * @param {number} delay idle milliseconds before the first request
   */
  prefetch(paths, delay) {
    clearTimeout(this.timer);
    this.queue = paths;
    this.timer = undefined;
    if (!paths.includes(this.ahead)) this.ahead = "";
    this.abortIdle();
    if (!paths.length || this.over) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.next();
    }, delay);
  }

  /** Starts the next prefetch if no request is pending. */
  next() {
    if (this.over || this.flights.size || this.timer !== undefined) return;
    this.ahead = this.queue.shift() ?? "";
    if (this.ahead) this.fly(this.ahead, "low");
  }

  /** Ends every request, and makes no other. */
  end() {
    this.over = true;
    clearTimeout(this.timer);
    for (const { timer } of [...this.slots.values(), ...this.soon.values()]) clearTimeout(timer);
    for (const flight of this.flights.values()) flight.abort();
    this.flights.clear();
  }

  destroy() {
    this.end();
    this.slots.clear();
  }

  /** @param {Slot} slot */
  start(slot) {
    slot.tries += 1;
    slot.state = "pending";
    this.fly(slot.path, "high");
  }

  /** @param {string} path @param {Priority} priority */
  fly(path, priority) {
    if (this.flights.has(path)) return;
    const flight = new AbortController();
    this.flights.set(path, flight);
    const { signal } = flight;
    this.source.get(path, { signal, priority }).then(
      (bytes) => signal.aborted || this.landed(path, bytes),
      (error) => signal.aborted || this.failed(path, error),
    );
  }

  /** @param {string} path @param {Uint8Array} bytes */
  landed(path, bytes) {
    this.flights.delete(path);
    for (const slot of this.slots.values()) if (slot.path === path) slot.state = "done";
    try {
      this.events.received(path, bytes);
    } catch (error) {
      return this.failed(path, /** @type {Error} */ (error)); // no answer that can be read
    }
    this.next();
  }

  /** @param {string} path @param {Error} error */
  failed(path, error) {
    this.flights.delete(path);
    if (error instanceof Gone) return this.lost(path);
    for (const slot of this.slots.values()) {
      if (slot.path !== path) continue;
      slot.reason = error.message;
      if (error instanceof Absent) slot.state = "absent";
      else if (slot.tries >= TRIES) slot.state = "failed";
      else {
        slot.state = "pending"; // it was "done" if the answer could not be read
        slot.timer = setTimeout(() => this.start(slot), RETRY_MS * 2 ** (slot.tries - 1));
      }
    }
    this.events.changed();
    this.next();
  }

  /** The trace is no longer there. @param {string} path */
  lost(path) {
    for (const slot of this.slots.values()) slot.state = "gone";
    this.end();
    this.events.gone(path);
  }
}
