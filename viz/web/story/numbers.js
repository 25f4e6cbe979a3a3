// The numbers of a figure: those wanted last are asked for at once, those that may be wanted next one by one.
// Answers are kept: a control whose next value is there already answers within a frame.

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
    this.count(!this.kept.has(path));
    if (this.flying || this.kept.has(path)) return;
    this.flying = path;
    const failure = await this.fetch(path).then(
      () => "",
      (error) => String(error.message ?? error),
    );
    this.flying = "";
    if (this.end.signal.aborted) return;
    if (path !== this.wanted && !this.kept.has(this.wanted)) return this.ask();
    if (path === this.wanted) this.failure = failure;
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

  /** @param {string} path */
  async fetch(path) {
    const answer = await this.fetched(path, this.end.signal);
    this.kept.delete(path);
    this.kept.set(path, answer);
    for (const oldest of [...this.kept.keys()].slice(0, -KEPT)) this.kept.delete(oldest);
  }

  /** Fetches what may be wanted next, in this order, in place of what was expected before. @param {string[]} paths */
  async expect(paths) {
    const isIdle = !this.expected.length;
    this.expected = [...new Set(paths)].filter((path) => !this.kept.has(path));
    if (!isIdle) return;
    while (this.expected.length && !this.end.signal.aborted) {
      const [path] = this.expected;
      const arrived = this.kept.has(path)
        ? false
        : await this.fetch(path).then(
            () => true,
            () => (this.expected = []).length > 0,
          );
      this.expected = this.expected.filter((each) => each !== path);
      if (arrived) this.changed();
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
