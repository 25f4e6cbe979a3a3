// Loads the modules of a kind while its model is being loaded, and says that it is.

import { skeleton } from "../core/mounting.js";
import { KINDS } from "./kinds.js";

/** @typedef {{load: string, message?: string}} PreloadProps the kind whose modules are loaded */

/**
 * @param {HTMLElement} root
 * @param {PreloadProps} props
 */
export function mount(root, props) {
  /** @param {PreloadProps} next */
  const update = ({ load, message }) => {
    void KINDS[load]?.();
    root.replaceChildren(skeleton(message));
  };
  update(props);
  return { update, destroy: () => root.replaceChildren() };
}
