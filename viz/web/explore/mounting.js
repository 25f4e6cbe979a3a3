// A page on which an input is explored: the state and the panels of one half, beside which a second may stand.

import { element } from "../core/dom.js";
import { asking } from "../core/edits.js";
import { mountPanels } from "../core/mounting.js";
import { START } from "../core/selection.js";
import { embedded, loadAhead } from "../core/view_panel.js";
import { PAINTERS, VIEWS } from "../text/forms.js";
import { secondView } from "../text/second.js";

/** @import {Host, Panel, ViewProps} from "../types" */
/** @import {TextState} from "../text/state.js" */

/**
 * @param {typeof TextState} Kind of state
 * @param {(props: any) => unknown} Page of a state
 * @param {(keyof typeof PAINTERS)[]} names of the forms that are drawn by panels of their own
 * @returns {import("../types").Mount<ViewProps>}
 */
export function mounting(Kind, Page, names) {
  const views = Object.fromEntries(names.map((name) => [name, VIEWS[name]]));

  /** A view with its state. */
  function open(root, props, host) {
    const state = new Kind(root, props, host);
    const mounted = mountPanels(root, state, () => compose(state, root, host));
    state.view.update(props);
    loadAhead(root, views, state.start?.form ?? START.form);
    return {
      state,
      /** @param {ViewProps} next */
      update(next) {
        state.view.update(next);
        mounted.restyle();
      },
      destroy: mounted.destroy,
    };
  }

  /**
   * @param {TextState} state
   * @param {HTMLElement} whole
   * @param {Host} host
   * @returns {Panel[]}
   */
  function compose(state, whole, host) {
    const { follows } = state.view.props;
    const root = follows ? whole : element("div", "hs-half");
    const both = element("div", "hs-both");
    if (!follows) {
      both.append(root);
      whole.append(both);
    }
    const page = embedded(Page);
    root.append(page.box);
    const drawing = element("div", "hs-forms");
    const drawn = new Map(
      names.map((name) => [/** @type {string} */ (name), PAINTERS[name](state, drawing)]),
    );
    if (!follows) state.ask = asking(host);
    state.figure = () => drawn.get(state.selection.form)?.figure?.() ?? {};
    root.onkeydown = (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) state.letGo();
    };
    const beside = follows ? [] : [secondView(state, open, both, root, host)];
    return [
      {
        render: (theme) => page.render({ state, theme, host, drawing, drawn }),
        destroy: () => page.render(null),
      },
      ...drawn.values(),
      ...beside,
    ];
  }

  return (root, props, host) => {
    const { update, destroy } = open(root, props, host);
    return { update, destroy };
  };
}
