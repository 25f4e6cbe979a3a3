// Right of the forms: hide where heads rest, hold what was before the edits, and switch the chosen head off.

import { headOff, isMade } from "../core/edits.js";
import { nameOfSpot } from "../core/head_numbers.js";
import { html } from "../core/html.js";
import { restingOn } from "../text/weights.js";
import { useMemo } from "../vendor/hooks.js";
import { Button } from "../parts/controls.js";
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
