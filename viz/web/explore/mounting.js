// A page on which an input is explored, beside which a second may stand.

import { asking } from "../core/edits.js";
import { html } from "../core/html.js";
import { mountView } from "../core/mounting.js";
import { START } from "../core/selection.js";
import { VIEWS } from "../text/forms.js";
import { Halves } from "../text/second.js";

/** @import {ViewProps} from "../types" */
/** @import {TextState} from "../text/state.js" */

/**
 * @param {typeof TextState} Kind of state
 * @param {(props: any) => unknown} Page of a state
 * @returns {import("../types").Mount<ViewProps>}
 */
export function mounting(Kind, Page) {
  /** A view with its state. @type {import("../text/second.js").Open} */
  function open(root, props, host, first) {
    const state = new Kind(root, props, host, first);
    if (!first) state.ask = asking(host);
    root.onkeydown = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && state.letGo()) event.preventDefault();
    };
    const mounted = mountView(root, state, (theme) => {
      const page = html`<${Page} ...${{ state, theme, host }} />`;
      return first ? page : html`<${Halves} ...${{ first: state, host, open }}>${page}<//>`;
    });
    loadAhead(root, state.start?.form ?? START.form);
    return { state, ...mounted };
  }

  return (root, props, host) => open(root, props, host);
}

/** Imports the form that is drawn first while its numbers are fetched, and the others once somebody comes to them. */
function loadAhead(root, first) {
  const load = (/** @type {string} */ name) => void VIEWS[name]?.().catch(() => {}); // the form says so
  load(first);
  for (const event of ["pointerover", "focusin"])
    root.addEventListener(event, () => Object.keys(VIEWS).forEach(load), { once: true });
}
