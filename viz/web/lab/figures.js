// What of the screen can be saved as a figure, and what the server is told of each.

import { FORMS } from "../core/declared.js";
import { onPictures } from "../core/selection.js";
import { canTest, choiceOf } from "../methods/choices.js";

/** @import {Savable} from "../types" */

const MOST = 64; // characters of a parameter

/**
 * The figure on the screen, and what else can be drawn of it.
 *
 * @param {any} state of a text, or of a picture
 * @returns {Savable[]}
 */
export function figuresOf(state) {
  const first = state.texts ? ofText(state) : ofPicture(state);
  const { form, query } = first;
  const { edited, other } = state.view.props;
  const { site, head } = state.selection;
  const every = [...Array(state.base.sites[site].heads).keys()].join(".");
  const isPlain = form === "matrix" || form === "image";
  const named = (/** @type {string} */ as) => ({ form: as, name: FORMS[as].label, query });
  const inRow = (name, more) => ({ form, name, query: { ...query, ...more }, isRow: true });
  const text = other && { second: other.trace, second_site: site, second_head: head };
  const heads = { form, name: "All heads of this layer", query: { ...query, shown: every } };
  const { asked, captions } = state.base;
  return [
    first,
    ...(asked || captions ? [ofPictures(state)] : []),
    ...(state.texts && canTest(state) ? [named("faithfulness")] : []),
    ...(form === "parts" && state.base.explains !== "similarity" ? [named("blame")] : []),
    ...((isPlain || form === "lines") && every.includes(".") && every.length <= MOST ? [heads] : []),
    ...(isPlain && edited ? [inRow("Before, after, difference", { both: "edits" })] : []),
    ...(isPlain && "second" in query ? [inRow("Both beside each other", { both: "second" })] : []),
    ...(isPlain && text ? [inRow("Both texts", { ...text, both: "second" })] : []),
    ...(state.texts ? ["atlas", "numbers"].map(named) : []),
  ];
}

/** @returns {Savable} */
function ofText(state) {
  const { site, head, scale, token, direction, form, timing } = state.selection;
  const heads = state.selection.shown;
  const { asked, captions } = state.base;
  const isDrawn = ["matrix", "lines", "text", "sound"].includes(form);
  const query = {
    ...{ site, head, scale },
    ...((form === "lines" || form === "text") && heads ? { shown: heads } : {}),
    ...(form === "sound" && timing ? { timing } : {}),
    ...(token !== null && (isDrawn || asked) ? { token, direction } : {}),
    ...(asked || captions ? onPictures(state.selection) : {}),
    ...filtersOf(state),
    ...state.figure?.(),
    ...state.second?.(),
  };
  return { form, name: FORMS[form].label, query };
}

/** Which of the numbers are drawn. */
function filtersOf(state) {
  const { form, values, sinks, block } = state.selection;
  if (!["matrix", "lines", "text"].includes(form)) return {};
  const ranges = state.ranges();
  const isPart = block !== "all" || state.unheard();
  return {
    ...(form === "matrix" ? { values: state.view.props.difference ? "difference" : values, sinks } : {}),
    ...(isPart ? { rows: ranges.rows.join("-"), columns: ranges.cols.join("-") } : {}),
  };
}

/** @returns {Savable} */
function ofPictures(state) {
  const { site, head, token, sinks, captions } = state.selection;
  const query = {
    ...{ site, head },
    ...(token === null && captions ? {} : { token: token ?? 0 }),
    ...(sinks === "shown" ? {} : { sinks }),
    ...onPictures(state.selection),
  };
  return { form: "pictures", name: FORMS.pictures.label, query };
}

/** @returns {Savable} */
function ofPicture(state) {
  const { site, head, scale, direction, sinks, outliers, token, followed } = state.selection;
  const { prefix, grid } = state.base;
  const place = { site, head };
  if (FORMS[state.form]?.covers === "heads")
    return { form: state.form, name: FORMS[state.form].label, query: { ...place, ...state.figure?.() } };
  if (state.form === "model") {
    const from = followed === "token" ? { followed, query: token ?? 0 } : {};
    return { form: "model", name: FORMS.model.label, query: { ...place, ...choiceOf(state), ...from } };
  }
  if (state.form === "features") {
    const middle = prefix + Math.floor(grid[0] / 2) * grid[1] + Math.floor(grid[1] / 2);
    const chosen = token === null || token < prefix ? middle : token;
    const query = { ...place, token: chosen };
    return { form: "features", name: FORMS.features.label, query };
  }
  const hidden = sinks === "shown" ? {} : { sinks, outliers };
  const query = { ...place, scale, direction, token: token ?? 0, ...hidden, ...besideIt(state) };
  return { form: "image", name: FORMS.image.label, query };
}

/** What the server is told of the second picture; nothing without one. */
function besideIt(state) {
  const { second, title = "" } = state.view.props;
  if (!second || !state.peer?.view.baseOrNull) return {};
  const { site, head, token } = state.peer.selection;
  return {
    ...{ second: state.peer.trace, second_site: site, second_head: head, second_token: token ?? 0 },
    ...{ label: title, second_label: second.title },
  };
}
