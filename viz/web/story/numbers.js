// The numbers of a figure: those wanted last are asked for at once, those that may be wanted next one by one. Answers
// are kept: a step that is there already is shown within a frame.

const KEPT = 64; // answers
const SLOW_MS = 1000;

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
    this.flying = ""; // the path that is asked for
    this.failure = "";
    this.seconds = 0; // that the numbers asked for have taken
    this.end = new AbortController();
  }

  /** @param {string} path */
  get(path) {
    return this.kept.get(path);
  }

  /** @param {string} path */
  want(path) {
    if (path === this.wanted) return;
    this.wanted = path;
    this.failure = "";
    this.ask();
  }

  /** Asks for what is wanted: one request at a time, and of the wishes that come meanwhile only the last. */
  async ask() {
    const path = this.wanted;
    const isHere = this.kept.has(path);
    this.count(!isHere);
    if (this.flying || isHere) return;
    this.flying = path;
    const failure = await this.fetch(path);
    this.flying = "";
    if (this.end.signal.aborted) return;
    if (path === this.wanted) this.failure = failure;
    else if (!this.kept.has(this.wanted)) return this.ask();
    this.count(false);
    this.changed();
  }

  retry() {
    this.failure = "";
    this.ask();
    this.changed();
  }

  /** Counts the seconds that numbers take. @param {boolean} on */
  count(on) {
    clearInterval(this.clock);
    this.seconds = 0;
    if (!on) return;
    this.clock = setInterval(() => {
      this.seconds += 1;
      this.changed();
    }, SLOW_MS);
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
    this.expected = [...new Set(paths)];
    while (isIdle && this.expected.length && !this.end.signal.aborted) {
      const [path] = this.expected;
      const isHere = this.kept.has(path);
      if (!isHere && (await this.fetch(path))) this.expected = [];
      this.expected = this.expected.filter((each) => each !== path);
      if (!isHere) this.changed();
    }
  }

  destroy() {
    clearInterval(this.clock);
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
