// A page without a view: its settings are written into the link.

import { choose, disown, own } from "../core/address.js";

/** @import {LinkProps} from "../types" */

/**
 * @param {HTMLElement} root
 * @param {LinkProps} props
 */
export function mount(root, props) {
  /** @param {LinkProps} next */
  const update = ({ page, path, link, session }) => {
    own(page, path, link, root, session);
    choose(page, {});
  };
  update(props);
  return { update, destroy: () => disown(props.page, root) };
}
