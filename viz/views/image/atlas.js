// Every head of every layer, as what the token in question gives to the patches.

import { shade } from "../../web/core/colours.js";
import { nameOfSpot } from "../../web/core/head_numbers.js";
import { html } from "../../web/core/html.js";
import { roughRow, withMeanAndMax } from "../../web/image/layers.js";
import { AllHeads } from "../../web/parts/all_heads.js";
import { useMemo } from "../../web/vendor/hooks.js";

/** @import {PatchState} from "../../web/image/state.js" */
/** @import {Theme} from "../../web/types" */

const FADED = 0.25; // opacity of a head that is switched off

/** @param {{state: PatchState, theme: Theme, off: ReadonlySet<string>}} props */
export function Thumbnails({ state, theme, off }) {
  const token = state.selection.token ?? 0;
  const { axis, layers, base } = state;
  const group = base.sites.map((_, site) => site);
  const here = group.filter((site) => layers.has(String(site)));
  const paint = useMemo(
    () => (paper) => {
      for (const site of group) paintLayer(paper, state, { site, token, isHere: here.includes(site), off });
    },
    [state.trace, token, axis, here.join(), off],
  );
  return html`<${AllHeads} ...${{ state, theme, group, paint }} />`;
}

/** The heads of a layer, their mean and their largest, or their places while the layer is on its way. */
function paintLayer({ context, layout, ratio, theme }, state, { site, token, isHere, off }) {
  const { heads } = state.base.sites[site];
  const layer = isHere ? state.layers.get(String(site)) : null;
  const rows =
    layer && token < layer.cells.length
      ? withMeanAndMax(Array.from({ length: heads }, (_, head) => roughRow(layer, head, token, state.axis)))
      : null;
  for (const spot of layout.spots.filter((each) => each.site === site)) {
    const at = typeof spot.head === "number" ? spot.head : heads + (spot.head === "mean" ? 0 : 1);
    const { x, y } = layout.place(spot);
    const [left, top, wide, high] = [x, y, layout.width, layout.height].map((side) =>
      Math.round(side * ratio),
    );
    context.fillStyle = theme.surface;
    context.fillRect(left, top, Math.max(1, wide), Math.max(1, high));
    if (!rows || wide < 1 || high < 1) continue;
    const pixels = context.createImageData(wide, high);
    paintPatches(pixels, rows[at], state.grid(site), state.ramp, off.has(nameOfSpot(spot)) ? FADED : 1);
    context.putImageData(pixels, left, top);
  }
}

function paintPatches(
  { data, width, height },
  values,
  { shape: [down, across], places: [prefix] },
  ramp,
  opacity,
) {
  const patches = values.subarray(prefix);
  const most = patches.reduce((a, b) => Math.max(a, b), 0) || 1;
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at += 4) {
      const patch = Math.floor((y * down) / height) * across + Math.floor((x * across) / width);
      data.set([...shade(ramp, patches[patch], most), 255 * opacity], at);
    }
}
