// The numbers of a figure: one request at a time, and of the wishes that come meanwhile only the last.

/**
 * @template T
 * @param {(path: string, signal: AbortSignal) => Promise<T>} fetched
 * @param {(found: T, path: string) => void} received
 * @param {(reason: string) => void} failed
 */
export function feed(fetched, received, failed) {
  const end = new AbortController();
  let asked = ""; // the path of the latest wish
  let flying = false;

  /** @param {string} path */
  async function fly(path) {
    flying = true;
    try {
      const found = await fetched(path, end.signal);
      if (!end.signal.aborted) received(found, path);
    } catch (error) {
      if (!end.signal.aborted && path === asked) failed(error instanceof Error ? error.message : String(error));
    } finally {
      flying = false;
    }
    if (path !== asked && !end.signal.aborted) void fly(asked);
  }

  return {
    /** @param {string} path */
    want(path) {
      if (path === asked) return;
      asked = path;
      if (!flying) void fly(path);
    },
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
