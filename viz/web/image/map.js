// Numbers of patches over a picture: pointed at, walked over with the arrow keys.

import { markPainted } from "../core/dom.js";
import { useNewest, useSpace } from "../core/hooks.js";
import { html } from "../core/html.js";
import { cellBeside, cellOf, tokenAt } from "../core/grids.js";
import { isModified, stepOf } from "../core/keys.js";
import { Area, fitted, Legend, OverPicture } from "../parts/over_picture.js";
import { useRef } from "../vendor/hooks.js";

/** @import {PatchState} from "./state.js" */
/** @import {Scale} from "../parts/over_picture.js" */

/**
 * What is drawn over the picture, in words and pixels.
 *
 * @typedef {object} Drawn
 * @property {Uint32Array} pixels one for each patch
 * @property {number | null} [framed] the token in the frame; the chosen one where it is not said
 * @property {Scale | null} scale
 * @property {string} label
 * @property {unknown} [marks] upon the picture
 */

/**
 * The map, which stays while the next is on its way; the picture alone before the first, and where there
 * will be none.
 *
 * @param {object} props
 * @param {PatchState} props.state
 * @param {Drawn | null} props.drawn
 * @param {string} [props.reason] why there is nothing
 * @param {boolean} [props.isRefused] whether that is for good
 * @param {() => void} [props.onPainted]
 * @param {(event: KeyboardEvent) => boolean} [props.onKey] whether a key was taken
 * @param {unknown} [props.beside] above the picture
 * @param {Record<string, unknown>} [props.area] of `OverPicture`
 */
export function PatchMap({ state, drawn, reason = "", isRefused = false, beside, ...on }) {
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(stage);
  const newest = useNewest(Boolean(drawn), () => ({ .../** @type {Drawn} */ (drawn), grid: state.grid() }), [
    drawn,
  ]);
  const map = isRefused ? null : newest;
  const { base, bitmap, pointed } = state;
  const { token } = state.selection;
  const grid = map?.grid ?? state.grid(); // that of the pixels, also once another trace is here
  const framed = map?.framed === undefined ? token : map.framed;
  const answer = base.mark && grid.places[base.mark[0] * grid.shape[1] + base.mark[1]];
  const size = fitted(space, bitmap);
  const frame = (kind, at) => html`<${Area} kind=${kind} sides=${cellOf([grid], at ?? -1)} />`;
  const marks =
    map &&
    html`
      ${map.marks}
      ${frame("hs-at-answer", answer)}
      ${frame("hs-at-chosen", framed)}
      ${frame("hs-at-read", pointed === framed ? null : pointed)}
    `;
  return html`
    <div class=${reason && !isRefused ? "hs-stage hs-dim" : "hs-stage"} ref=${stage}>
      ${
        bitmap &&
        size &&
        html`
        <${OverPicture}
          ...${{ bitmap, size, marks, label: map?.label ?? "Picture", ...on.area }}
          isGrey=${map?.scale?.ramp === state.bothWays}
          layers=${map ? [{ grid, pixels: map.pixels }] : []}
          onPoint=${(place) => state.pointAt(place && tokenAt([state.grid()], place))}
          onChoose=${(place) => state.select({ token: tokenAt([state.grid()], place) })}
          onKey=${(event) => on.onKey?.(event) || event.shiftKey || walk(state, event)}
          onPainted=${() => (on.onPainted ? on.onPainted() : stage.current && markPainted(stage.current))}
        >
          ${beside}
        <//>
      `
      }
      ${reason && !isRefused && html`<div class="hs-wait" role="status">${reason}</div>`}
    </div>
    ${map?.scale && size && html`<${Legend} scale=${map.scale} wide=${size.wide} />`}
  `;
}

/**
 * Chooses the token that an arrow key, Home or End leads to.
 *
 * @param {PatchState} state
 * @param {KeyboardEvent} event
 */
export function walk(state, event) {
  const step = stepOf(event);
  const end = isModified(event) ? undefined : { Home: 0, End: state.site().queries - 1 }[event.key];
  const token = end ?? (step && tokenBeside(state, step));
  if (token === null) return;
  event.preventDefault();
  state.pointAt(null);
  state.select({ token });
}

/** The tokens before the patches stand in a row above them. */
function tokenBeside(state, [down, across]) {
  const { prefix } = state;
  const token = state.selection.token ?? 0;
  if (token < prefix) return down > 0 ? prefix : Math.min(Math.max(0, token + down + across), prefix);
  const next = cellBeside([state.grid()], token, [down, across]);
  if (next >= 0) return next;
  return down < 0 && prefix ? prefix - 1 : token;
}
