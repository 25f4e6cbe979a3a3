// A mean with its 95 % interval. Pure functions.

import { signed } from "../core/ticks.js";

/** @import {CorpusMean} from "../types" */

const MOST_DIGITS = 4; // after the point

/**
 * "0.71 ± 0.01": a mean with its 95 % interval, with as many digits as that allows.
 *
 * @param {Pick<CorpusMean, "mean" | "low" | "high">} mean
 */
export function intervalOf({ mean, low, high }) {
  if (low === null || high === null) return signed(mean, 3);
  const half = (high - low) / 2;
  const digits = half > 0 ? Math.min(MOST_DIGITS, Math.max(0, 1 - Math.floor(Math.log10(half)))) : 3;
  const least = 10 ** -MOST_DIGITS;
  const error = half > 0 && half < least / 2 ? `< ${least.toFixed(MOST_DIGITS)}` : half.toFixed(digits);
  return `${signed(mean, digits)} ± ${error}`;
}
