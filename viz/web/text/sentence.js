// What the chosen head does on this text, in one sentence from its own numbers.

import { FORMS } from "../core/declared.js";
import { element, setText } from "../core/dom.js";

/** @import {Panel} from "../types" */
/** @import {TextState} from "./state.js" */

/**
 * @param {TextState} state
 * @param {HTMLElement} line
 * @returns {Panel}
 */
export function sentence(state, line) {
  const said = element("span", "", { "aria-live": "polite" });
  line.append(said);
  return {
    render() {
      const { site, head, form } = state.selection;
      const whole = FORMS[form].covers === "layers"; // is not of one head
      const words = !whole && typeof head === "number" && state.numbers?.sentence({ site, head });
      setText(said, words ? `Head ${head} here: ${words}` : "");
      // its place is kept free while it may still come, so that the picture does not move
      line.hidden = whole || (!said.textContent && !state.isCheap());
    },
  };
}
