// Loads the modules of a kind while its model is being loaded, and says that it is.

/** @import {Mount} from "../types" */

import { skeleton } from "../core/mounting.js";

/** @typedef {{load: string, message?: string}} PreloadProps the kind whose modules are loaded */

/**
 * @param {Record<string, () => Promise<unknown>>} kinds each loads its modules
 * @returns {Mount<PreloadProps>}
 */
export function preloading(kinds) {
  return (root, props) => {
    /** @param {PreloadProps} next */
    const update = ({ load, message }) => {
      void kinds[load]?.();
      root.replaceChildren(skeleton(message));
    };
    update(props);
    return { update, destroy: () => root.replaceChildren() };
  };
}
