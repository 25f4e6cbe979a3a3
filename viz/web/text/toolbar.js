// The bar above a text's picture: layer and head, how the picture is drawn, its zoom, and Save.

import { FORMS } from "../core/declared.js";
import { html } from "../core/html.js";
import { layerName } from "../core/labels.js";
import { Button, Hosted, Stepper, Switch } from "../parts/controls.js";
import { Kinds } from "../parts/kinds.js";

/** @import {FormPanel} from "../types" */
/** @import {TextState} from "./state.js" */

const AFTER = "after the edits; the matrix shows the difference";

/** @param {{state: TextState, drawn: Map<string, FormPanel>}} props drawn: the panel of each form */
export function Toolbar({ state, drawn }) {
  const { selection, base } = state;
  const { follows, difference } = state.view.props;
  const { form, scale } = selection;
  const { choices, zoom } = drawn.get(form) ?? {};
  const [layers, heads, refused] = [state.group(), state.heads(), state.refused()];
  const known = [...drawn.keys()].filter((value) => value !== "sound" || base.sound);
  const forms = known.map((value) => ({
    value,
    label: FORMS[value].label,
    title: refused[value] ?? FORMS[value].title,
    disabled: value in refused && value !== form,
  }));
  const important = [state.view.missing, difference && form !== "matrix" && AFTER];
  const note = [...important, base[FORMS[form].grouped ? "note" : "caveat"]].filter(Boolean).join("; ");
  return html`
    <${Kinds} state=${state} />
    <${Stepper}
      name="Layer"
      labels=${layers.map((site) => layerName(base, site))}
      index=${layers.indexOf(selection.site)}
      onChoose=${(row) => state.select({ site: layers[row] })}
    />
    <${Stepper}
      name="Head"
      labels=${heads.map(String)}
      index=${heads.indexOf(selection.head)}
      onChoose=${(index) => state.select({ head: heads[index] })}
    />
    ${
      !follows &&
      html`
        <${Button}
          title="Colours from 0 to this map’s own largest weight"
          aria-pressed=${scale === "own"}
          disabled=${Boolean(difference)}
          onClick=${() => state.select({ scale: scale === "own" ? "fixed" : "own" })}
        >
          Stretch contrast
        <//>
        ${choices && html`<${Hosted} node=${choices} />`}
      `
    }
    <strong class=${important.some(Boolean) ? "hs-note hs-note-long" : "hs-note"} hidden=${!note}>${note}</strong>
    <span class="hs-spring"></span>
    ${
      drawn.size > 0 &&
      html`
        ${
          !follows &&
          html`<${Switch}
            ...${{ name: "Form of the picture", choices: forms, chosen: form }}
            onChoose=${(next) => state.select({ form: next })}
          />`
        }
        ${zoom && html`<${Zooming} zoom=${zoom} />`}
      `
    }
  `;
}

const Zooming = ({ zoom }) => html`
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
