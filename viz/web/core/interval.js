// A mean with its 95 % interval. Pure functions.

import { signed } from "./ticks.js";

/** @import {CorpusMean} from "../types" */

const MOST_DIGITS = 4; // after the point
const SKEWED = 0.2; // of its half width, how far the middle of an interval is from the mean for "±"

/**
 * "0.71 ± 0.01", or near a bound "0.98 (0.94 to 1.00)": a mean with its 95 % interval, with as many
 * digits as that allows.
 *
 * @param {Pick<CorpusMean, "mean" | "low" | "high">} mean
 */
export function intervalOf({ mean, low, high }) {
  if (low === null || high === null) return signed(mean, 3);
  const half = (high - low) / 2;
  const digits = half > 0 ? Math.min(MOST_DIGITS, Math.max(0, 1 - Math.floor(Math.log10(half)))) : 3;
  if (half >= 10 ** -MOST_DIGITS && Math.abs(high + low - 2 * mean) > SKEWED * 2 * half)
    return `${signed(mean, digits)} (${signed(low, digits)} to ${signed(high, digits)})`;
  const least = 10 ** -MOST_DIGITS;
  const error = half > 0 && half < least / 2 ? `< ${least.toFixed(MOST_DIGITS)}` : half.toFixed(digits);
  return `${signed(mean, digits)} ± ${error}`;
}
