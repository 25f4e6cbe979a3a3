// How opaque the colours over a picture are.

import { element } from "../core/dom.js";

/** @import {ImageState} from "./state.js" */

/** @param {ImageState} state */
export function opacityOf(state) {
  const slider = element("input", "hs-opacity", { type: "range", min: "10", max: "100", step: "5" });
  slider.oninput = () => state.select({ opacity: Number(slider.value) });
  const box = element("label", "hs-label", { title: "Opacity of the colours, percent" }, "Opacity ", slider);
  return { box, show: () => void (slider.value = String(state.selection.opacity)) };
}
