// Which tokens of a text: those that are drawn, those that are searched for, and those of another tokenizer that stand
// for the same characters. Pure functions.

/** @import {Axis, Block, Text} from "../types" */

const plain = (text) => text.normalize("NFC").toLowerCase().replace(/\s+/gu, "");

/**
 * The runs of tokens that a text is found in, whatever its case and blanks. A run of one token may
 * contain the text anywhere, longer ones begin with it: "able" is found in "unbelievable", and
 * "unbel" in the pieces "un", "believable".
 *
 * @param {string[]} labels
 * @param {string} wanted
 * @returns {Range[]} in order
 */
export function matches(labels, wanted) {
  const sought = plain(wanted);
  if (!sought) return [];
  const pieces = labels.map(plain);
  /** @type {Range[]} */
  const places = [];
  pieces.forEach((piece, from) => {
    if (piece.includes(sought)) places.push([from, from + 1]);
    else if (!piece || !sought.startsWith(piece)) return;
    let [joined, to] = [piece, from + 1];
    while (joined.length < sought.length && sought.startsWith(joined) && to < pieces.length)
      joined += pieces[to++];
    if (to > from + 1 && joined.startsWith(sought)) places.push([from, to]);
  });
  return places;
}

/**
 * The next match after a step forwards or backwards, round the ends.
 *
 * @param {number} now −1 before the first
 * @param {number} by
 * @param {number} count
 */
export const stepped = (now, by, count) =>
  count ? ((((now < 0 && by < 0 ? count : now) + by) % count) + count) % count : -1;

/** @typedef {[number, number]} Range the first token, and one past the last */

/** @typedef {{rows: Range, cols: Range}} Ranges */

/** @type {Block[]} */
export const BLOCKS = ["all", "aa", "ab", "ba", "bb"];

/**
 * The tokens of the first or of the second text of a pair; all of a single text.
 *
 * @param {Text} text
 * @param {string} which "a" or "b"
 * @returns {Range}
 */
function half({ labels, second }, which) {
  if (second === undefined) return [0, labels.length];
  return which === "a" ? [0, second] : [second, labels.length];
}

/**
 * How many frames of a recording lie before the padding; at least one.
 *
 * @param {Text} text
 * @param {import("../types").Heard | null | undefined} sound
 */
export function framesHeard({ labels, timed }, sound) {
  if (!timed || !sound) return labels.length;
  return Math.min(
    labels.length,
    Math.max(1, Math.ceil((labels.length * sound.heard) / sound.seconds - 1e-6)),
  );
}

/**
 * @param {{query: Text, key: Text}} texts
 * @param {Block} block
 * @param {import("../types").Heard | null} [sound] whose padding is left out
 * @returns {Ranges}
 */
export function rangesOf({ query, key }, block, sound) {
  /** @type {(text: Text, which: string) => Range} */
  const side = (text, which) => (block === "all" ? [0, framesHeard(text, sound)] : half(text, which));
  return { rows: side(query, block[0]), cols: side(key, block[1]) };
}

/**
 * Whether a token of an axis is drawn.
 *
 * @param {Ranges} ranges
 * @param {Axis} axis
 * @param {number} index
 */
export function isDrawn({ rows, cols }, axis, index) {
  const [from, to] = axis === "query" ? rows : cols;
  return index >= from && index < to;
}

/** @typedef {[number, number, number] | null} Span sentence, first character, the one behind the last */

/**
 * The tokens of another model that share characters with a token, those with most of them first.
 *
 * @param {number} index of the token
 * @param {Span[]} spans of its text, by single token
 * @param {Text} text
 * @param {Span[]} others
 * @param {Text} other
 */
export function overlapping(index, spans, text, others, other) {
  const mine = placesOf(text, index).map((place) => spans[place] ?? null);
  const shared = other.labels.map((_, i) => {
    const theirs = placesOf(other, i).map((place) => others[place] ?? null);
    return mine.reduce((sum, span) => sum + theirs.reduce((all, each) => all + common(span, each), 0), 0);
  });
  const sharing = [...shared.keys()].filter((i) => shared[i] > 0);
  return sharing.sort((a, b) => shared[b] - shared[a] || a - b);
}

const placesOf = (text, index) => text.origins?.[index] ?? [index];

/** How many characters two spans share. */
function common(a, b) {
  if (!a || !b || a[0] !== b[0]) return 0;
  return Math.max(0, Math.min(a[2], b[2]) - Math.max(a[1], b[1]));
}
