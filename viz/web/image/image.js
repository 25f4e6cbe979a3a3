// A picture as a network reads it: its patches, one of them chosen, and every head of a layer.

import { button, menu, stepper, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { FORMS } from "../core/declared.js";
import { element, setText } from "../core/dom.js";
import { editControls } from "../core/edits.js";
import { layerName } from "../core/labels.js";
import { mountPanels } from "../core/mounting.js";
import { overCorpora } from "../core/over_corpora.js";
import { predictionLine } from "../core/prediction_line.js";
import { headBeside } from "../core/selection.js";
import { embedded, panelWithin } from "../core/view_panel.js";
import { Below } from "../parts/below.js";
import { HeadsThatMatter } from "../matter/heads.js";
import { methodOf } from "../methods/methods.js";
import { besideOf } from "./beside.js";
import { pictureOf } from "./grid.js";
import { featuresOf } from "./features.js";
import { headsOf } from "./heads.js";
import { patchesOf } from "./patches.js";
import { States } from "./patching.js";
import { relevanceOf } from "./relevance.js";
import { ImageState } from "./state.js";

/** @import {Form, Host, Paint, Panel, Scale, Selection, Sinks, ViewProps} from "../types" */

const EXPLAINING = "chefer"; // the method that a class is explained by, until another is chosen
/** @type {[Form, string, string][]} */
const CONTENTS = [
  ["matrix", "Attention", "The weights of one token in each head"],
  ["model", "Relevance", FORMS.model.title],
  ["features", FORMS.features.label, FORMS.features.title],
];

/** @type {[Scale, string, string][]} */
const SCALES = [
  ["layer", "Shared", "All heads on one scale: 0 to the largest weight of any head for this token; beside a patch on which a head rests, to the 99th percentile"],
  ["own", "Own", "Each head from 0 to its own largest weight on a patch"],
  ["fixed", "0 to 1", "All heads on the full range of weights"],
  ["log", "Log", "All heads on one logarithmic scale: small weights show, down to a 10,000th of the largest"],
];

/** @type {[Paint, string, string][]} */
const PAINTS = [
  ["patches", "Patches", "Each patch in the colour of its weight"],
  ["smooth", "Smooth", "Colours interpolated between the centres of patches; numbers stay exact"],
  ["mask", "Mask", "The fewest patches that hold 60\u00a0% of the weight on patches; the rest dark"],
];
/** @type {[Sinks, string][]} */
const SINKS = [
  ["shown", "Sinks shown"],
  ["hidden", "Sinks hidden"],
  ["renormalised", "Sinks hidden, rows sum to 1"],
];

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
      state.destroy();
      mounted.destroy();
    },
  };
}

function compose(state, root, host) {
  const bar = element("div", "hs-bar", { role: "toolbar", "aria-label": "Layer, head and scale" });
  const grid = element("div", "hs-grid hs-image-grid");
  const next = predictionLine(state.view, root, () => explaining(state));
  const alone = element("p", "hs-doubt", {}, "The second picture stands beside this one under “Attention”.");
  root.append(bar, grid, alone);
  const relevance = whenChosen(state, "model", root, relevanceOf);
  const features = whenChosen(state, "features", root, featuresOf);
  /** @type {Panel} */
  const forms = {
    render() {
      grid.hidden = state.form !== "attention";
      alone.hidden = !grid.hidden || !state.view.props.second;
    },
  };
  const edits = editsOf(state, host);
  const views = [pictureOf(state, grid, edits.ask), headsOf(state, grid, [edits.box])];
  const column = /** @type {HTMLElement} */ (grid.lastElementChild); // of the heads
  const matters = embedded(HeadsThatMatter);
  const states = embedded(States);
  column.append(matters.box, states.box);
  /** @type {Panel} */
  const experiments = {
    late: true,
    render(theme) {
      const select = (/** @type {Partial<Selection>} */ change) => state.select(change);
      matters.render({ view: state.view, theme, site: state.selection.site, select, edit: edits.ask });
      states.render({ state, theme, edit: edits.ask });
    },
    destroy() {
      matters.render(null);
      states.render(null);
    },
  };
  const beside = besideOf(state, grid, root, host, edits.ask);
  const over = overCorpora(state, column);
  return [
    ...[next, forms, beside, ...views, experiments, relevance, features, over],
    ...[patchesOf(state, root), toolbar(state, bar, edits), panelWithin(root, Below, { view: state.view })],
    { render() {}, destroy: edits.destroy },
  ];
}

/**
 * A panel that is made when its form is first chosen.
 *
 * @param {ImageState} state
 * @param {Form} form
 * @param {HTMLElement} parent
 * @param {(state: ImageState, parent: HTMLElement) => Panel} create
 * @returns {Panel}
 */
function whenChosen(state, form, parent, create) {
  const place = element("div");
  parent.append(place);
  /** @type {Panel | null} */
  let panel = null;
  return {
    measure: () => panel?.measure?.(),
    render(theme) {
      if (!panel && state.form === form) {
        panel = create(state, place);
        panel.render(theme); // sizes hold once there is content
        panel.measure?.();
      }
      panel?.render(theme);
    },
  };
}

