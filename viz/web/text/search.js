// Searching the tokens of a text. Pure functions.

/** @import {Range} from "./span.js" */

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
  count ? (((now < 0 && by < 0 ? count : now) + by) % count + count) % count : -1;
