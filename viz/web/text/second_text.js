// What of a second text can be put into the pass of the first.

/** @import {Other, ViewProps} from "../types" */
/** @import {TextState} from "./state.js" */

const MOST_KEYS = 128; // of a row that is written into a link

/**
 * The token chosen in the second text, and its row of weights.
 *
 * @param {TextState} first
 * @param {TextState} second
 * @param {NonNullable<ViewProps["other"]>} given
 * @returns {Other}
 */
export function fromSecondText(first, second, { title, mean }) {
  const [here, there] = [first, second].map(({ selection: { token, direction } }) =>
    direction === "in" ? null : token,
  );
  const [mine, theirs] = [first, second].map((state) => state.site(first.selection.site).queries);
  const apart = `The texts have ${mine} and ${theirs} tokens: choose a token in each, and patch that one.`;
  return {
    refusal: mean
      ? "A mean of prompts has weights alone: rows of it can be taken."
      : mine === theirs
        ? ""
        : apart,
    source: mean ? "" : title,
    token: there === null ? null : (second.texts().query.origins?.[there]?.[0] ?? there),
    row: here === null || there === null ? null : rowOf(first, here, second, there),
  };
}

/** @returns {Other["row"]} */
function rowOf(first, here, second, there) {
  const [mine, theirs] = [first.lastKey(here), second.lastKey(there)];
  const weights = [...(second.exactRow("query", there)?.weights ?? [])].slice(0, mine + 1);
  const refusal =
    mine !== theirs
      ? `The rows have ${mine + 1} and ${theirs + 1} keys`
      : mine >= MOST_KEYS
        ? `A row of more than ${MOST_KEYS} keys cannot be set`
        : !first.hasScores()
          ? "Weights of words are made of several: show tokens"
          : weights.length
            ? ""
            : "The row is on its way";
  return { refusal, weights };
}
