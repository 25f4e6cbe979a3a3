// Distributions as bars: a head's, with those of all heads as a line over them.

import { html } from "../core/html.js";

const [WIDE, HIGH] = [160, 64]; // units of the drawing

/**
 * Bars of one head, and the outline of all.
 *
 * @param {object} props
 * @param {number[]} props.mine shares, or counts
 * @param {number[]} props.all
 * @param {string} props.label what is drawn
 * @param {(index: number) => string} props.tell what a bar says
 */
export function Distribution({ mine, all, label, tell }) {
  const [shares, others] = [sharesOf(mine), sharesOf(all)];
  const top = Math.max(1e-9, ...shares, ...others);
  const step = WIDE / Math.max(1, mine.length);
  const y = (share) => HIGH - (HIGH - 2) * (share / top);
  const outline = others.map(
    (share, i) => `H${(i * step).toFixed(2)}V${y(share).toFixed(2)}H${((i + 1) * step).toFixed(2)}`,
  );
  const bar = (share, i) => html`
    <rect class="hs-dist-bar" x=${i * step + 0.5} y=${y(share)} width=${Math.max(0.5, step - 1)} height=${HIGH - y(share)}>
      <title>${tell(i)}</title>
    </rect>
  `;
  return html`
    <svg class="hs-dist" viewBox=${`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" role="img" aria-label=${label}>
      ${shares.map(bar)}
      <path class="hs-dist-all" d=${`M0,${HIGH}${outline.join("")}V${HIGH}`} />
    </svg>
  `;
}

/**
 * Shares of a whole; of nothing all 0.
 *
 * @param {number[]} counts
 */
export function sharesOf(counts) {
  const whole = counts.reduce((sum, each) => sum + each, 0);
  return counts.map((each) => (whole ? each / whole : 0));
}
