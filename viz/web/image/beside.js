// Another picture or network beside the first: pointing and choosing in one shows in both, and the chosen head can
// be patched from the second.

import { addressOf, callOf } from "../core/edit_text.js";
import { ImageState } from "./state.js";

/** @import {Host, ViewProps} from "../types" */

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

  /** What is patched from a second picture; null where none can be. */
  first.fromOther = () => {
    const { view, selection, base } = first;
    const source = edit && view.remote && view.props.edits && view.props.second?.source;
    if (!source) return null;
    const { site, head } = selection;
    const one = typeof head === "number" ? head : null;
    const { layer } = base.sites[site];
    const where = addressOf(base.sites, base.sites[site]);
    const patch = () => {
      if (one !== null) edit(callOf("Patch", [layer, "head", "second"], { head: one, ...where }), source);
    };
    return { refusal: "", patch, sought: { site, what: "head", head: one, token: null }, source };
  };

  function destroy() {
    second?.destroy();
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
    if (!second?.baseOrNull || view.start || revision === view.link.revision) return;
    ({ revision } = view.link);
    second.start = first.chosenFor(second);
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
