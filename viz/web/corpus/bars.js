// Distributions as bars: a head's, with those of all heads as a line over them.

import { svg } from "../core/svg.js";

const HIGH = 64; // units of the drawing; its width is as many units as CSS pixels
const WIDE = 160;

/**
 * Shares of a whole; of nothing all 0.
 *
 * @param {number[]} counts
 */
export function shares(counts) {
  const whole = counts.reduce((sum, each) => sum + each, 0);
  return counts.map((each) => (whole ? each / whole : 0));
}

/**
 * Bars of one head, and the outline of all.
 *
 * @param {number[]} mine shares
 * @param {number[]} all shares
 * @param {string} label what is drawn
 * @param {(index: number) => string} tell what a bar says
 */
export function bars(mine, all, label, tell) {
  const top = Math.max(1e-9, ...mine, ...all);
  const step = WIDE / Math.max(1, mine.length);
  const y = (share) => HIGH - (HIGH - 2) * (share / top);
  const drawn = mine.map((share, i) =>
    svg(
      "rect",
      { class: "hs-dist-bar", x: i * step + 0.5, y: y(share), width: Math.max(0.5, step - 1), height: HIGH - y(share) },
      svg("title", {}, tell(i)),
    ),
  );
  const steps = all.map((share, i) => `H${(i * step).toFixed(2)}V${y(share).toFixed(2)}H${((i + 1) * step).toFixed(2)}`);
  const outline = svg("path", { class: "hs-dist-all", d: `M0,${HIGH}${steps.join("")}V${HIGH}` });
  return svg(
    "svg",
    { class: "hs-dist", viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    ...drawn,
    outline,
  );
}
