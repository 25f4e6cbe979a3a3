// Every head, one head, the text: three panels round one choice, and the bar that changes it.

import { FORMS } from "../core/declared.js";
import { element } from "../core/dom.js";
import { mountPanels } from "../core/mounting.js";
import { overCorpora } from "../core/over_corpora.js";
import { predictionLine } from "../core/prediction_line.js";
import { START } from "../core/selection.js";
import { html } from "../core/html.js";
import { useLayoutEffect } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { loadAhead, panelWithin } from "../core/view_panel.js";
import { asking, paint } from "../core/edits.js";
import { Lab } from "../lab/lab.js";
import { Below } from "../parts/below.js";
import { Overview } from "../parts/overview.js";
import { Atlas } from "../../views/atlas/view.js";
import { Numbers } from "../../views/numbers/view.js";
import { Pictures } from "../../views/pictures/view.js";
import { Aids } from "./aids.js";
import { Continuing } from "./continuing.js";
import { PAINTERS, VIEWS } from "./forms.js";
import { methodOf, RELEVANCE } from "../methods/methods.js";
import { forgetWidths } from "../painting/lettering.js";
import { secondView } from "./second.js";
import { TextState } from "./state.js";
import { Toolbar } from "./toolbar.js";

/** @import {FormPanel, Host, Panel, ViewProps} from "../types" */

const PICTURED = /** @type {(keyof typeof PAINTERS)[]} */ (Object.keys(PAINTERS));
const PAINTED = 0.1; // by which a key changes a weight
const PARTS = ["pictures", "atlas", "matrix"];
/** @type {import("../parts/overview.js").ViewOfHeads[]} */
const OVERVIEWS = [
  { name: "atlas", label: "Thumbnails", title: "Each head as a small picture: a row per layer", View: Atlas },
  {
    name: "table",
    label: "Numbers",
    title: "Each head as a dot and a row of its numbers, to sort and to filter",
    View: Numbers,
  },
];

/**
 * @param {HTMLElement} root
 * @param {ViewProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  const { update, destroy } = open(root, props, host);
  return { update, destroy };
}

/** A view with its state. */
function open(root, props, host) {
  const state = new TextState(root, props, host);
  const mounted = mountPanels(root, state, () => compose(state, root, host));
  document.fonts.addEventListener("loadingdone", forgetWidths);
  state.view.update(props);
  loadAhead(root, VIEWS, state.start?.form ?? START.form);
  return {
    state,
    /** @param {ViewProps} next */
    update(next) {
      state.view.update(next);
      mounted.restyle();
    },
    destroy() {
      document.fonts.removeEventListener("loadingdone", forgetWidths);
      mounted.destroy();
    },
  };
}

/**
 * @param {TextState} state
 * @param {HTMLElement} whole
 * @param {Host} host
 * @returns {Panel[]}
 */
function compose(state, whole, host) {
  const { follows } = state.view.props;
  const root = follows ? whole : element("div", "hs-half");
  const both = element("div", "hs-both");
  if (!follows) {
    both.append(root);
    whole.append(both);
  }
  const parts = state.view.props.parts ?? PARTS;
  const bar = element("div", "hs-bar", { role: "toolbar", "aria-label": "Layer, head and picture" });
  const grid = element("div", "hs-grid");
  const row = element("div", "hs-next-row");
  root.append(row);
  const next = predictionLine(state.view, row, () => explaining(state));
  const writing = early(panelWithin(root, Continuing, { state, host, line: row }));
  root.append(bar);
  /** @type {Panel[]} */
  const around = [next, writing];
  if (parts.includes("pictures")) around.push({ ...panelWithin(root, Pictures, { state }), late: false });
  root.append(grid);
  root.onkeydown = (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) state.letGo();
  };
  if (parts.includes("atlas")) {
    around.push(early(panelWithin(grid, Overview, { state, views: OVERVIEWS })));
    if (!follows) state.ask = asking(host);
    root.addEventListener("keydown", (event) => paintByKey(state, event), { capture: true });
  }
  /** @type {Map<string, FormPanel>} */
  const drawn = new Map();
  if (parts.includes("matrix")) {
    const picture = element("div", "hs-forms");
    grid.append(picture);
    const line = element("p", "hs-head-sentence");
    picture.append(line);
    around.push(
      ...[
        panelWithin(line, Sentence, { state, line }),
        ...(follows ? [] : [panelWithin(picture, Aids, { state })]),
      ].map(early),
    );
    for (const name of PICTURED) drawn.set(name, PAINTERS[name](state, picture));
    around.push(overCorpora(state, picture, line));
  }
  state.figure = () => drawn.get(state.selection.form)?.figure?.() ?? {};
  // the picture first: text on a canvas needs a layout, which the other panels change
  const beside = follows ? [] : [secondView(state, open, both, root, host)];
  return [
    ...drawn.values(),
    ...around,
    toolbar(state, bar, drawn),
    panelWithin(root, Below, { view: state.view }),
    ...(follows ? [] : [panelWithin(whole, Lab, { state })]),
    ...beside,
  ];
}

/** A panel above others: it is drawn with them, so that they do not move. */
const early = (/** @type {Panel} */ panel) => ({ ...panel, late: false });

/** What the chosen head does on this text, from its own numbers. Its place is kept free while it may still come. */
function Sentence({ state, line }) {
  const { site, head, form } = state.selection;
  const isWhole = FORMS[form].covers === "layers"; // it shows no single head
  const words = !isWhole && typeof head === "number" && state.numbers?.sentence({ site, head });
  useLayoutEffect(() => {
    line.hidden = isWhole || !(words || state.isCheap());
  });
  return html`<span aria-live="polite">${words && `Head ${head} here: ${words}`}</span>`;
}

/** @returns {Panel} */
function toolbar(state, bar, drawn) {
  return {
    render: () => render(html`<${Toolbar} ...${{ state, drawn }} />`, bar),
    destroy: () => render(null, bar),
  };
}

/**
 * Shows what an output rests on: in the present form if that explains outputs, else as parts of its
 * logit, or of a class by the first relevance; null where the model has no outputs with names.
 */
function explaining(state) {
  const { explains } = state.base;
  if (!state.view.remote || (explains !== "tokens" && explains !== "classes")) return null;
  /** @param {string} output */
  return (output) => {
    const { form, method } = state.selection;
    const relevance = methodOf(method).kind === "relevance";
    if (explains === "classes")
      state.select({ output, form: "model", method: relevance ? method : RELEVANCE });
    else if (form === "lens" || (form === "model" && relevance)) state.select({ output });
    else state.select({ output, form: "parts" });
  };
}

/** Alt with the arrows up and down changes the weight under the pointer in the matrix, in steps. */
function paintByKey(state, event) {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
  const by = { ArrowUp: PAINTED, ArrowDown: -PAINTED }[event.key];
  const { hover } = state;
  if (!by || !event.altKey || !hover || !state.canPaint()) return;
  const weight = state.weight(hover.query, hover.key);
  if (!weight) return;
  event.preventDefault();
  paint(state, hover, weight.value + by);
}
