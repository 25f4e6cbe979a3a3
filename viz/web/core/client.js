// The requests of one view for one trace. For each slot ("map", "row", …) the view sets the path it
// needs: an older request of the slot is aborted, identical requests are shared, failures are
// retried. Likely next paths are prefetched one at a time, with low priority, while idle.

import { Absent, Gone, pathOf } from "./sources.js";

/** @import {Priority, RequestState, Source} from "../types" */

const TRIES = 3;
const RETRY_MS = 400; // before the second try; twice as long before each further one
const AHEAD = "ahead"; // the slot of background requests

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
  /**
   * @param {Source} source
   * @param {Events} events
   */
  constructor(source, events) {
    this.source = source;
    this.events = events;
    /** @type {Map<string, Slot>} */
    this.slots = new Map();
    /** @type {Map<string, {path: string, timer: ReturnType<typeof setTimeout>}>} what slots will want */
    this.soon = new Map();
    /** @type {Map<string, {controller: AbortController, users: Set<string>}>} by path */
    this.flights = new Map();
    /** @type {string[]} */
    this.queue = [];
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
    if (slot) this.release(name, slot);
    if (path === null) return;
    /** @type {Slot} */
    const fresh = { path, since: performance.now(), state: "pending", tries: 0, reason: "", timer: undefined };
    this.slots.set(name, fresh);
    this.start(name, fresh);
  }

  /**
   * The state of a slot's request.
   *
   * @param {string} name
   * @returns {RequestState}
   */
  state(name) {
    return this.slots.get(name)?.state ?? "none";
  }

  /**
   * Whether a slot's request is this one, and has been answered.
   *
   * @param {string} name
   * @param {string} path
   */
  isDone(name, path) {
    const slot = this.slots.get(name);
    return slot?.path === path && slot.state === "done";
  }

  /**
   * How long a slot's request has been pending, in milliseconds; null if it is not.
   *
   * @param {string} name
   */
  age(name) {
    const slot = this.slots.get(name);
    return slot?.state === "pending" ? performance.now() - slot.since : null;
  }

  /**
   * Why a slot's request was refused; "" if it was not.
   *
   * @param {string} name
   */
  reason(name) {
    return this.slots.get(name)?.reason ?? "";
  }

  /**
   * The slot that has waited longest for its response, if it has waited that long.
   *
   * @param {number} milliseconds
   * @returns {{name: string, path: string} | null}
   */
  slowest(milliseconds) {
    let before = performance.now() - milliseconds;
    let oldest = null;
    for (const [name, { path, state, since }] of this.slots) {
      if (state !== "pending" || since >= before) continue;
      before = since;
      oldest = { name, path };
    }
    return oldest;
  }

  /**
   * Ends the request of a slot; it is made again when the slot has wanted something else.
   *
   * @param {string} name
   */
  stop(name) {
    const slot = this.slots.get(name);
    if (slot?.state !== "pending") return;
    this.release(name, slot);
    this.slots.set(name, { ...slot, state: "absent", reason: "Stopped." });
    this.events.changed();
    this.next();
  }

  /**
   * How much of a request is done; null if that is not known.
   *
   * @param {string} path
   * @returns {Promise<{done: number, total: number} | null>}
   */
  async progress(path) {
    const { signal } = new AbortController();
    try {
      const bytes = await this.source.get(pathOf("progress", { of: path }), { signal, priority: "low" });
      const { done, total } = JSON.parse(new TextDecoder().decode(bytes));
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
    for (const [path, { controller, users }] of this.flights)
      if (users.has(AHEAD) && users.size === 1 && !paths.includes(path)) {
        controller.abort();
        this.flights.delete(path);
      }
    if (!paths.length || this.over) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.next();
    }, delay);
  }

  /** Starts the next prefetch if no request is pending. */
  next() {
    if (this.over || this.flights.size || this.timer !== undefined) return;
    const path = this.queue.shift();
    if (path !== undefined) this.fly(path, AHEAD, "low");
  }

  destroy() {
    this.over = true;
    clearTimeout(this.timer);
    for (const { timer } of [...this.slots.values(), ...this.soon.values()]) clearTimeout(timer);
    for (const { controller } of this.flights.values()) controller.abort();
    this.slots.clear();
    this.flights.clear();
  }

  /**
   * @param {string} name
   * @param {Slot} slot
   */
  start(name, slot) {
    slot.tries += 1;
    slot.state = "pending";
    this.fly(slot.path, name, "high");
  }

  /**
   * @param {string} path
   * @param {string} user
   * @param {Priority} priority
   */
  fly(path, user, priority) {
    const flight = this.flights.get(path);
    if (flight) {
      flight.users.add(user);
      return;
    }
    const controller = new AbortController();
    this.flights.set(path, { controller, users: new Set([user]) });
    const { signal } = controller;
    this.source.get(path, { signal, priority }).then(
      (bytes) => signal.aborted || this.landed(path, bytes),
      (error) => signal.aborted || this.failed(path, error),
    );
  }

  /**
   * @param {string} name
   * @param {Slot} slot
   */
  release(name, slot) {
    clearTimeout(slot.timer);
    this.slots.delete(name);
    const flight = this.flights.get(slot.path);
    if (!flight?.users.delete(name) || flight.users.size) return;
    flight.controller.abort();
    this.flights.delete(slot.path);
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   */
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

  /**
   * @param {string} path
   * @param {Error} error
   */
  failed(path, error) {
    this.flights.delete(path);
    if (error instanceof Gone) return this.ended(path);
    for (const [name, slot] of this.slots) {
      if (slot.path !== path) continue;
      slot.reason = error.message;
      if (error instanceof Absent) slot.state = "absent";
      else if (slot.tries >= TRIES) slot.state = "failed";
      else {
        slot.state = "pending"; // it was "done" if the answer could not be read
        slot.timer = setTimeout(() => this.start(name, slot), RETRY_MS * 2 ** (slot.tries - 1));
      }
    }
    this.events.changed();
    this.next();
  }

  /** @param {string} path */
  ended(path) {
    const { gone } = this.events;
    for (const slot of this.slots.values()) slot.state = "gone";
    this.over = true;
    clearTimeout(this.timer);
    for (const { controller } of this.flights.values()) controller.abort();
    this.flights.clear();
    gone(path);
  }
}
