// Rows of methods that are computed key by key, in several requests.

import { pathOf } from "../core/sources.js";
import { useEffect } from "../vendor/hooks.js";
import { spansOf } from "./methods.js";

/** @import {ModelRow} from "../types" */

const KEYS = 24; // in one request

/**
 * The row, as far as it has come.
 *
 * @param {any} state
 * @param {string} slot
 * @param {Record<string, string | number | undefined>} asked
 * @param {number} keys that are computed one by one; 0 for a row that comes at once
 */
export function useSpans(state, slot, asked, keys) {
  useEffect(() => () => state.view.forget(slot), [state, slot]);
  /** @type {number[]} */
  const values = [];
  /** @type {(ModelRow & {reads?: string}) | null} the last part */
  let answer = null;
  for (const columns of keys ? spansOf(keys, KEYS) : [undefined]) {
    const part = state.view.answer(slot, pathOf("model_row", { ...asked, columns }));
    if (!part) break;
    if ("why" in part) return { values, answer, refusal: String(part.why) };
    values.push(...part.values);
    answer = part;
  }
  return { values, answer, refusal: "" };
}
