// How a network's numbers are written: sizes and shapes. Pure functions.

/** @import {ArchitecturePart, Shape} from "../types" */

/** @typedef {Pick<ArchitecturePart, "times" | "parameters" | "flops">} Amounts */

const QUANTITIES = ["parameters", "FLOPs"];
const STEPS = ["", " k", " M", " G", " T"];

/**
 * Three digits and a unit: 1,234,567 → "1.23 M".
 *
 * @param {number} value
 */
export function short(value) {
  let [rest, step] = [value, 0];
  while (rest >= 999.5 && step < STEPS.length - 1) {
    rest /= 1000;
    step += 1;
  }
  const digits = step === 0 || rest >= 99.95 ? 0 : rest >= 9.995 ? 1 : 2;
  return rest.toFixed(digits) + STEPS[step];
}

/**
 * Both numbers in one line.
 *
 * @param {Amounts} part
 */
export function amountsOf(part) {
  return QUANTITIES.map((name) => `${short(total(part, name))} ${name}`).join(" · ");
}

/**
 * Of all copies of a part.
 *
 * @param {Amounts} part
 * @param {string} quantity
 */
export function total(part, quantity) {
  return part.times * part[/** @type {"flops"} */ (quantity.toLowerCase())];
}

/**
 * “100 × 300”, or “100 tokens × 300 dim” where there is space.
 *
 * @param {Shape} axes
 * @param {number} space
 * @param {(text: string) => number} measure
 */
export function shape(axes, space, measure) {
  const plain = axes.map(([, size]) => size.toLocaleString("en")).join(" × ");
  const named = axes.map(([name, size]) => `${size.toLocaleString("en")} ${name}`).join(" × ");
  return measure(named) <= space ? named : plain;
}
