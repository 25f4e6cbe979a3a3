// Another picture or network beside the first: pointing and choosing in one shows in both, and the chosen head can
// be patched from the second.

import { ImageState } from "./state.js";

/** @import {Host, ViewProps} from "../types" */

/**
 * The state of the second trace, as long as the props name one.
 *
 * @param {ImageState} first
 * @param {HTMLElement} root
 * @param {Host} host
 */
export function besideOf(first, root, host) {
  /** @type {ImageState | null} */
  let second = null;
  /** @type {ViewProps | null} */
  let props = null;
  let revision = "";

  /** What is patched from a second picture; null where none can be. */
  first.fromOther = () => {
    const { remote, props: given } = first.view;
    const source = first.ask && remote && given.edits && given.second?.source;
    return source ? { refusal: "", source, token: null } : null;
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
  ...{ page: "", path: [], link: {}, revision: "second", start: null, predicts: false, second: null },
});
