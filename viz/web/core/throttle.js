// Rate limiting: sends the newest value.

/**
 * Sends a value at once, or, if another was sent less than `ms` ago, the newest one when that time
 * is over. The last value is always sent.
 *
 * @template T
 * @param {(value: T) => void} send
 * @param {number | ((value: T) => number)} ms a pause, or what pause a value needs
 * @param {() => number} [now] the time in milliseconds
 */
export function throttle(send, ms, now = () => performance.now()) {
  let last = -Infinity;
  /** @type {{value: T} | null} */
  let waiting = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    if (!waiting) return;
    const { value } = waiting;
    waiting = null;
    last = now();
    send(value);
  }

  function put(value) {
    waiting = { value };
    const left = last + (typeof ms === "number" ? ms : ms(value)) - now();
    if (left <= 0) flush();
    else timer ??= setTimeout(flush, left);
  }

  function stop() {
    clearTimeout(timer);
    waiting = null;
  }

  return { put, flush, stop };
}
