// What the component shows beside views: the link of a page without one, the mode of the document, and a placeholder.

import { modeOf } from "../core/colours.js";
import { html } from "../core/html.js";
import { PageLink, queryOf } from "../core/link.js";
import { Loading } from "../core/mounting.js";
import { render } from "../vendor/preact.js";

/** @import {Mount, PageLinkProps} from "../types" */

/** @param {HTMLElement} root */
export function marking(root) {
  const update = () => {
    document.documentElement.dataset.lessonMode = modeOf(root);
  };
  update();
  return { update, destroy: () => delete document.documentElement.dataset.lessonMode };
}

/** @param {HTMLElement} root @param {PageLinkProps} props */
export function linking(root, props) {
  const link = new PageLink(root);
  const update = (/** @type {PageLinkProps} */ next) => {
    const start = link.update(next);
    if (start) link.record(queryOf(start.selection, next.defaults), start.selection);
  };
  update(props);
  return { update, destroy: () => link.destroy() };
}

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
