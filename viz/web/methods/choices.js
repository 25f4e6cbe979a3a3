// The choice of methods for all layers together: one, or two beside each other, how they fuse heads,
// and the output that a relevance explains.

import { aboutOf } from "../core/about.js";
import { METHODS } from "../core/declared.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { legible } from "../core/labels.js";
import { fusedIn, fusedQueryOf, inPercent, methodOf } from "./methods.js";
import { embedded } from "../core/view_panel.js";
import { labelled, OutputMenu } from "./output_menu.js";

/** @import {Fusion, Method, RelevanceAnswer} from "../types" */
/** @import {ImageState} from "../image/state.js" */
/** @import {TextState} from "../text/state.js" */
/** @import {MethodInfo} from "../core/declared.js" */
/** @import {Fused} from "./methods.js" */

/** @typedef {TextState | ImageState} State */

const EXPLAINING = "For a chosen output"; // methods
const MOST_DISCARDED = 95; // percent
/** @type {[Fusion, string][]} */
const FUSIONS = [
  ["mean", "mean"],
  ["max", "maximum"],
  ["min", "minimum"],
];

/**
 * The controls in a row, what is chosen with them, and the line that says what is not offered.
 *
 * @param {State} state
 * @param {string} unexplained why no relevance is offered, where the model has no output for it
 * @param {HTMLElement[]} [more] controls that follow
 */
export function methodChoices(state, unexplained, more = []) {
  const first = methodMenu("Method", false, (method) => state.select({ method: method || "rollout" }));
  const second = methodMenu("Beside it", true, (beside) => state.select({ beside }));
  const refused = element("p", "hs-doubt", {}, unexplained);
  const explained = embedded(OutputMenu);
  const fusing = [false, true].map((beside) => fusionControls(state, beside));
  const box = element(
    "div",
    "hs-row",
    {},
    labelled("Method", first),
    ...fusing[0].boxes,
    labelled("beside it", second),
    ...fusing[1].boxes,
    explained.box,
    ...more,
  );

  return {
    box,
    refused,
    /**
     * Draws them, and returns the methods that are chosen.
     *
     * @param {boolean} always whether an output is explained by every method
     */
    render(always = false) {
      const { method, beside } = state.selection;
      const explains = state.base.explains !== "nothing";
      refused.hidden = explains;
      for (const menu of [first, second]) offerRelevance(menu, explains);
      first.value = methodOf(method).name;
      second.value = beside;
      for (const menu of [first, second]) setAttribute(menu, "title", tellOf(menu.value));
      const infos = chosenIn(state);
      explained.render(always || infos.some(({ kind }) => kind === "relevance") ? { state } : null);
      fusing.forEach((controls, i) => controls.render(infos[i] ?? null));
      return infos;
    },
  };
}

/**
 * The choice as parameters of a file.
 *
 * @param {State} state
 * @returns {Record<string, string | number>}
 */
export function choiceOf(state) {
  const { method, beside, output } = state.selection;
  /** @type {Record<string, string>} */
  const tested = isTested(state) ? { tested: "yes" } : {};
  const more = { ...(beside ? { beside } : {}), ...(output ? { output } : {}), ...tested };
  return { method: methodOf(method).name, ...more, ...fusedOf(state) };
}

/**
 * The formula, range and source of a method; "" for none.
 *
 * @param {string} name
 */
const tellOf = (name) => (name ? aboutOf({ ...methodOf(name), about: methodOf(name).title }) : "");

/**
 * The methods that are shown.
 *
 * @param {State} state
 */
export const chosenIn = ({ selection: { method, beside } }) =>
  [method, beside].filter((name) => name !== "").map(methodOf);

/**
 * How the heads are fused, as parameters of a file: of the first method, and of the one beside it
 * where it differs.
 *
 * @param {State} state
 */
function fusedOf(state) {
  const [first, second] = chosenIn(state);
  const query = fusedQueryOf(first, fusedIn(state.selection, false));
  if (!second) return query;
  const { fused } = second;
  const { fusion, discard } = fusedIn(state.selection, true);
  return {
    ...query,
    ...(fused.includes("fusion") && fusion !== (query.fusion ?? "mean") ? { beside_fusion: fusion } : {}),
    ...(fused.includes("discard") && discard !== (query.discard ?? 0) ? { beside_discard: discard } : {}),
  };
}

