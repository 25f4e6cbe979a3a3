// What tokens of a picture are called, and which of them are hidden.

import { isClass } from "./rows.js";

/** @import {ImageState} from "./state.js" */

const LIST = new Intl.ListFormat("en-GB");

/**
 * "patch 23 (row 1, column 9)" or "class token".
 *
 * @param {ImageState} state
 * @param {number} token
 */
export function nameOf(state, token) {
  if (token < state.base.prefix) return shortName(state, token);
  const [row, col] = state.place(token);
  return `${shortName(state, token)} (row ${row}, column ${col})`;
}

/**
 * "patch 23" or "class token".
 *
 * @param {ImageState} state
 * @param {number} token
 */
export function shortName(state, token) {
  const { prefix, query_labels: labels } = state.base;
  if (token >= prefix) return `patch ${token - prefix}`;
  return isClass(labels[token]) ? "class token" : labels[token];
}

/**
 * The short name in the middle of a sentence.
 *
 * @param {ImageState} state
 * @param {number} token
 */
export const theToken = (state, token) =>
  `${token < state.base.prefix ? "the " : ""}${shortName(state, token)}`;

/**
 * Which tokens are hidden as sinks and what they take, as a sentence after others; "" if none are.
 *
 * @param {ImageState} state
 * @param {boolean} exact
 */
export function withoutWords(state, exact) {
  const hidden = state.hidden();
  if (!hidden) return "";
  if (!hidden.keys.size) return " There are no sinks here to hide.";
  const isColumn = state.axis === "key";
  const share = `${exact || isColumn ? "" : "≈ "}${(100 * state.hiddenShare()).toFixed(2)}\u00a0%`;
  const rest = state.selection.sinks === "hidden" ? "" : "; the rest of each row is scaled to sum to 1";
  const verb = hidden.keys.size === 1 ? "takes" : "take";
  const itself = isColumn && hidden.keys.has(state.token()) ? " This token is one of them." : "";
  return ` Without ${sinkNames(state, hidden.keys)}, which ${verb} ${share} of ${isColumn ? "a row on average" : "this row"}${rest}.${itself}`;
}

/** "the class token, 4 registers and 2 outlier patches". */
function sinkNames({ base: { prefix, query_labels: labels } }, keys) {
  const others = [...keys].filter((key) => key < prefix && !isClass(labels[key]));
  const noun = others.every((key) => labels[key].startsWith("register")) ? "register" : "other token";
  const patches = [...keys].filter((key) => key >= prefix).length;
  return LIST.format([
    ...(keys.size > others.length + patches ? ["the class token"] : []),
    ...many(others.length, noun, `${noun}s`),
    ...many(patches, "outlier patch", "outlier patches"),
  ]);
}

const many = (count, one, more) => (count ? [`${count} ${count === 1 ? one : more}`] : []);
