// Patches that are chosen together, with the pointer or with Shift and the arrow keys, and what can be done
// to them: cover them before the network sees them, or cut them off from every token.

import { areaOf, cellBeside, tokenAt } from "../../web/core/grids.js";
import { useFrameSignal } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { stepOf } from "../../web/core/keys.js";
import { few } from "../../web/core/edits.js";
import { Area } from "../../web/parts/over_picture.js";
import { Button } from "../../web/parts/controls.js";

/** @import {Sides} from "../../web/core/grids.js" */
/** @import {PatchState} from "../../web/image/state.js" */

/**
 * @param {PatchState} state
 * @param {((asked: import("../../web/core/edits.js").Asked) => void) | null} ask asks for an edit; null where none can be made
 */
export function useRegion(state, ask) {
  const drawn = useFrameSignal(
    state,
    /** @type {{token: number | null, from: number, to: number} | null} */ (null),
  );
  const grid = state.grid();
  const [down, across] = grid.shape;
  const isArea = Boolean(ask && state.remote);
  /** The newest, until another patch is chosen. */
  const regionOf = () => (isArea && drawn.value?.token === state.selection.token ? drawn.value : null);
  const region = regionOf();
  const onArea = ([left, top, right, bottom]) => {
    drawn.value = {
      token: state.selection.token,
      from: tokenAt([grid], [left, top]),
      to: tokenAt([grid], [right, bottom]),
    };
  };
  const clear = () => {
    drawn.value = null;
  };
  const onKey = (event) => {
    if (event.key === "Escape" && regionOf()) clear();
    else {
      const { from, to } = regionOf() ?? { from: state.token(), to: state.token() };
      const step = event.shiftKey ? stepOf(event) : null;
      if (!step || from < state.prefix || !isArea) return false;
      const next = cellBeside([grid], to, step);
      drawn.value = { token: state.selection.token, from, to: next < 0 ? to : next };
    }
    event.preventDefault();
    return true;
  };
  const area = { isArea, onArea };
  if (!region) return { area, onKey, above: null };
  const sides = /** @type {Sides} */ (areaOf([grid], region.from, region.to));
  const [left, top, right, bottom] = sides.map((side, i) => Math.round(side * (i % 2 ? down : across)));
  const [high, wide] = [bottom - top, right - left];
  const inside = Array.from(
    { length: high * wide },
    (_, i) => (top + Math.floor(i / wide)) * across + left + (i % wide),
  );
  const act = (name, title, value) => html`
    <${Button}
      title=${title}
      onClick=${() => {
        ask?.({ do: "toggle", value });
        clear();
      }}
    >
      ${name}
    <//>
  `;
  const tokens = inside.map((patch) => grid.places[patch]);
  const above = html`
    <${Area} sides=${sides} />
    <div class="hs-region-actions">
      <span role="status">${inside.length === 1 ? "1 patch" : `${high} × ${wide} patches`}</span>
      ${act("Cover", "Set these patches to the picture’s mean colour before the network sees it", { edit: "Cover", patch: few(inside) })}
      ${act("Blur", "Blur these patches before the network sees them", { edit: "Cover", patch: few(inside), how: "blur" })}
      ${act("Cut", "No token attends to these patches, in any layer", { edit: "Cut", layer: null, head: null, query: null, key: few(tokens) })}
      <${Button} text="✕" title="Let go of these patches" onClick=${clear} />
    </div>
  `;
  return { area, onKey, above };
}