/** Shows what speaks for a class; null where the model has none. */
function explaining(state) {
  if (!state.view.remote || state.base.explains !== "classes") return null;
  /** @param {string} output */
  return (output) => {
    const { method } = state.selection;
    state.select({ form: "model", output, method: methodOf(method).kind === "relevance" ? method : EXPLAINING });
  };
}

function editsOf(state, host) {
  return editControls(state.view, host, {
    chosen() {
      const { token, direction, ...of } = state.selection;
      const inward = direction === "in";
      return { site: of.site, head: of.head, query: inward ? null : token, key: inward ? token : null };
    },
    tokensOf: (_, place) => [place],
    patches: false,
    fromOther: () => state.fromOther?.() ?? null,
    reach: (change) => state.reach(change),
    grid: () => ({ rows: state.base.grid[0], cols: state.base.grid[1], prefix: state.base.prefix }),
  });
}

function toolbar(state, bar, edits) {
  const contents = CONTENTS.map(([form, text, title]) => button(text, title, () => state.select({ form })));
  const layer = stepper(
    "Layer",
    (by) => state.select({ site: state.selection.site + by }),
    (site) => state.select({ site }),
  );
  const head = stepper(
    "Head",
    (by) => state.select({ head: headBeside(state.base, state.selection, by) }),
    (index) => state.select({ head: state.heads()[index] }),
  );
  const out = button("Looks at", "Where the chosen patch looks", () =>
    state.select({ direction: "out" }),
  );
  const into = button("Is looked at by", "Which patches look at the chosen one", () =>
    state.select({ direction: "in" }),
  );
  const scales = SCALES.map(([scale, text, title]) =>
    button(text, title, () => state.select({ scale })),
  );
  const paints = PAINTS.map(([paint, text, title]) =>
    button(text, title, () => state.select({ paint })),
  );
  const sinks = menu(
    "Sinks",
    "The class token and registers, which take weight when a head finds nothing to look at",
    SINKS.map(([, label]) => label),
    (index) => state.select({ sinks: SINKS[index][0] }),
  );
  const outliers = button(
    "Outlier patches",
    "Also hides patches that receive far more weight than the others (mean over heads and queries" +
      " above median + 10 MAD); they may also hold what the network looks for",
    () => state.select({ outliers: state.selection.outliers === "yes" ? "no" : "yes" }),
  );
  outliers.removeAttribute("aria-label");
  for (const item of [...contents, out, into, ...scales, ...paints]) item.removeAttribute("aria-label");
  const note = element("strong", "hs-note");
  const directions = switchOf("Direction of attention", out, into);
  const scaling = switchOf("Scale", ...scales);
  const sinking = element("div", "hs-values", {}, sinks, outliers);
  bar.replaceChildren(
    ...[switchOf("Over the picture", ...contents), layer.box, head.box, directions],
    ...[scaling, switchOf("Weights drawn as", ...paints)],
    ...[sinking, note],
  );
  const stale = changes();
  return {
    render() {
      edits.render();
      const { site, head: chosen, direction, scale, paint } = state.selection;
      const { sinks: mode, outliers: more } = state.selection;
      const { missing } = state.view;
      const { form } = state;
      const { method, beside } = state.selection;
      const of = new Set([method, beside].filter(Boolean).map((name) => methodOf(name).of));
      const drawn = [form, ...of, site, chosen, direction, scale, paint, mode, more, missing];
      if (!stale(state.base, ...drawn)) return;
      const attends = form === "attention";
      contents.forEach((item, i) => item.setAttribute("aria-pressed", String(CONTENTS[i][0] === state.selection.form)));
      const one = form === "model" && of.has("head"); // what a method is about
      layer.box.hidden = head.box.hidden = !attends && !one;
      for (const item of [edits.box, directions, scaling, sinking, paints[PAINTS.length - 1]]) item.hidden = !attends;
      layer.show(state.base.sites.map((_, index) => layerName(state.base, index)), site);
      head.show(state.heads().map(String), state.heads().indexOf(chosen));
      out.setAttribute("aria-pressed", String(direction !== "in"));
      into.setAttribute("aria-pressed", String(direction === "in"));
      scales.forEach((item, i) => item.setAttribute("aria-pressed", String(SCALES[i][0] === scale)));
      paints.forEach((item, i) => item.setAttribute("aria-pressed", String(PAINTS[i][0] === paint)));
      sinks.selectedIndex = SINKS.findIndex(([each]) => each === mode);
      outliers.hidden = mode === "shown";
      outliers.setAttribute("aria-pressed", String(more === "yes"));
      setText(note, [missing, state.base.note].filter(Boolean).join("; "));
      note.classList.toggle("hs-note-long", Boolean(missing || state.view.props.second)); // which has a button below the row
      note.hidden = !note.textContent;
    },
  };
}
