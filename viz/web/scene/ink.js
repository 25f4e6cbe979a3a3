// The colours of a figure in the mode in force.

import { parse, textOn } from "../core/colours.js";

/** @import {Ink, StoryTheme} from "../types" */

/**
 * @param {StoryTheme} theme
 * @returns {Ink}
 */
export function inkOf(theme) {
  const { text, muted, line, surface, background, primary, terms, heads, weights, signed } = theme;
  return {
    ...{ text, muted, line, surface, background, primary, heads, term: terms },
    weight: (share) => pick(weights, share),
    signed: (share) => pick(signed, (share + 1) / 2),
    on: (ground) => textOn(parse(ground) ?? [255, 255, 255], text),
  };
}

function pick(colours, share) {
  const at = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return colours[Math.round(at * (colours.length - 1))];
}
