// The inputs of a figure as text, and its numbers: those wanted last are asked for at once, those that may be wanted next
// one by one. Answers are kept: a step that is there already is shown within a frame.

/** @import {Inputs} from "../types" */

const DIGITS = 6; // after the point

const short = (value) => (typeof value === "number" ? String(Number(value.toFixed(DIGITS))) : value);
const textOf = (value) => [value].flat().map(short).join(";");

/** What differs from the start, as one text: “temperature:0.5~q:1;2”. @type {(inputs: Inputs, start: Inputs) => string} */
export const written = (inputs, start) =>
  Object.keys(start)
    .filter((name) => textOf(inputs[name]) !== textOf(start[name]))
    .map((name) => `${name}:${textOf(inputs[name])}`)
    .join("~");

/** The inputs that a text describes; what is unknown or of another kind is left as it is at the start. @type {(text: string, start: Inputs) => Inputs} */
export function read(text, start) {
  const values = { ...start };
  for (const [, name, value] of text.matchAll(/([^:~]+):([^~]*)/g)) {
    const [before, numbers] = [Object.hasOwn(start, name) && start[name], value.split(";").map(Number)];
    const isLike = value && numbers.every(Number.isFinite) && numbers.length === [before].flat().length;
    if (typeof before === "string") values[name] = value;
    else if (before !== false && isLike) values[name] = Array.isArray(before) ? numbers : numbers[0];
  }
  return values;
}

/** The query of a request for these inputs. @type {(inputs: Inputs) => string} */
export const queryOf = (inputs) =>
  String(new URLSearchParams(Object.entries(inputs).map(([name, value]) => [name, textOf(value)])));

const KEPT = 64; // answers
const LATE_MS = 1000;

export class Numbers {
  /**
   * @param {() => void} changed
   * @param {(path: string, signal: AbortSignal) => Promise<any>} [fetched]
   */
  constructor(changed, fetched = fetchJson) {
    this.changed = changed;
    this.fetched = fetched;
    /** @type {Map<string, any>} */
    this.kept = new Map(); // by path, the latest last
    /** @type {string[]} */
    this.expected = [];
    this.wanted = "";
    this.isFlying = false; // whether a path that was wanted is asked for
    this.failure = "";
    this.isLate = false; // whether the numbers that are wanted take long
    this.end = new AbortController();
  }

  /** Asks for numbers: one request at a time, and of the wishes that come meanwhile only the last. @param {string} path */
  async want(path) {
    if (path === this.wanted) return;
    clearTimeout(this.clock);
    [this.wanted, this.failure, this.isLate] = [path, "", false];
    if (this.kept.has(path)) return;
    this.clock = setTimeout(() => {
      this.isLate = true;
      this.changed();
    }, LATE_MS);
    if (this.isFlying) return;
    this.isFlying = true;
    while (!this.kept.has(this.wanted) && !this.failure) {
      const asked = this.wanted;
      const failure = await this.fetch(asked);
      if (this.end.signal.aborted) return;
      if (asked === this.wanted) this.failure = failure;
    }
    clearTimeout(this.clock);
    this.isFlying = this.isLate = false;
    this.changed();
  }

  retry() {
    const path = this.wanted;
    this.kept.delete(path);
    this.wanted = "";
    this.want(path);
    this.changed();
  }

  /** Keeps the answer at a path; why there is none, or "". @param {string} path */
  async fetch(path) {
    try {
      const answer = await this.fetched(path, this.end.signal);
      this.kept.delete(path);
      this.kept.set(path, answer);
      for (const oldest of [...this.kept.keys()].slice(0, -KEPT)) this.kept.delete(oldest);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Fetches what may be wanted next, in this order, in place of what was expected before; a failure ends it. @param {string[]} paths */
  async expect(paths) {
    const isIdle = !this.expected.length;
    this.expected = paths.filter((path) => !this.kept.has(path));
    while (isIdle && this.expected.length && !this.end.signal.aborted) {
      if (await this.fetch(this.expected[0])) this.expected = [];
      else {
        this.expected = this.expected.filter((path) => !this.kept.has(path));
        this.changed(); // not after a failure: whoever hears of a change expects the same again
      }
    }
  }

  destroy() {
    clearTimeout(this.clock);
    this.end.abort();
  }
}

async function fetchJson(url, signal) {
  const response = await fetch(url, { signal }).catch((error) => {
    throw signal.aborted ? error : new Error("There is no connection to the server.", { cause: error });
  });
  if (response.ok) return response.json();
  throw new Error((await response.text()).slice(0, 200));
}
