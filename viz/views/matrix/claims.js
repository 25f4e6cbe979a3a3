// What sentences beside a picture claim of its numbers. Pure functions, tested against numbers.

/** @import {Head, HiddenSinks, Sinks} from "../../web/types" */

/** @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%`;

/**
 * @param {HiddenSinks} sinks
 * @param {number} query
 */
export const hiddenShare = ({ shares }, query) => `${percent(shares[query])} of its weight is hidden`;

/**
 * What a row of one head's weights sums to.
 *
 * @param {boolean} complete whether rows sum to 1 while all keys are shown
 * @param {Sinks} sinks
 * @returns {"one" | "rest" | "less"} 1 (or 0 where nothing is left), what hidden sinks leave, or
 *   what hidden tokens, a sink or a mask leave
 */
export function sumOf(complete, sinks) {
  if (sinks === "renormalised") return "one";
  if (sinks === "hidden") return "rest";
  return complete ? "one" : "less";
}

const SUMS = {
  one: "its weights sum to 1",
  rest: "its weights sum to what hidden tokens leave",
  less: "its weights sum to 1 or less, the remaining weight is not shown",
};

/**
 * One sentence about the weights of a head, or of several put together.
 *
 * @param {Head} head
 * @param {ReturnType<typeof sumOf>} sum of a row of one head
 * @param {string} noun what a row is
 */
export function weightsSentence(head, sum, noun = "token") {
  if (head === "mean") return `The mean over the layer’s heads; of each row, ${SUMS[sum]}.`;
  if (head === "max") return "The largest weight any head of the layer gives: rows need not sum to 1.";
  return `Each row is one ${noun} deciding where to look: ${SUMS[sum]}.`;
}

/**
 * One sentence about a joint map of an encoder–decoder.
 *
 * @param {ReturnType<typeof sumOf>} sum of a row of one softmax
 */
export function jointSentence(sum) {
  const sums = sum === "one" ? ", and sums to 2; a row of the source sums to 1" : "";
  return (
    "A row of the target holds two softmaxes, over the source and over itself" +
    `${sums}. The source cannot attend to the target.`
  );
}
