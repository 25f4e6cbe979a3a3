// All heads as small pictures: of a text their weights, of a picture what the token in question gives to the patches.

import { nameOfSpot } from "../../web/core/head_numbers.js";
import { html } from "../../web/core/html.js";
import { AllHeads } from "../../web/parts/all_heads.js";
import { paintThumbnail } from "../../web/text/scale.js";
import { useMemo } from "../../web/vendor/hooks.js";

/** @import {Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const FADED = 0.75; // opacity of the background over heads that are switched off

/** @param {{state: TextState, theme: Theme, off: ReadonlySet<string>}} props off: heads that edits switch off */
export function Atlas({ state, theme, off }) {
  const { numbers } = state;
  const group = state.group();
  const paint = useMemo(
    () => (paper) => {
      for (const site of group) paintLayer(paper, state, site, off);
    },
    [...state.thumbInputs(), off],
  );
  const sayOf = ({ site, head }) => (typeof head === "number" && numbers?.sentence({ site, head })) || "";
  return html`<${AllHeads} ...${{ state, theme, group, paint, sayOf }} />`;
}

/** The heads of a layer, or the places where they will be; those that are switched off are faded. */
function paintLayer({ context, layout, ratio, theme }, state, site, off) {
  const thumbs = state.thumbsOf(site);
  const spots = layout.spots.filter((spot) => spot.site === site);
  spots.forEach((spot, i) => {
    const { x, y } = layout.place(spot);
    const [left, top] = [x, y].map((side) => Math.round(side * ratio));
    const [wide, high] = [layout.width, layout.height].map((side) => Math.max(1, Math.round(side * ratio)));
    context.fillStyle = theme.surface;
    if (thumbs[i]) paintThumbnail(context, { ramp: theme.ramp, ...thumbs[i] }, { left, top, wide, high });
    else context.fillRect(left, top, wide, high);
    if (!off.has(nameOfSpot(spot))) return;
    context.globalAlpha = FADED;
    context.fillStyle = theme.background;
    context.fillRect(left, top, wide, high);
    context.globalAlpha = 1;
  });
}
