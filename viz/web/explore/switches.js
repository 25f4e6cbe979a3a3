// Right of the forms: hide where heads rest, hold what was before the edits, and switch the chosen head off; and keys of
// the picture, while the focus is inside it or in present mode, which “?” lists.

import { headOff, isMade } from "../core/edits.js";
import { nameOfSpot } from "../core/head_numbers.js";
import { html } from "../core/html.js";
import { isModified } from "../core/keys.js";
import { Button } from "../parts/controls.js";
import { restingOn } from "../text/weights.js";
import { useEffect, useMemo } from "../vendor/hooks.js";
import { wordOf } from "./reading.js";

/** @import {TextState} from "../text/state.js" */

/** @param {{state: TextState}} props */
export function Ignore({ state }) {
  const { site, head, sinks } = state.selection;
  const parts = state.parts();
  const isOn = sinks !== "shown";
  const resting = useMemo(() => restingOn(state), [state.trace, site, head, parts, isOn]);
  if (state.texts().key.timed && !resting && !isOn) return null; // no moment of a recording is a place to rest
  const first = state.texts().key.special[0] ?? 0;
  const name = wordOf(state, "key", resting?.key ?? first);
  const share = resting ? `${(100 * resting.share).toFixed(0)} % of this head’s attention rests on it. ` : "";
  return html`
    <${Toggle}
      text=${`Ignore ${name}`}
      title=${`${share}Leaves out the first token, special tokens, and those on which a head of this layer rests`}
      isOn=${isOn}
      onToggle=${() => state.select({ sinks: isOn ? "shown" : "hidden" })}
    />
  `;
}

/** @param {{text: string, title: string, isOn: boolean, onToggle: () => void}} props */
export const Toggle = ({ text, title, isOn, onToggle }) => html`
  <button type="button" class="hs-toggle" role="switch" aria-checked=${isOn} title=${title} onClick=${onToggle}>
    <i aria-hidden="true"></i><bdi>${text}</bdi>
  </button>
`;

/** The edit that switches the chosen head off, and whether it is made. @param {any} state */
export function headSwitch(state) {
  const { site, head } = state.selection;
  const edit = state.props.edits && !state.base.given ? headOff(state, site, head) : null;
  return { edit, isOff: isMade(state.props, edit) };
}

/** The heads that edits switch off, by name. @type {(state: any) => ReadonlySet<string>} */
export function headsOff(state) {
  const { sites } = state.base;
  if (!state.props.edits?.length) return new Set();
  const spots = sites.flatMap(({ heads }, site) =>
    Array.from({ length: heads }, (_, head) => ({ site, head })),
  );
  return new Set(
    spots.filter(({ site, head }) => isMade(state.props, headOff(state, site, head))).map(nameOfSpot),
  );
}

/** Turns a switch of the chosen head, and shows the pass before the edits or after them. */
export const asksOf = (state) => ({
  toggle: () => state.ask?.({ do: "toggle", value: headSwitch(state).edit }),
  hold: () => state.ask?.({ do: "edited", value: state.props.edited ? "before" : "after" }),
});

/** @param {{state: any}} props */
export function HeadSwitch({ state }) {
  const { edits, edited } = state.props;
  if (!edits) return null;
  const { edit, isOff } = headSwitch(state);
  const { toggle, hold } = asksOf(state);
  const isHeld = edits.some(({ on }) => on) && !edited;
  return html`
    ${
      edits.some(({ on }) => on) &&
      html`<button type="button" class="hs-button" aria-pressed=${isHeld} onClick=${hold}>Hold: before</button>`
    }
    <button
      type="button"
      class=${isOff ? "hs-button hs-strong" : "hs-button"}
      disabled=${!edit}
      aria-pressed=${isOff}
      onClick=${toggle}
    >
      ${isOff ? "Switch head on" : "Switch head off"}
    </button>
  `;
}

/** @param {{zoom: import("../types").Zoom}} props */
export const Zooming = ({ zoom }) => html`
  <div class="hs-switch" role="group" aria-label="Zoom">
    <${Button} text="−" title="Zoom out" disabled=${!zoom.isZoomed()} onClick=${zoom.out} />
    <${Button} text="+" title="Zoom in" disabled=${zoom.isDeepest()} onClick=${zoom.in} />
    <${Button}
      text="Reset"
      title="Reset zoom: show the whole matrix"
      disabled=${!zoom.isZoomed()}
      onClick=${zoom.reset}
    />
  </div>
`;

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
