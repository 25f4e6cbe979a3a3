// Tokens of two tokenizers that stand for the same characters of a text.

/** @import {Text} from "../types" */

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
  const matches = [...shared.keys()].filter((i) => shared[i] > 0);
  return matches.sort((a, b) => shared[b] - shared[a] || a - b);
}

const placesOf = (text, index) => text.origins?.[index] ?? [index];

/** How many characters two spans share. */
function common(a, b) {
  if (!a || !b || a[0] !== b[0]) return 0;
  return Math.max(0, Math.min(a[2], b[2]) - Math.max(a[1], b[1]));
}
