// Tells a page when light becomes dark: figures that Streamlit has drawn keep the colours they
// began with, so the page has to make them anew.

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
    if (mode === next.mode) sent = "";
    else if (mode !== sent) {
      sent = mode;
      setTimeout(() => host.set("mode", mode));
    }
  };
  update(props);
  return { update, destroy: () => {} };
}
