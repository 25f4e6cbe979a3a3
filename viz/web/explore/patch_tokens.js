// A picture as a text whose tokens have places: its matrix, and the inside of a head, drawn as those of texts are.

import { element } from "../core/dom.js";
import { PAINTERS } from "../text/forms.js";
import { TextState } from "../text/state.js";

/** @import {Form, Host, Panel} from "../types" */
/** @import {ImageState} from "../image/state.js" */

const SHARED = /** @type {const} */ (["matrix", "head"]);
const CHOSEN = /** @type {const} */ (["site", "head", "token", "partner", "direction", "sinks", "form"]);

/** The patches in a row. */
class PatchTokens extends TextState {
  overviewPath = "tokens";
}

/** @param {Form | "attention"} form */
export const isShared = (form) => SHARED.some((each) => each === form);

/**
 * The panels of the forms that a picture shares with texts. What is chosen in one is chosen in the other.
 *
 * @param {ImageState} state
 * @param {HTMLElement} root
 * @param {Host} host
 */
export function patchTokens(state, root, host) {
  const drawing = element("div", "hs-forms");
  /** @type {PatchTokens | null} there once such a form was chosen */
  let tokens = null;
  /** @type {Record<string, import("../types").FormPanel>} */
  let panels = {};
  /** @type {unknown} */
  let props = null;
  let agreed = "";
  state.figure = () => panels[state.form]?.figure?.() ?? {};

  function open() {
    const opened = new PatchTokens(root, propsOf(state), host);
    opened.ask = state.ask;
    opened.subscribe(() => state.changed());
    panels = Object.fromEntries(SHARED.map((name) => [name, PAINTERS[name](opened, drawing)]));
    return opened;
  }

  /** Takes over what was chosen since on either side. @returns {PatchTokens | null} where it can be drawn */
  function follow() {
    if (!isShared(state.form)) return null;
    tokens ??= open();
    if (props !== state.props) tokens.update(propsOf(state));
    ({ props } = state);
    if (!tokens.baseOrNull || tokens.trace !== state.trace) return null;
    if (chosenIn(state) !== agreed) tokens.select(picked(state));
    else if (chosenIn(tokens) !== agreed) state.select(picked(tokens));
    agreed = chosenIn(state);
    return tokens;
  }

  return {
    drawing,
    tokens: () => tokens,
    /** @type {Panel} */
    panel: {
      measure() {
        if (follow()) panels[state.form].measure?.();
      },
      render(theme) {
        if (follow()) for (const each of Object.values(panels)) each.render(theme);
      },
      destroy() {
        for (const each of Object.values(panels)) each.destroy?.();
        tokens?.destroy();
      },
    },
  };
}

/** The props of the text: it writes no link and keeps no selection. */
const propsOf = ({ props }) => ({
  ...props,
  ...{ page: "", path: [], link: {}, revision: "tokens", start: null, predicts: false, second: null },
});

const picked = ({ selection }) => Object.fromEntries(CHOSEN.map((name) => [name, selection[name]]));

const chosenIn = (state) => JSON.stringify(picked(state));
