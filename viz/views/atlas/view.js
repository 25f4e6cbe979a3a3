// All heads of a text as small pictures: what to look at next.

import { nameOfSpot } from "../../web/core/head_numbers.js";
import { html } from "../../web/core/html.js";
import { AllHeads } from "../../web/parts/all_heads.js";
import { paintThumbnail } from "../../web/text/thumbnail.js";
import { useMemo } from "../../web/vendor/hooks.js";

/** @import {Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const FADED = 0.75; // opacity of the background over heads that are switched off

/** @param {{state: TextState, theme: Theme, off?: ReadonlySet<string>}} props off: heads that edits switch off */
export function Atlas({ state, theme, off = NONE }) {
  const { numbers, maps } = state;
  const paint = useMemo(
    () => (paper) => {
      for (const spot of paper.layout.spots) paintThumb(paper, state, spot);
      fade(paper, off);
    },
    [maps, maps.thumbs.size, state.selection.scale, off],
  );
  const sayOf = ({ site, head }) => (typeof head === "number" && numbers?.sentence({ site, head })) || "";
  return html`<${AllHeads} ...${{ state, theme, group: state.group(), paint, sayOf }} />`;
}

/** @type {ReadonlySet<string>} */
const NONE = new Set();

/** One small picture, or the place where it will be. */
function paintThumb({ context, layout, ratio, theme }, state, spot) {
  const { x, y } = layout.place(spot);
  const place = {
    x: Math.round(x * ratio),
    y: Math.round(y * ratio),
    pixels: Math.max(1, Math.round(layout.height * ratio)),
    wide: Math.max(1, Math.round(layout.width * ratio)),
  };
  const part = state.maps.thumb(spot.site, spot.head);
  if (part) return paintThumbnail(context, part, theme, state.top(part), place);
  context.fillStyle = theme.surface;
  context.fillRect(place.x, place.y, place.wide, place.pixels);
}

/** Fades the heads that are switched off. */
function fade({ context, layout, ratio, theme }, off) {
  context.globalAlpha = FADED;
  context.fillStyle = theme.background;
  for (const spot of layout.spots) {
    if (!off.has(nameOfSpot(spot))) continue;
    const { x, y } = layout.place(spot);
    const [wide, high] = [layout.width, layout.height].map((side) => Math.ceil(side * ratio) + 1);
    context.fillRect(Math.floor(x * ratio), Math.floor(y * ratio), wide, high);
  }
  context.globalAlpha = 1;
}
