// Tells a page when light becomes dark: figures that Streamlit has drawn keep the colours they began
// with, so the page has to draw them again. The document is marked too: on paper, dark becomes light.

import { modeOf } from "../core/colours.js";

/** @import {Host} from "../types" */

/** @typedef {{mode: string}} ModeProps what the page was made for */

/**
 * @param {HTMLElement} root
 * @param {ModeProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  let sent = "";
  /** @param {ModeProps} next */
  const update = (next) => {
    const mode = modeOf(root);
    document.documentElement.dataset.lessonMode = mode;
    if (mode === next.mode) sent = "";
    else if (mode !== sent) {
      sent = mode;
      setTimeout(() => host.set("mode", mode));
    }
  };
  update(props);
  return { update, destroy: () => delete document.documentElement.dataset.lessonMode };
}
