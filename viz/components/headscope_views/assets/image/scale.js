// Below the large picture: what the colours mean, and what a row is made of.

import { fit, tidy } from "./overlay.js";
import { element, say } from "./view.js";

const KINDS = { fixed: "0 to 1", layer: "shared by the heads", own: "this head’s own" };
export const massColours = (theme) => [theme.heads[3], theme.heads[2], theme.heads[15]];

/** The ramp with its numbers: {canvas, render(size, theme)}; drawn only when one of them changes. */
export function legendOf(store) {
  const canvas = element("canvas", "hs-scale", { "aria-hidden": "true" });
  let drawn = "";

  function render({ wide, unit, family }, theme) {
    const top = store.topOf(store.rows().heads[store.shown]);
    const key = [wide, unit, family, devicePixelRatio, theme.mode, top, store.selection.scale];
    if (key.join() === drawn) return;
    drawn = key.join();
    const ramp = Math.min(wide, 360);
    const context = fit(canvas, wide, 34 * unit);
    context.clearRect(0, 0, wide, 34 * unit);
    context.fillStyle = gradient(context, ramp);
    context.fillRect(0, 6, ramp, 10 * unit);
    context.font = `${11 * unit}px ${family}`;
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      context.textAlign = { 0: "left", 1: "right" }[share] ?? "center";
      context.fillText(tidy(top * share ** 2), share * ramp, 8 + 10 * unit);
    }
    context.textAlign = "left";
    const said = `weight, ${KINDS[store.selection.scale] ?? ""}`;
    if (ramp + context.measureText(said).width + 10 < wide)
      context.fillText(said, ramp + 10, 5 + unit);
  }

  function gradient(context, wide) {
    const ramp = store.ramps.dark;
    const made = context.createLinearGradient(0, 0, wide, 0);
    for (let i = 0; i < 256; i += 5)
      made.addColorStop(i / 255, `rgb(${ramp[3 * i]},${ramp[3 * i + 1]},${ramp[3 * i + 2]})`);
    return made;
  }

  return { canvas, render };
}

/** How much of a row goes to class token, registers and patches: {parts: [bar, words], render}. */
export function massBarOf(store) {
  const bar = element("div", "hs-mass", { "aria-hidden": "true" });
  const words = element("p", "hs-parts");
  const lead = element("span");
  const whole = element("span");
  const named = ["class", "registers", "patches"].map((name) => {
    const dot = element("i", "hs-dot");
    const text = element("span");
    return { name, dot, text, box: element("span", "hs-part", {}, dot, text) };
  });
  words.append(lead, ...named.map(({ box }) => box), whole);

  function render(theme) {
    const rows = store.rows();
    const mass = store.mass(rows.heads[store.shown], rows.factor);
    const outward = store.axis === "query";
    const sign = rows.exact ? "" : "≈ ";
    const values = [mass.first, mass.registers, mass.patches];
    const colours = massColours(theme);
    named[0].box.hidden = !mass.named;
    named[1].box.hidden = store.base.prefix <= mass.named;
    named.forEach(({ name, dot, text }, i) => {
      dot.style.background = colours[i];
      const share = outward ? `${(100 * values[i]).toFixed(1)} %` : values[i].toFixed(3);
      say(text, `${name} ${sign}${share}`);
    });
    say(lead, outward ? "Goes to: " : "Comes from: ");
    say(whole, outward ? "" : `· in all ${mass.whole.toFixed(3)}`);
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
