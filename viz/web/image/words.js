// What tokens of a picture are called.

import { isClass } from "./rows.js";

/** @import {ImageState} from "./state.js" */

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
