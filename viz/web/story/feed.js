// The numbers of a figure: one request at a time, and of the wishes that come meanwhile only the last.
// Answers are kept, and those that are likely to be wanted next are fetched ahead: a control whose next
// value is there already answers within a frame.

const KEPT = 64; // answers

/**
 * @template T
 * @param {(path: string, signal: AbortSignal) => Promise<T>} fetched
 * @param {(answer: T, path: string) => void} received
 * @param {(reason: string) => void} failed
 * @param {() => void} [arrived] called with each answer that was fetched ahead
 */
export function feed(fetched, received, failed, arrived = () => {}) {
  const end = new AbortController();
  /** @type {Map<string, T>} */
  const kept = new Map(); // by path, the latest last
  /** @type {string[]} */
  let expected = [];
  let asked = ""; // the path of the latest wish
  let flying = false;
  /** @type {Promise<void>} */
  let ahead = Promise.resolve(); // until nothing more is expected

  async function answerOf(path) {
    const answer = await fetched(path, end.signal);
    kept.delete(path);
    kept.set(path, answer);
    for (const oldest of [...kept.keys()].slice(0, -KEPT)) kept.delete(oldest);
    return answer;
  }

  async function fly(path) {
    flying = true;
    try {
      const answer = await answerOf(path);
      const late = path !== asked && kept.has(asked); // the latest wish is fulfilled already
      if (!end.signal.aborted && !late) received(answer, path);
    } catch (error) {
      if (!end.signal.aborted && path === asked) failed(error instanceof Error ? error.message : String(error));
    } finally {
      flying = false;
    }
    if (path !== asked && !kept.has(asked) && !end.signal.aborted) void fly(asked);
  }

  async function lookAhead() {
    for (let path = expected.shift(); path !== undefined && !end.signal.aborted; path = expected.shift())
      if (!kept.has(path)) await answerOf(path).then(arrived, () => (expected = [])); // who wants it asks again
  }

  return {
    /**
     * Asks for the numbers at a path.
     *
     * @param {string} path
     * @returns {boolean} whether they were there already, and have been received
     */
    want(path) {
      if (path === asked) return false;
      asked = path;
      const answer = kept.get(path);
      if (answer !== undefined) received(answer, path);
      else if (!flying) void fly(path);
      return answer !== undefined;
    },
    /**
     * Fetches what may be wanted next, in this order; it replaces what was expected before.
     *
     * @param {string[]} paths
     */
    expect(paths) {
      expected = [...paths];
      ahead = ahead.then(lookAhead);
    },
    /**
     * The numbers at a path, if they are there.
     *
     * @param {string} path
     */
    held: (path) => kept.get(path),
    /** Asks again for what could not be had. */
    retry() {
      if (!flying && asked) void fly(asked);
    },
    destroy: () => end.abort(),
  };
}

/**
 * The JSON at an address.
 *
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export async function fetchJson(url, signal) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error("There is no connection to the server.", { cause: error });
  }
  if (response.ok) return response.json();
  throw new Error((await response.text()).slice(0, 200));
}
