// Numbers of controls as dots on a line, with the number that they are compared with.

import { element, setAttribute, setText } from "../core/dom.js";
import { signed } from "../core/ticks.js";

/**
 * One control.
 *
 * @typedef {object} Control
 * @property {string} name
 * @property {number} value
 * @property {boolean} exact whether a pass of its own tells, drawn as a full dot; else an estimate
 */

const DIGITS = 3;

/**
 * How large a number is among others, by size without sign, in words.
 *
 * @param {number} value
 * @param {number[]} others
 * @param {string} what the others are
 */
export function rankOf(value, others, what) {
  const below = others.filter((other) => Math.abs(other) < Math.abs(value)).length;
  const count = others.length;
  if (count === 1) return `${below ? "larger" : "no larger"} than the other one of ${what}`;
  if (below === count) return `larger than all ${count} others of ${what}`;
  return `larger than ${below || "none"} of the ${count} others of ${what}`;
}

/**
 * Where numbers lie between the smallest and the largest of them and 0, in percent.
 *
 * @param {number[]} values
 */
export function spread(values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const span = high - low || 1;
  return { low, high, at: (/** @type {number} */ value) => (100 * (value - low)) / span };
}

/** @param {string} [look] "" with numbers at its ends, or "hs-spread-small" */
export function strip(look = "") {
  const line = element("div", "hs-spread-line");
  const ends = element("div", "hs-spread-ends", { "aria-hidden": "true" });
  const box = element("div", `hs-spread ${look}`.trim(), { role: "img" }, line, ends);
  return {
    box,
    /**
     * @param {Control} mine
     * @param {Control[]} others
     * @param {string} words what is seen
     */
    draw(mine, others, words) {
      const { low, high, at } = spread([mine, ...others].map(({ value }) => value));
      /** @param {string} kind @param {Control} control */
      const dot = (kind, { name, value, exact }) => {
        const node = element("span", exact ? kind : `${kind} hs-spread-rough`, { title: `${name}: ${signed(value, DIGITS)}${exact ? "" : " by attribution"}` });
        node.style.left = `${at(value)}%`;
        return node;
      };
      const zero = element("span", "hs-spread-zero");
      zero.style.left = `${at(0)}%`;
      line.replaceChildren(zero, ...others.map((other) => dot("hs-spread-other", other)), dot("hs-spread-mine", mine));
      /** @param {number} value */
      const end = (value) => element("span", "", {}, value ? signed(value, DIGITS) : "0");
      ends.replaceChildren(end(low), end(high));
      setAttribute(box, "aria-label", words);
    },
    clear() {
      line.replaceChildren();
      setText(ends, "");
    },
  };
}
