// The picture below the colours: its own colours or grey, and how opaque what lies over it is.

import { button, switchOf } from "../core/bar.js";
import { element } from "../core/dom.js";

/** @import {Ground} from "../types" */
/** @import {ImageState} from "./state.js" */

/** @type {[Ground, string, string][]} */
const GROUNDS = [
  ["colour", "Colour", "The picture in its own colours"],
  ["grey", "Grey", "The picture grey and dim, so that colours are numbers alone"],
];

/** @param {ImageState} state */
export function groundOf(state) {
  const grounds = GROUNDS.map(([ground, text, title]) => button(text, title, () => state.select({ ground })));
  for (const item of grounds) item.removeAttribute("aria-label");
  const slider = element("input", "hs-opacity", {
    ...{ type: "range", min: "10", max: "100", step: "5" },
    "aria-label": "Opacity of the colours, percent",
    title: "Opacity of the colours",
  });
  slider.oninput = () => state.select({ opacity: Number(slider.value) });
  const box = element("div", "hs-values", {}, switchOf("Picture", ...grounds), slider);
  return {
    box,
    show() {
      const { ground, opacity } = state.selection;
      grounds.forEach((item, i) => item.setAttribute("aria-pressed", String(GROUNDS[i][0] === ground)));
      slider.value = String(opacity);
    },
  };
}
