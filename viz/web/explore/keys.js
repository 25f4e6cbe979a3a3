// Keys of the picture, while the focus is inside it or in present mode; “?” lists them.

import { html } from "../core/html.js";
import { isModified } from "../core/keys.js";
import { useEffect } from "../vendor/hooks.js";
import { asksOf, headSwitch } from "./switches.js";

/** @import {TextState} from "../text/state.js" */

const LISTED = [
  ["1 – 5", "form"],
  ["[ ]", "head"],
  ["{ }", "layer"],
  ["O", "head off or on"],
  ["B", "before the edits"],
  ["I", "ignore where heads rest"],
  ["F", "other direction"],
  ["L", "Lab"],
  ["← →", "step of the tour, while presenting"],
];

/** The keys and what they do. @param {{onClose: () => void}} props */
export function Keys({ onClose }) {
  useEffect(() => {
    const press = (event) => event.key === "Escape" && onClose();
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
  return html`
    <div class="hs-keys hs-card" role="dialog" aria-label="Keys">
      <dl>${LISTED.map(([key, does]) => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`)}</dl>
    </div>
  `;
}

/** Whether a key is meant for what somebody types in, or for the browser. @param {KeyboardEvent} event */
export function isTyped(event) {
  const [target] = /** @type {HTMLElement[]} */ (event.composedPath());
  return isModified(event) || target.matches("input, textarea, select");
}

/** @param {KeyboardEvent} event @param {{state: TextState, forms: import("./forms.js").Form[]}} page */
export function keysOf(event, { state, forms }) {
  if (event.defaultPrevented || isTyped(event)) return;
  const act = actionOf(event.key, state, forms);
  if (!act) return;
  event.preventDefault();
  act();
}

function actionOf(key, state, forms) {
  const { site, head, direction, sinks, lab } = state.selection;
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
      return state.props.edits?.length ? asksOf(state).hold : null;
    case "i":
      return () => state.select({ sinks: sinks === "shown" ? "hidden" : "shown" });
    case "l":
      return () =>
        state.select({ lab: lab ? "" : state.props.edits && !state.base.given ? "experiment" : "save" });
    case "f":
      return state.texts().one ? () => state.select({ direction: direction === "in" ? "out" : "in" }) : null;
    default:
      return null;
  }
}
