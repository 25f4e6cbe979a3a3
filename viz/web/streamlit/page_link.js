// A page without a view: its settings are written into the link, and the selection of the view that it
// will have once its settings are valid.

import { PageLink, queryOf } from "../core/link.js";

/** @import {PageLinkProps} from "../types" */

/**
 * @param {HTMLElement} root
 * @param {PageLinkProps} props
 */
export function mount(root, props) {
  const link = new PageLink(root);
  const update = (/** @type {PageLinkProps} */ next) => {
    const start = link.update(next);
    if (start) link.record(queryOf(start.selection, next.defaults), start.selection);
  };
  update(props);
  return { update, destroy: () => link.destroy() };
}
