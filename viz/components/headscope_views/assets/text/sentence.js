// What the chosen head does on this text, in one sentence from its own numbers.

import { FORMS } from "../core/declared.js";
import { element, setText } from "../core/dom.js";

/** @import {Panel} from "../types" */
/** @import {TextState} from "./state.js" */

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function sentence(state, parent) {
  const line = element("p", "hs-head-sentence", { "aria-live": "polite" });
  parent.append(line);
  return {
    render() {
      const { site, head, form } = state.selection;
      const whole = FORMS[form].covers === "layers"; // is not of one head
      const words = !whole && typeof head === "number" && state.numbers?.sentence({ site, head });
      setText(line, words ? `Head ${head}: ${words}` : "");
      // its place is kept free while it may still come, so that the picture does not move
      line.hidden = whole || (!line.textContent && !state.isCheap());
    },
  };
}
