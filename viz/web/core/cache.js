// A least-recently-used cache bounded by bytes.

/** @template V */
export class Cache {
  /** @param {number} limit bytes */
  constructor(limit) {
    this.limit = limit;
    this.bytes = 0;
    /** @type {Map<string, {value: V, bytes: number}>} the most recently used is last */
    this.entries = new Map();
  }

  /** @param {string} key */
  has(key) {
    return this.entries.has(key);
  }

  /** The value, marked as most recently used; null if there is none. @type {(key: string) => V | null} */
  get(key) {
    const entry = this.entries.get(key);
    if (!entry) return null;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /**
   * Stores a value of any size, and evicts others until all fit.
   *
   * @param {string} key
   * @param {V} value
   * @param {number} bytes
   */
  set(key, value, bytes) {
    this.delete(key);
    this.entries.set(key, { value, bytes });
    this.bytes += bytes;
    for (const [oldest] of this.entries) {
      if (this.bytes <= this.limit || oldest === key) break;
      this.delete(oldest);
    }
  }

  /** @param {string} key */
  delete(key) {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.bytes -= entry.bytes;
  }
}
