// Below the large picture: what the colours mean, and what a row is made of.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { DECADES, fit, tidy } from "../core/overlay.js";
import { partsOf } from "./rows.js";

/** @import {Scale, Theme} from "../types" */
/** @import {Context} from "../core/overlay.js" */
/** @import {ImageState} from "./state.js" */

/** @type {Partial<Record<Scale, string>>} those of this view */
const KINDS = {
  ...{ fixed: "0 to 1", layer: "to the largest of any head here", own: "to this head’s largest" },
  log: "logarithmic, to the largest of any head here",
};
const BESIDE = "to the 99th percentile, beside a patch on which a head rests";
const SHARED = ", of both"; // where two are beside each other
export const HIGH = 34; // CSS pixels of the scale with its numbers

const MOST = 0.5; // of a row, on the class token or on one of the others

/** @param {Theme} theme */
export const massColours = (theme) => [theme.heads[3], theme.heads[2], theme.heads[15]];

/** @import {Look} from "../core/picture_file.js" */

/**
 * The scale of colours with its numbers, at the context's origin.
 *
 * @param {Context} context
 * @param {Look} look
 * @param {ImageState} state
 * @param {number} top
 */
export function paintScale(context, look, state, top) {
  const { difference } = state;
  const kind = state.selection.scale;
  const shared = state.peer && (kind === "layer" || kind === "log") ? SHARED : "";
  const end = state.sharedTop().beside ? BESIDE : KINDS[kind];
  const words = difference ? "after − before the edits" : `weight, ${end}${shared}`;
  const logarithmic = (share) => tidy(top * 10 ** (DECADES * (share - 1)));
  const numberAt = difference ? signedNumber(top) : kind === "log" ? logarithmic : squareNumber(top);
  paintRamp(context, look, difference ? state.bothWays : state.ramp, numberAt, words);
}

/** @param {number} top @returns {(share: number) => string} */
export const squareNumber = (top) => (share) => tidy(top * share ** 2);

/** @param {number} top @returns {(share: number) => string} */
export const signedNumber = (top) => (share) => {
  const half = 2 * share - 1;
  return changeOf(top * Math.sign(half) * half ** 2);
};

/**
 * A scale of colours with numbers below it and words beside it.
 *
 * @param {Context} context
 * @param {Look} look
 * @param {Uint8Array} ramp
 * @param {(share: number) => string} numberAt the number at a share of its length
 * @param {string} words
 */
export function paintRamp(context, { wide, unit, family, colour }, ramp, numberAt, words) {
  const long = Math.min(wide, 360 * Math.max(1, unit));
  const gradient = context.createLinearGradient(0, 0, long, 0);
  for (let i = 0; i < 256; i += 5)
    gradient.addColorStop(i / 255, `rgb(${ramp[3 * i]},${ramp[3 * i + 1]},${ramp[3 * i + 2]})`);
  context.fillStyle = gradient;
  context.fillRect(0, 6 * unit, long, 10 * unit);
  context.font = `${11 * unit}px ${family}`;
  context.fillStyle = colour;
  context.textBaseline = "top";
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    context.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
    context.fillText(numberAt(share), share * long, 18 * unit);
  }
  context.textAlign = "left";
  if (long + context.measureText(words).width + 10 < wide)
    context.fillText(words, long + 10, 6 * unit);
}

const changeOf = (value) => `${value > 0 ? "+" : ""}${tidy(value).replace("-", "−")}`;

/**
 * The scale as a canvas, drawn anew only when something about it changes.
 *
 * @param {ImageState} state
 */
export function legendOf(state) {
  const canvas = element("canvas", "hs-scale", { "aria-hidden": "true" });
  const stale = changes();

  function render({ wide, unit, family }, theme, top) {
    const { scale } = state.selection;
    if (!stale(wide, unit, family, devicePixelRatio, theme, top, scale, state.peer, state.values)) return;
    const context = fit(canvas, wide, HIGH * unit);
    context.clearRect(0, 0, wide, HIGH * unit);
    paintScale(context, { wide, unit, family, colour: theme.muted }, state, top);
  }

  return { canvas, render };
}

/**
 * How much of a row goes to class token, registers and patches; hidden for the largest of all heads.
 *
 * @param {ImageState} state
 */
export function massBarOf(state) {
  const bar = element("div", "hs-mass", { "aria-hidden": "true" });
  const words = element("p", "hs-parts");
  const lead = element("span");
  const whole = element("span");
  const named = /** @type {const} */ (["first", "others", "patches"]).map((part) => {
    const dot = element("i", "hs-dot");
    const text = element("span");
    return { part, dot, text, box: element("span", "hs-part", {}, dot, text) };
  });
  const without = button("Without them", "Hide the class token and registers; the rest keeps its weights", () =>
    state.select({ sinks: "hidden" }),
  );
  without.removeAttribute("aria-label");
  words.append(lead, ...named.map(({ box }) => box), whole, without);

  function render(theme, rows) {
    // the largest weights of several heads are shares of nothing
    bar.hidden = words.hidden = state.selection.head === "max" || state.difference;
    const mass = state.mass(rows.whole[state.headIndex], rows.factor);
    const names = partsOf(state.base);
    const outward = state.axis === "query";
    const sign = rows.exact ? "" : "≈ ";
    const values = [mass.first, mass.registers, mass.patches];
    const colours = massColours(theme);
    named.forEach(({ part, dot, text, box }, i) => {
      const name = names[part];
      box.hidden = !name;
      dot.style.background = colours[i];
      const share = outward ? `${(100 * values[i]).toFixed(1)}\u00a0%` : values[i].toFixed(3);
      setText(text, `${name} ${sign}${share}`);
    });
    // beside a token that takes most of the row, the scale shows little of the patches
    without.hidden = !outward || state.selection.sinks !== "shown" || mass.first + mass.registers <= MOST;
    setText(without, names.others ? "Without them" : "Without it");
    setText(lead, outward ? "Goes to: " : "Comes from: ");
    setText(whole, outward ? "" : `· in all ${mass.whole.toFixed(3)}`);
    bar.style.background = stripes(values, colours, mass.whole || 1);
  }

  return { parts: [bar, words], render };
}

/** Colours side by side, each as wide as its share: one background, nothing to lay out. */
function stripes(values, colours, whole) {
  let at = 0;
  const stops = values.map((value, i) => {
    const from = at;
    at += (100 * value) / whole;
    return `${colours[i]} ${from.toFixed(2)}% ${at.toFixed(2)}%`;
  });
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}
