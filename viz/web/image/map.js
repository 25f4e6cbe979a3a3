// Numbers of patches over a picture: pointed at, walked over with the arrow keys.

import { markPainted } from "../core/dom.js";
import { useNewest, useSpace } from "../core/hooks.js";
import { html } from "../core/html.js";
import { cellBeside, cellOf, tokenAt } from "../core/grids.js";
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
  const walk = (event) => {
    if (on.onKey?.(event) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const next = tokenBeside(state, event.key);
    if (next === null) return;
    event.preventDefault();
    state.pointAt(null);
    state.select({ token: next });
  };
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
          onKey=${walk}
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
 * The token a key leads to; null for other keys.
 *
 * @param {PatchState} state
 * @param {string} key
 */
export function tokenBeside(state, key) {
  const { prefix: first } = state;
  const token = state.selection.token ?? 0;
  if (key === "Home") return 0;
  if (key === "End") return state.site().queries - 1;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[key];
  if (!by) return null;
  if (token < first) return key === "ArrowDown" ? first : Math.min(Math.max(0, token + by), first);
  const next = cellBeside([state.grid()], token, key);
  if (next >= 0) return next;
  return key === "ArrowUp" && first ? first - 1 : token;
}
