// What of the screen can be saved as a figure, and what the server is told of each.

import { FORMS } from "../core/declared.js";
import { chosenOf, ON_PICTURES } from "../core/selection.js";
import { besideOf } from "../text/second.js";
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
  const first = state.base.patches ? ofPicture(state) : ofText(state);
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
    ...(!state.base.patches && canTest(state) ? [named("faithfulness")] : []),
    ...(form === "parts" && state.base.explains !== "similarity" ? [named("blame")] : []),
    ...((isPlain || form === "lines") && every.includes(".") && every.length <= MOST ? [heads] : []),
    ...(isPlain && edited ? [inRow("Before, after, difference", { both: "edits" })] : []),
    ...(isPlain && "second" in query ? [inRow("Both beside each other", { both: "second" })] : []),
    ...(isPlain && text ? [inRow("Both texts", { ...text, both: "second" })] : []),
    ...(!state.base.patches ? ["atlas", "numbers"].map(named) : []),
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
    ...(asked || captions ? chosenOf(state.selection, ON_PICTURES) : {}),
    ...filtersOf(state),
    ...state.panel.figure?.(),
    ...besideOf(state),
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
    ...chosenOf(state.selection, ON_PICTURES),
  };
  return { form: "pictures", name: FORMS.pictures.label, query };
}

/** @returns {Savable} */
function ofPicture(state) {
  const { site, head, scale, direction, sinks, outliers, token, followed, form } = state.selection;
  const from = followed === "token" ? { followed, query: token ?? 0 } : {};
  const hidden = sinks === "shown" ? {} : { sinks, outliers };
  const query = {
    image: { scale, direction, token: token ?? 0, ...hidden, ...besideOf(state) },
    model: { ...choiceOf(state), ...from },
    features: { token: state.compared },
  }[form];
  return { form, name: FORMS[form].label, query: { site, head, ...(query ?? state.panel.figure?.()) } };
}
