// Loads the modules of a kind while its model is being loaded, and says that it is.

/** @import {Mount} from "../types" */

import { html } from "../core/html.js";
import { Loading } from "../core/mounting.js";
import { render } from "../vendor/preact.js";

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
      render(html`<${Loading} text=${message} />`, root);
    };
    update(props);
    return { update, destroy: () => render(null, root) };
  };
}
