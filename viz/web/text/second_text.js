// What of a second text can be put into the pass of the first.

/** @import {Other} from "../types" */
/** @import {TextState} from "./state.js" */

const MOST_KEYS = 128; // of a row that is written into a link

/**
 * What the other of two beside each other gives: of texts the token chosen in it, and its row of weights.
 *
 * @param {TextState} first
 * @returns {Other | null}
 */
export function otherOf(first) {
  const { peer: second, props } = first;
  if (!first.canEdit()) return null;
  if (props.second?.source) return { refusal: "", source: props.second.source, token: null };
  if (!props.other || !second?.baseOrNull) return null;
  const { title, mean } = props.other;
  const [here, there] = [first, second].map(({ selection: { token, direction } }) =>
    direction === "in" ? null : token,
  );
  const [mine, theirs] = [first, second].map((state) => state.site(first.selection.site).queries);
  const apart = `The texts have ${mine} and ${theirs} tokens: choose a token in each, and patch that one.`;
  const weightsAlone = "A mean of prompts has weights alone: rows of it can be taken.";
  return {
    refusal: mean ? weightsAlone : mine === theirs ? "" : apart,
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
