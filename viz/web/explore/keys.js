// Keys of the picture, while the focus is inside it or in present mode.

import { asksOf, headSwitch } from "./switches.js";

/** @import {TextState} from "../text/state.js" */

export const KEYS = [
  ["1 – 5", "form"],
  ["[ ]", "head"],
  ["{ }", "layer"],
  ["O", "head off or on"],
  ["B", "before the edits"],
  ["I", "ignore where heads rest"],
  ["F", "other direction"],
];

/**
 * @param {KeyboardEvent} event
 * @param {{state: TextState, forms: import("./forms.js").Form[]}} page
 */
export function keysOf(event, { state, forms }) {
  const [target] = /** @type {HTMLElement[]} */ (event.composedPath());
  if (
    event.defaultPrevented ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target.matches("input, textarea, select")
  )
    return;
  const act = actionOf(event.key, state, forms);
  if (!act) return;
  event.preventDefault();
  act();
}

/** @returns {(() => void) | null} */
function actionOf(key, state, forms) {
  const { site, head, direction, sinks } = state.selection;
  const step = (all, now, by) => all[Math.min(Math.max(0, all.indexOf(now) + by), all.length - 1)];
  if (/^[1-5]$/.test(key)) {
    const form = forms[Number(key) - 1];
    return form && !form.refused ? form.choose : null;
  }
  switch (key.toLowerCase()) {
    case "[":
    case "]":
      return () => state.select({ head: step(state.heads(), head, key === "]" ? 1 : -1) });
    case "{":
    case "}":
      return () => state.select({ site: step(state.group(), site, key === "}" ? 1 : -1) });
    case "o":
      return headSwitch(state).edit ? asksOf(state).toggle : null;
    case "b":
      return state.view.props.edits?.length ? asksOf(state).hold : null;
    case "i":
      return () => state.select({ sinks: sinks === "shown" ? "hidden" : "shown" });
    case "f":
      return state.texts().one ? () => state.select({ direction: direction === "in" ? "out" : "in" }) : null;
    default:
      return null;
  }
}
