// A picture on the page: where a patch looks over it, all heads, the relevance for a class, and the last states.

import { FORMS, ON_SCREEN } from "../core/declared.js";
import { asking } from "../core/edits.js";
import { html } from "../core/html.js";
import { mountPanels } from "../core/mounting.js";
import { OverCorpora } from "../core/over_corpora.js";
import { embedded } from "../core/view_panel.js";
import { besideOf } from "../image/beside.js";
import { roughRow } from "../image/rows.js";
import { ImageState } from "../image/state.js";
import { methodOf } from "../methods/methods.js";
import { Field, Menu } from "../parts/controls.js";
import { fitted, OverPicture } from "../parts/over_picture.js";
import { pixelsOf, veilOf } from "../painting/over.js";
import { useMemo } from "../vendor/hooks.js";
import { Features } from "../../views/features/view.js";
import { Thumbnails } from "../../views/image/atlas.js";
import { Heads } from "../../views/image/heads.js";
import { Picture } from "../../views/image/view.js";
import { OverPatches } from "../../views/model/over_picture.js";
import { keysOf } from "./keys.js";
import { AllNumbers } from "./late.js";
import { Explore } from "./page.js";
import { Options } from "./options.js";
import { isShared, patchTokens } from "./patch_tokens.js";
import { headlineOf, PatchReading } from "./patches.js";
import { HeadSwitch, headsOff, headSwitch, Toggle } from "./switches.js";
import { Tour } from "./tour.js";
import { useWorth, WorthSeeing } from "./worth.js";

/** @import {Host, Panel, ViewProps} from "../types" */

const THUMB = 24; // CSS pixels
const EXPLAINING = "chefer"; // the method that a class is explained by, until another is chosen
const LABELS = { image: "Picture", model: "Relevance" }; // where those of texts are called otherwise
/** What the forms of all layers show, in a sentence. */
const HEADLINES = {
  model: "Every layer at once.",
  features: "Patches with similar last states share a colour.",
};
const SCALES = /** @type {const} */ ([
  ["layer", "shared by heads"],
  ["own", "each head’s own"],
  ["fixed", "0 to 1"],
]);
const OUTLIERS =
  "Also leaves out patches that receive far more weight than the others; they may hold what it looks for";
const SECOND = "The second picture stands beside this one under “Picture”.";

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
  state.ask = asking(host);
  const beside = besideOf(state, root, host);
  const shared = patchTokens(state, root, host);
  const page = embedded(Page);
  root.append(page.box);
  return [
    {
      render: (theme) => page.render({ state, theme, shared, second: beside.state() }),
      destroy() {
        page.render(null);
        beside.destroy();
      },
    },
    shared.panel,
  ];
}

function Page({ state, theme, shared, second }) {
  const { view, selection, base } = state;
  const { direction, sinks, outliers } = selection;
  const isOver = state.form === "attention";
  const isAttention = isOver || isShared(state.form);
  const rows = state.complete ? state.rows() : null;
  const off = useMemo(() => headsOff(state), [state.trace, view.props.edits]);
  const worth = useWorth(view);
  const tokens = isShared(state.form) ? shared.tokens() : null;
  const { isOff } = headSwitch(state);
  const forms = ON_SCREEN.image.map((name) => ({
    ...{ label: LABELS[name] ?? FORMS[name].label, title: FORMS[name].title, isOn: selection.form === name },
    refused: isShared(name) && !view.holds("tokens") ? "Not in this file." : "",
    choose: () => state.select({ form: name }),
  }));
  const over =
    direction === "in"
      ? "the framed patch is attended to; bright patches attend"
      : "the framed patch attends; bright patches are attended to";
  const way = isOff
    ? html`<b>switched off</b>: it still looks, but adds nothing`
    : isOver
      ? over
      : "rows attend, columns are attended to";
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
        <${HeadSwitch} state=${state} />
      `,
      headline: isAttention ? headlineOf(state, rows) : HEADLINES[state.form],
      names,
      ...(isShared(state.form)
        ? { drawing: shared.drawing }
        : { drawing: null, picture: html`<${Drawing} ...${{ state, theme, second }} />` }),
      isBeside: isOver && !second,
      aside: !isOver && view.props.second ? html`<p class="hs-card-doubt">${SECOND}</p>` : null,
      tour: view.remote && isAttention && html`<${Tour} ...${{ state, rows: worth }} />`,
      reading: html`<${PatchReading} ...${{ state, rows }} />`,
      heads: html`<${WorthSeeing} ...${{ state, rows: worth, pictureOf: (row) => html`<${WorthPicture} ...${{ state, row }} />` }} /><${Thumbnails} ...${{ state, theme, off }} />`,
      explain: explaining(state),
      lab: [
        {
          value: "numbers",
          label: "Numbers",
          content: html`
            ${
              isOver
                ? html`<div class="hs-row"><${Scale} state=${state} /></div>`
                : tokens?.baseOrNull && html`<${Options} state=${tokens} />`
            }
            ${
              sinks !== "shown" &&
              html`<${Toggle}
                text="Ignore outlier patches too"
                title=${OUTLIERS}
                isOn=${outliers === "yes"}
                onToggle=${() => state.select({ outliers: outliers === "yes" ? "no" : "yes" })}
              />`
            }
            <${OverCorpora} state=${state} />
            <${AllNumbers} ...${{ state, theme }} />
          `,
        },
      ],
      follows: false,
      onKey: (event) => keysOf(event, { state, forms }),
    }}
  />`;
}

/** The head of a row over the picture, as the row's query looks at it. */
function WorthPicture({ state, row: { site, head, query } }) {
  const { bitmap, base, ramp } = state;
  const layer = state.layers.get(String(site));
  const scene = useMemo(() => {
    if (!layer || !bitmap) return null;
    const patches = roughRow(layer, head, query, "query").subarray(base.prefix);
    const top = patches.reduce((most, weight) => Math.max(most, weight), 0) || 1;
    const pixels = pixelsOf(patches, { table: veilOf(ramp), top });
    return { bitmap, coloured: true, layers: [{ grid: state.grid(), pixels }] };
  }, [layer, bitmap, ramp, head, query]);
  const size = fitted({ wide: THUMB, high: THUMB, unit: 1, family: "" }, bitmap, { tallest: THUMB });
  return scene && size && html`<${OverPicture} ...${{ scene, size, kind: "hs-small" }} />`;
}

function Drawing({ state, theme, second }) {
  if (state.form === "model") return html`<${OverPatches} ...${{ state, theme }} />`;
  if (state.form === "features") return html`<${Features} ...${{ state, theme }} />`;
  const isOpen = second?.view.baseOrNull;
  const beside = isOpen ? html`<${Picture} ...${{ state: second, theme }} />` : html`<section inert />`;
  return html`
    <div class="hs-beside-heads">
      <${Picture} ...${{ state, theme }} />
      ${second ? beside : html`<${Heads} ...${{ state, theme }} />`}
    </div>
    ${second && html`<div class="hs-beside-heads"><${Heads} ...${{ state, theme }} />${isOpen && html`<${Heads} ...${{ state: second, theme }} />`}</div>`}
  `;
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
