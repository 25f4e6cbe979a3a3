// A page without a view: its settings are written into the link, and the selection of the view that it
// will have once its settings are valid.

import { choose, claim, disown } from "../core/address.js";
import { kept, startOf } from "../core/saved_selection.js";
import { queryOf } from "../core/selection.js";

/** @import {PageLinkProps} from "../types" */

/**
 * @param {HTMLElement} root
 * @param {PageLinkProps} props
 */
export function mount(root, props) {
  const update = (next) => {
    const { page, path, link, session, revision, defaults } = next;
    claim(page, path, link, root, session);
    choose(page, queryOf(startOf(kept(page, revision), next), defaults));
  };
  update(props);
  return { update, destroy: () => disown(props.page, root) };
}
