// Heads of another model that are most like the chosen one, on the same text: both maps over the
// pieces of text that both models have tokens for.

import { changes } from "../core/changes.js";
import { shade } from "../core/colours.js";
import { contextOf, element, setText } from "../core/dom.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";

/** @import {AlikeAnswer, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const KEY = "alike";
const SIDE = 132; // CSS pixels of a map
const NAMED = "named";
const SENTENCE =
  "The share of the weight that two heads put on the same pieces of text: 1 for equal maps. Special tokens are left" +
  " out, and rows sum to 1 without them.";

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function alike(state, parent) {
  const model = element("select", "hs-select", { "aria-label": "Another model" });
  const typed = element("input", "hs-select hs-second", {
    ...{ type: "text", maxlength: "1000", "aria-label": "Folder or hub id of another model", placeholder: "a folder, or owner/name" },
  });
  const which = element("div", "hs-row", {}, element("label", "hs-label", {}, element("span", "", {}, "in"), " ", model), typed);
  const sentence = element("p", "hs-sentence", {}, SENTENCE);
  const wait = element("p", "hs-even", { role: "status" });
  const maps = element("div", "hs-alike");
  const details = element("details", "hs-details hs-alike-box", {}, element("summary", "", {}, "Heads of another model most like this one"), which, sentence, wait, maps);
  parent.append(details);
  details.ontoggle = model.onchange = typed.onchange = () => state.changed();
  const listed = changes();
  const drawn = changes();

  function chosenModel() {
    if (model.value !== NAMED) return model.value;
    const name = typed.value.trim();
    if (!name) return "";
    return /^[\w.-]+\/[\w.-]+$/.test(name) ? `hub:${name}` : `folder:${name}`;
  }

  function mapOf(weights, pieces, theme, name) {
    const ratio = devicePixelRatio || 1;
    const canvas = element("canvas", "hs-thumb", { role: "img", "aria-label": name });
    canvas.width = canvas.height = Math.round(SIDE * ratio);
    canvas.style.width = canvas.style.height = `${SIDE}px`;
    const context = contextOf(canvas);
    const cell = canvas.width / pieces.length;
    weights.forEach((row, i) =>
      row.forEach((weight, j) => {
        context.fillStyle = `rgb(${shade(theme.ramp, Math.sqrt(weight), 1).join()})`;
        context.fillRect(Math.floor(j * cell), Math.floor(i * cell), Math.ceil(cell), Math.ceil(cell));
      }),
    );
    canvas.onpointermove = (event) => {
      const box = canvas.getBoundingClientRect();
      const [i, j] = [event.clientY - box.top, event.clientX - box.left].map((at) => Math.min(pieces.length - 1, Math.max(0, Math.floor((at / SIDE) * pieces.length))));
      canvas.title = `“${legible(pieces[i])}” → “${legible(pieces[j])}”: ${weights[i][j].toFixed(3)}`;
    };
    return canvas;
  }

  function linkTo(layer, head) {
    const [place, ...name] = chosenModel().split(":");
    const query = new URLSearchParams(place === "catalogue" ? [] : [["place", place]]);
    query.set(place === "catalogue" ? "model" : place, name.join(":"));
    query.set("input", state.view.props.text ?? "");
    query.set("layer", String(layer));
    query.set("head", String(head));
    return `?${query}`;
  }

  function draw({ pieces, weights, heads }, theme) {
    const here = `${capital(state.siteName())}, ${state.headName()}, here`;
    const figure = (canvas, ...words) => element("figure", "hs-alike-head", {}, canvas, element("figcaption", "", {}, ...words));
    maps.replaceChildren(
      figure(mapOf(weights, pieces, theme, here), here),
      ...heads.map(({ layer, head, overlap, weights: other }) => {
        const name = `Layer ${layer}, head ${head}`;
        const link = element("a", "", { href: linkTo(layer, head), target: "_blank", title: "Open this head in a page of its own" }, name);
        return figure(mapOf(other, pieces, theme, `${name} of the other model`), link, `: ${overlap.toFixed(2)}`);
      }),
    );
  }

  function list() {
    const { others = [], named } = state.view.props;
    const options = others.map(({ value, title }) => element("option", "", { value }, title));
    if (named) options.push(element("option", "", { value: NAMED }, "a folder or hub id …"));
    model.replaceChildren(...options);
  }

  return {
    late: true,
    /** @param {Theme} theme */
    render(theme) {
      const { others, named } = state.view.props;
      const { site, head, form } = state.selection;
      details.hidden = !state.view.remote || !others || form === "model" || state.site().queries !== state.site().keys;
      if (details.hidden || !details.open) return state.view.forget(KEY);
      if (listed(JSON.stringify(others), named)) list();
      typed.hidden = model.value !== NAMED;
      const chosen = chosenModel();
      const one = typeof head === "number";
      const answer = chosen && one ? /** @type {AlikeAnswer | {why: string} | null} */ (state.view.answer(KEY, pathOf(KEY, { site, head, model: chosen }))) : null;
      const why = answer && "why" in answer ? answer.why : "";
      const missing = one ? "" : "Choose one head.";
      setText(wait, missing || capital(why) || (answer || !chosen ? "" : state.waitingFor(KEY, "Running the other model")));
      maps.hidden = !answer || Boolean(why) || !one;
      if (!answer || "why" in answer) return;
      if (drawn(answer, theme)) draw(answer, theme);
    },
  };
}
