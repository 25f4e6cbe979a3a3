// What the image view calls things.

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
export function theToken(state, token) {
  return `${token < state.base.prefix ? "the " : ""}${shortName(state, token)}`;
}

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
  const share = `${exact || state.axis === "key" ? "" : "≈ "}${(100 * state.hiddenShare()).toFixed(2)}\u00a0%`;
  const rest = state.selection.sinks === "hidden" ? "" : "; the rest of each row is scaled to sum to 1";
  const verb = hidden.keys.size === 1 ? "takes" : "take";
  const takes = `${verb} ${share} of ${state.axis === "key" ? "a row on average" : "this row"}`;
  const itself = state.axis === "key" && hidden.keys.has(state.token()) ? " This token is one of them." : "";
  return ` Without ${sinkNames(state, hidden.keys)}, which ${takes}${rest}.${itself}`;
}

/** "the class token, 4 registers and 2 outlier patches". */
function sinkNames(state, keys) {
  const { prefix, query_labels: labels } = state.base;
  const tokens = [...keys];
  const named = tokens.filter((key) => key < prefix && isClass(labels[key])).length;
  const others = tokens.filter((key) => key < prefix && !isClass(labels[key]));
  const noun = others.every((key) => labels[key].startsWith("register")) ? "register" : "other token";
  const patches = tokens.filter((key) => key >= prefix).length;
  const parts = [
    named ? "the class token" : "",
    many(others.length, noun, `${noun}s`),
    many(patches, "outlier patch", "outlier patches"),
  ].filter(Boolean);
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}` : parts[0];
}

/** @type {(count: number, one: string, more: string) => string} */
const many = (count, one, more) => (count ? `${count} ${count === 1 ? one : more}` : "");
