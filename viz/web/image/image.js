// A picture as a network reads it: its patches, one of them chosen, and every head of a layer.

import { FORMS } from "../core/declared.js";
import { element } from "../core/dom.js";
import { html } from "../core/html.js";
import { layerName } from "../core/labels.js";
import { mountPanels } from "../core/mounting.js";
import { overCorpora } from "../core/over_corpora.js";
import { predictionLine } from "../core/prediction_line.js";
import { embedded, panelWithin } from "../core/view_panel.js";
import { asking } from "../core/edits.js";
import { Lab } from "../lab/lab.js";
import { Below } from "../parts/below.js";
import { Switch, Field, Hosted, Menu, Stepper, Toggle } from "../parts/controls.js";
import { methodOf } from "../methods/methods.js";
import { Features } from "../../views/features/view.js";
import { Heads } from "../../views/image/heads.js";
import { Picture } from "../../views/image/view.js";
import { OverPatches } from "../../views/model/over_picture.js";
import { besideOf } from "./beside.js";
import { ImageState } from "./state.js";

/** @import {Host, Panel, ViewProps} from "../types" */

const EXPLAINING = "chefer"; // the method that a class is explained by, until another is chosen
const CONTENTS = [
  { value: "matrix", label: "Attention", title: "The weights of one token in each head" },
  { value: "model", label: "Relevance", title: FORMS.model.title },
  { value: "features", label: FORMS.features.label, title: FORMS.features.title },
];
const DIRECTIONS = [
  { value: "out", label: "Looks at", title: "Where the chosen patch looks" },
  { value: "in", label: "Is looked at by", title: "Which patches look at the chosen one" },
];
const SCALES = /** @type {const} */ ([
  ["layer", "shared by heads"],
  ["own", "each head’s own"],
  ["fixed", "0 to 1"],
]);
const SINKS = /** @type {const} */ ([
  ["shown", "Sinks shown"],
  ["hidden", "Sinks hidden"],
  ["renormalised", "Sinks hidden, rows sum to 1"],
]);
const OUTLIERS =
  "Also hides patches that receive far more weight than the others (mean over heads and queries above" +
  " median + 10 MAD); they may also hold what the network looks for";

/**
 * @param {HTMLElement} root
 * @param {ViewProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  const state = new ImageState(root, props, host);
  const mounted = mountPanels(root, state, () => compose(state, root, host));
  state.view.update(props);
  return {
    /** @param {ViewProps} next */
    update(next) {
      state.view.update(next);
      mounted.restyle();
    },
    destroy() {
      mounted.destroy();
    },
  };
}

/** @returns {Panel[]} */
function compose(state, root, host) {
  const next = predictionLine(state.view, root, () => explaining(state));
  state.ask = asking(host);
  const corpora = element("div");
  const beside = besideOf(state, root, host);
  const page = embedded(Page);
  root.append(page.box);
  return [
    next,
    {
      render: (theme) => page.render({ state, theme, corpora, second: beside.state() }),
      destroy() {
        page.render(null);
        beside.destroy();
      },
    },
    overCorpora(state, corpora),
    panelWithin(root, Below, { view: state.view }),
    panelWithin(root, Lab, { state }),
  ];
}

function Page({ state, theme, corpora, second }) {
  const { form } = state;
  const isOpen = second?.view.baseOrNull;
  return html`
    <${Toolbar} state=${state} />
    ${
      form === "attention" &&
      html`
      <div class=${second ? "hs-grid hs-image-grid hs-two" : "hs-grid hs-image-grid"}>
        <div><${Picture} ...${{ state, theme }} /></div>
        ${second && (isOpen ? html`<${Picture} ...${{ state: second, theme }} />` : html`<section inert />`)}
        <div>
          <${Heads} ...${{ state, theme }}>
            <${Hosted} node=${corpora} />
          <//>
        </div>
        ${second && (isOpen ? html`<${Heads} ...${{ state: second, theme }} />` : html`<section inert />`)}
      </div>
    `
    }
    ${
      form !== "attention" &&
      state.view.props.second &&
      html`<p class="hs-doubt">The second picture stands beside this one under “Attention”.</p>`
    }
    ${form === "model" && html`<${OverPatches} ...${{ state, theme }} />`}
    ${form === "features" && html`<${Features} ...${{ state, theme }} />`}
  `;
}

/** Shows what speaks for a class; null where the model has none. */
function explaining(state) {
  if (!state.view.remote || state.base.explains !== "classes") return null;
  /** @param {string} output */
  return (output) => {
    const { method } = state.selection;
    state.select({
      form: "model",
      output,
      method: methodOf(method).kind === "relevance" ? method : EXPLAINING,
    });
  };
}

function Toolbar({ state }) {
  const { selection, base } = state;
  const { site, head, direction, scale, sinks, outliers, method } = selection;
  const { missing, props } = state.view;
  const isAttention = state.form === "attention";
  const isOfHead = methodOf(method).of === "head";
  const note = [missing, base.note].filter(Boolean).join("; ");
  const heads = state.heads();
  const menuOf = (name, title, options, value, onChoose) => html`
    <${Menu}
      ...${{ name, title, labels: options.map(([, label]) => label) }}
      index=${options.findIndex(([each]) => each === value)}
      onChoose=${(index) => onChoose(options[index][0])}
    />
  `;
  return html`
    <div class="hs-bar" role="toolbar" aria-label="Layer, head and scale">
      <${Switch}
        ...${{ name: "Over the picture", chosen: selection.form, choices: CONTENTS }}
        onChoose=${(form) => state.select({ form })}
      />
      ${
        (isAttention || (state.form === "model" && isOfHead)) &&
        html`
        <${Stepper}
          ...${{ name: "Layer", labels: base.sites.map((_, index) => layerName(base, index)), index: site }}
          onChoose=${(index) => state.select({ site: index })}
        />
        <${Stepper}
          ...${{ name: "Head", labels: heads.map(String), index: heads.indexOf(head) }}
          onChoose=${(index) => state.select({ head: heads[index] })}
        />
      `
      }
      ${
        isAttention &&
        html`
        <${Switch}
          ...${{ name: "Direction of attention", chosen: direction ?? "out", choices: DIRECTIONS }}
          onChoose=${(next) => state.select({ direction: next })}
        />
        <${Field} name="scale">${menuOf("Scale", "The range of the colours", SCALES, scale, (next) => state.select({ scale: next }))}<//>
        <div class="hs-values">
          ${menuOf("Sinks", "The class token and registers, which take weight when a head finds nothing to look at", SINKS, sinks, (next) => state.select({ sinks: next }))}
          ${
            sinks !== "shown" &&
            html`<${Toggle}
            text="Outlier patches"
            title=${OUTLIERS}
            isOn=${outliers === "yes"}
            onToggle=${(isOn) => state.select({ outliers: isOn ? "yes" : "no" })}
          />`
          }
        </div>
      `
      }
      ${note && html`<strong class=${missing || props.second ? "hs-note hs-note-long" : "hs-note"}>${note}</strong>`}
    </div>
  `;
}