/**
 * Whether a relevance is shown, whose faithfulness can be tested.
 *
 * @param {State} state
 */
export const canTest = (state) =>
  state.selection.form === "model" && chosenIn(state).some(({ kind }) => kind === "relevance");

/** @param {State} state */
const isTested = (state) => state.selection.tested === "yes" && canTest(state);

/**
 * @param {string} name
 * @param {boolean} optional
 * @param {(name: Method | "") => void} choose
 */
function methodMenu(name, optional, choose) {
  const select = element("select", "hs-select", { "aria-label": name });
  const option = (/** @type {MethodInfo} */ { name: value, title }) =>
    element("option", "", { value }, title);
  const groups = /** @type {const} */ ([
    ["Over tokens", METHODS.filter(({ kind }) => kind !== "relevance")],
    [EXPLAINING, METHODS.filter(({ kind }) => kind === "relevance")],
  ]);
  select.append(
    ...(optional ? [element("option", "", { value: "" }, "nothing")] : []),
    ...groups.map(([label, methods]) => element("optgroup", "", { label }, ...methods.map(option))),
  );
  select.onchange = () => choose(/** @type {Method | ""} */ (select.value));
  return select;
}

/**
 * @param {HTMLSelectElement} menu of methods
 * @param {boolean} offered whether the model has an output that they can explain
 */
function offerRelevance(menu, offered) {
  for (const group of menu.querySelectorAll("optgroup")) if (group.label === EXPLAINING) group.disabled = !offered;
}

/**
 * How rollout and flow make the heads of a layer one, and which weights rollout leaves out.
 *
 * @param {State} state
 * @param {boolean} beside whether of the second method
 */
function fusionControls(state, beside) {
  const which = beside ? " of the method beside it" : "";
  const options = FUSIONS.map(([value, label]) => element("option", "", { value }, label));
  const name = `How heads are fused${which}`;
  const fusion = element("select", "hs-select", { "aria-label": name }, ...options);
  const slider = element("input", "hs-threshold", {
    ...{ type: "range", min: "0", max: String(MOST_DISCARDED), step: "1" },
    "aria-label": `Discard the smallest weights${which}`,
    title: "The share of each layer’s smallest weights that rollout leaves out",
  });
  /** @param {Partial<Fused>} chosen */
  function choose(chosen) {
    const other = fusedIn(state.selection, true); // stays as it is, whichever is changed
    const second = { ...other, ...(beside ? chosen : {}) };
    const more = state.selection.beside || beside ? { beside_fusion: second.fusion, beside_discard: second.discard } : {};
    state.select({ ...more, ...(beside ? {} : chosen) });
  }
  fusion.onchange = () => choose({ fusion: /** @type {Fusion} */ (fusion.value) });
  slider.oninput = () => choose({ discard: Number(slider.value) / 100 });
  const share = element("output", "hs-count");
  const boxes = [labelled("heads fused by", fusion), labelled("discard", element("span", "hs-aid", {}, slider, share))];

  return {
    boxes,
    /** @param {MethodInfo | null} info */
    render(info) {
      const asked = new Set(info?.fused);
      boxes[0].hidden = !asked.has("fusion");
      boxes[1].hidden = !asked.has("discard");
      const fused = fusedIn(state.selection, beside);
      fusion.value = fused.fusion;
      slider.value = String(Math.round(100 * fused.discard));
      setText(share, inPercent(fused.discard));
      setAttribute(slider, "aria-valuetext", inPercent(fused.discard));
    },
  };
}

/**
 * What a relevance explains: "“mat” at position 3, logit".
 *
 * @param {Pick<RelevanceAnswer, "name" | "id" | "position" | "similarity">} answer
 */
export function explainedIn({ name, id, position, similarity }) {
  if (similarity) return `similarity to “${name}”`;
  const at = position === null ? "" : ` at position ${position}`;
  return `${name ? `“${legible(name)}”` : `output ${id}`}${at}, logit`;
}
