// A picture on the page: where a patch looks over it, all heads, the relevance for a class, and the last states.

import { FORMS, ON_SCREEN } from "../core/declared.js";
import { html } from "../core/html.js";
import { PatchState, roughRow } from "../image/state.js";
import { Field, Menu } from "../parts/controls.js";
import { fitted, OverPicture } from "../parts/over_picture.js";
import { pixelsOf } from "../painting/pixels.js";
import { useMemo } from "../vendor/hooks.js";
import { Features } from "../../views/features/view.js";
import { Atlas } from "../../views/atlas/view.js";
import { Heads } from "../../views/image/heads.js";
import { Picture } from "../../views/image/view.js";
import { OverPatches } from "../../views/model/over_picture.js";
import { Explore, Form, HEADLINES, mounting, switchedOff } from "./page.js";
import { Options } from "./forms.js";
import { headlineOf, PatchReading } from "./patches.js";
import { headSwitch, Toggle } from "./switches.js";

const THUMB = 24; // CSS pixels
const LABELS = { image: "Picture", model: "Relevance" }; // where those of texts are called otherwise
const DRAWINGS = { image: Patches, model: OverPatches, features: Features };
const WAYS = {
  in: "the framed patch is attended to; bright patches attend",
  out: "the framed patch attends; bright patches are attended to",
};
const SCALES = /** @type {const} */ ([
  ["layer", "shared by heads"],
  ["own", "each head’s own"],
  ["fixed", "0 to 1"],
]);
const OUTLIERS =
  "Also leaves out patches that receive far more weight than the others; they may hold what it looks for";

export const mount = mounting(PatchState, Page);

function Page({ state, theme }) {
  const { selection, base } = state;
  const { form, direction, sinks } = selection;
  const isOver = form === "image";
  const isAttention = FORMS[form].covers === "heads";
  const isAlone = !state.first && !state.props.second;
  const rows = state.complete ? state.rows() : null;
  const { isOff } = headSwitch(state);
  const forms = ON_SCREEN.image.map((name) => ({
    ...{ label: LABELS[name] ?? FORMS[name].label, title: FORMS[name].title, isOn: form === name },
    refused:
      !DRAWINGS[name] && !state.holds(state.mapPath(selection.site, selection.head))
        ? "Not in this file."
        : "",
    choose: () => state.select({ form: name }),
  }));
  const way = isOff ? switchedOff() : isOver ? WAYS[direction] : "rows attend, columns are attended to";
  const names = html`
    ${base.model} · ${isAttention ? html`${state.siteName()} · ${state.headName()} · ${way}` : "all layers"}
    ${base.note && ` · ${base.note}`}
  `;
  return html`<${Explore}
    ...${{ state, theme }}
    parts=${{
      forms,
      switches: html`
        ${isAttention && html`<${Toggle} text="Ignore [CLS]" title="Leaves out the class token and registers, where heads rest" isOn=${sinks !== "shown"} onToggle=${() => state.select({ sinks: sinks === "shown" ? "hidden" : "shown" })} />`}
      `,
      headline: isAttention ? headlineOf(state, rows) : HEADLINES[form],
      names,
      picture: html`<${DRAWINGS[form] ?? Form} ...${{ state, theme }} />`,
      isBeside: isOver && isAlone,
      isToured: isAttention && isAlone,
      reading: html`<${PatchReading} ...${{ state, rows }} />`,
      pictureOf: (row) => html`<${WorthPicture} ...${{ state, row }} />`,
      heads: (off) => html`<${Atlas} ...${{ state, theme, off }} />`,
      numbers: html`
        ${isOver ? html`<div class="hs-row"><${Scale} state=${state} /></div>` : html`<${Options} state=${state} />`}
        ${sinks !== "shown" && html`<${Outliers} state=${state} />`}
      `,
    }}
  />`;
}

/** The head of a row over the picture, as the row's query looks at it. */
function WorthPicture({ state, row: { site, head, query } }) {
  const { bitmap, ramp } = state;
  const layer = state.layers.get(String(site));
  const layers = useMemo(() => {
    const grid = state.grid(site);
    const patches = layer && roughRow(layer, head, query, "query").subarray(grid.places[0]);
    const top = patches?.reduce((most, weight) => Math.max(most, weight), 0) || 1;
    return patches ? [{ grid, pixels: pixelsOf(patches, { ramp, top }) }] : [];
  }, [layer, ramp, head, query]);
  const size = fitted({ wide: THUMB, high: THUMB }, bitmap, THUMB);
  return size && html`<${OverPicture} ...${{ bitmap, layers, size, kind: "hs-small" }} />`;
}

function Patches(props) {
  return html`<div class="hs-beside-heads"><${Picture} ...${props} /><${Heads} ...${props} /></div>`;
}

function Scale({ state }) {
  return html`<${Field} name="Colours">
    <${Menu}
      ...${{ name: "Colours", title: "The range of the colours", labels: SCALES.map(([, label]) => label) }}
      index=${SCALES.findIndex(([each]) => each === state.selection.scale)}
      onChoose=${(index) => state.select({ scale: SCALES[index][0] })}
    />
  <//>`;
}

function Outliers({ state }) {
  const { outliers } = state.selection;
  return html`<${Toggle}
    text="Ignore outlier patches too"
    title=${OUTLIERS}
    isOn=${outliers === "yes"}
    onToggle=${() => state.select({ outliers: outliers === "yes" ? "no" : "yes" })}
  />`;
}
