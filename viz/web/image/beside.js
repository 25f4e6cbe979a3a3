// Another picture or network beside the first: pointing and choosing in one shows in both, and heads of the
// second can be patched into the first.

import { addressOf, callOf } from "../core/edit_text.js";
import { ImageState } from "./state.js";

/** @import {Host, Sought, ViewProps} from "../types" */

/**
 * The state of the second trace, as long as the props name one.
 *
 * @param {ImageState} first
 * @param {HTMLElement} root
 * @param {Host} host
 * @param {((text: string, second?: string) => void) | null} edit makes an edit
 */
export function besideOf(first, root, host, edit) {
  /** @type {ImageState | null} */
  let second = null;
  /** @type {ViewProps | null} */
  let props = null;
  let revision = "";

  /** The second picture as the source of patches; null where none can be made from it. */
  const source = () =>
    (edit && first.view.remote && first.view.props.edits && first.view.props.second?.source) || null;
  /** A patch of a head at every token. @param {number | null} head @returns {Sought} */
  const sought = (head) => ({ site: first.selection.site, what: "head", head, token: null });

  function patchHead(head) {
    const { sites } = first.base;
    const site = sites[first.selection.site];
    const from = source();
    if (from)
      edit?.(callOf("Patch", [site.layer, "head", "second"], { head, ...addressOf(sites, site) }), from);
  }

  first.fromOther = () => {
    const { head } = first.selection;
    const from = source();
    const one = typeof head === "number" ? head : null;
    if (!from) return null;
    return { refusal: "", patch: () => one !== null && patchHead(one), sought: sought(one), source: from };
  };

  function destroy() {
    second?.destroy();
    second?.view.destroy();
    second = null;
  }

  /** Opens, changes or closes the second trace after the props have changed. */
  function settle() {
    const { view } = first;
    if (props !== view.props) {
      ({ props } = view);
      const given = props.second && secondProps(props, props.second);
      if (!given) return destroy();
      if (!second) {
        second = new ImageState(root, given, host, first);
        second.view.subscribe(() => first.changed());
        first.peer = second;
      }
      second.view.update(given);
    }
    if (!second?.view.baseOrNull || view.start || revision === view.revision) return;
    ({ revision } = view);
    second.adopt();
  }

  return {
    destroy,
    state() {
      settle();
      return second;
    },
  };
}

/** The props of the second trace: it writes no link and keeps no selection. */
const secondProps = (props, second) => ({
  ...props,
  ...second,
  ...{ page: "", path: [], link: {}, revision: "second", start: null, panels: [], second: null },
});
