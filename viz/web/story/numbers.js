// The numbers of a figure: those wanted last are asked for at once, those that may be wanted next one by one. Answers
// are kept: a step that is there already is shown within a frame.

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

/** @type {(url: string, signal: AbortSignal) => Promise<any>} */
async function fetchJson(url, signal) {
  const response = await fetch(url, { signal }).catch((error) => {
    throw signal.aborted ? error : new Error("There is no connection to the server.", { cause: error });
  });
  if (response.ok) return response.json();
  throw new Error((await response.text()).slice(0, 200));
}
