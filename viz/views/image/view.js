// One head over the picture: where the token in question looks, or what looks at it. Point at a patch, or
// walk over them with the arrow keys: all other panels follow.

import { markPainted } from "../../web/core/dom.js";
import { html } from "../../web/core/html.js";
import { cellOf } from "../../web/core/grids.js";
import { fadeOf, nearlyUniform, numbersOf, pixelsOf, tidy } from "../../web/painting/pixels.js";
import { useRef } from "../../web/vendor/hooks.js";
import { useNewest } from "../../web/core/hooks.js";
import { PatchMap } from "../../web/image/map.js";
import { Area } from "../../web/parts/over_picture.js";
import { useRegion } from "./region.js";

/** @import {PatchState, Rows} from "../../web/image/state.js" */
/** @import {Scale} from "../../web/types" */

const DARK = 0.12; // of the scale: below it nothing stands out from the ground
const FEW = 15; // rows and columns of patches between which there are lines
/** @type {Partial<Record<Scale, string>>} */
const KINDS = {
  fixed: "0 to 1",
  layer: "to the largest of any head here",
  own: "to this head’s largest",
};
const BESIDE = "to the 99th percentile, beside a patch on which a head rests";

/** The pixels of a head's row over the patches. @param {PatchState} state @param {Float32Array} values */
export function pixelsOfRow(state, values) {
  const patches = values.subarray(state.prefix);
  const top = state.topOf(values);
  if (state.difference) return pixelsOf(patches, { ramp: state.bothWays, top, isSigned: true });
  return pixelsOf(patches, { ramp: state.ramp, top, opacity: fadeOf(patches) });
}

/** @param {{state: PatchState}} props */
export function Picture({ state }) {
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  const { edits } = state.props;
  const { site, head, direction, scale, sinks } = state.selection;
  const rows = state.complete ? state.rows() : null;
  const shared = state.topBeside;
  const drawn = useNewest(Boolean(rows), () => drawnOf(state, /** @type {Rows} */ (rows)), [
    rows,
    state.ramp,
    state.grid(),
    site,
    head,
    direction,
    scale,
    sinks,
    state.token(),
    state.hidden(),
    shared,
  ]);
  const region = useRegion(state, edits ? state.ask : null);
  const painted = () => {
    if (!state.first && section.current) markPainted(section.current);
  };
  const wait = state.remote ? `Fetching ${state.siteName()} …` : "Not in this file";
  return html`
    <section class="hs-section" ref=${section}>
      <${PatchMap}
        ...${{ state, drawn, area: region.area, beside: region.above }}
        reason=${rows ? "" : wait}
        onPainted=${painted}
        onKey=${region.onKey}
      />
      ${drawn?.warning && html`<p class="hs-sentence hs-dark">${drawn.warning}</p>`}
    </section>
  `;
}

function drawnOf(state, rows) {
  const { headIndex } = state;
  const { shape } = state.grid();
  const values = rows.heads[headIndex];
  const token = state.token();
  return {
    pixels: pixelsOfRow(state, values),
    framed: token,
    scale: rampOf(state, state.topOf(values)),
    label: labelOf(state),
    marks: html`
      ${Math.max(...shape) <= FEW && html`<i class="hs-ruled" style=${{ backgroundSize: `${100 / shape[1]}% ${100 / shape[0]}%` }} />`}
      ${[...(state.hidden()?.keys ?? [])].map((key) => html`<${Area} kind="hs-crossed" sides=${cellOf([state.grid()], key)} />`)}
    `,
    warning: warningOf(state, values),
  };
}

function labelOf(state) {
  const { model, note } = state.base;
  const { shape: grid } = state.grid();
  const { title, edits } = state.props;
  return (
    `${title ? `${title}: picture` : "Picture"} of ${grid[0]} × ${grid[1]} patches with the weights of ${state.siteName()}, ` +
    `${state.headName()}, ${model}${note ? ` (${note})` : ""}. ` +
    `Arrow keys choose a patch${edits ? ", with Shift several" : ""}; Home the first token.`
  );
}

function rampOf(state, top) {
  const { scale } = state.selection;
  if (state.difference)
    return { ramp: state.bothWays, numberAt: numbersOf(top, true), words: "after − before the edits" };
  const both = state.topBeside !== undefined && scale === "layer" ? ", of both" : "";
  const words = `weight, ${state.sharedTop().beside ? BESIDE : KINDS[scale]}${both}`;
  return { ramp: state.ramp, numberAt: numbersOf(top), words };
}

/** What is said where weights are nearly equal, where the scale ends at a percentile, or leaves nothing to see. */
function warningOf(state, values) {
  const [top, largest] = [state.topOf(values), state.largest(values)];
  if (state.difference) return "";
  if (state.selection.scale === "fixed" && largest / top < DARK)
    return `All dark on the scale 0 to 1: the largest weight is ${tidy(largest)}. Choose another scale.`;
  const patches = values.subarray(state.prefix);
  if (nearlyUniform(patches))
    return `Nearly uniform, so the colours are faint: each patch has ${tidy(Math.min(...patches))} to ${tidy(largest)}.`;
  if (!state.sharedTop().beside) return "";
  return `The colours end at the 99th percentile, ${tidy(top)}: one patch takes most of a head’s weight.`;
}
