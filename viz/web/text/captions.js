// Captions of a picture, for models that compare the two: how similar each is, and one of them chosen.

import { changes } from "../core/changes.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { pathOf } from "../core/sources.js";

/** @import {Caption} from "../types" */
/** @import {TextState} from "./state.js" */

const LABEL = "Captions to compare, one a line";

/**
 * @param {TextState} state
 * @param {() => void} choose is called when a caption is chosen, or none
 */
export function captionList(state, choose) {
  const entry = element("textarea", "hs-select hs-captions-entry", { rows: "3", maxlength: "500", placeholder: "a photo of a dog\na photo of a cat" });
  const label = element("label", "hs-label", {}, LABEL, entry);
  const list = element("div", "hs-answer-words", { role: "group", "aria-label": "Captions, the most similar first" });
  const why = element("p", "hs-captions-about", { "aria-live": "polite" });
  const box = element("div", "hs-captions", { hidden: "" }, label, list, why);
  const listed = changes();
  /** @type {Caption[]} the most similar first */
  let captions = [];

  entry.onchange = () => {
    const lines = entry.value.split("\n").map((line) => line.replaceAll("|", " ").trim());
    state.select({ captions: lines.filter(Boolean).join("|") });
  };
  list.onclick = (event) => {
    const chip = /** @type {Element} */ (event.target).closest("[data-index]");
    if (!(chip instanceof HTMLElement)) return;
    const { text } = captions[Number(chip.dataset.index)];
    state.select({ caption: state.selection.caption === text ? "" : text });
    choose();
  };

  function fill() {
    list.replaceChildren(
      ...captions.map(({ text, similarity }, i) => {
        const number = element("b", "hs-number", {}, similarity.toFixed(2).replace("-", "−"));
        const chip = element("button", "hs-chip", { type: "button", dir: "auto" }, number, ` ${text}`);
        chip.dataset.index = String(i);
        return chip;
      }),
    );
  }

  return {
    box,
    /** How many are compared. */
    count: () => captions.length,
    /** @returns {Caption | null} the chosen one */
    render() {
      const { captions: texts, caption: chosen } = state.selection;
      const path = pathOf("captions", { texts });
      label.hidden = !state.view.remote;
      box.hidden = !state.base.captions || !(state.view.remote || (texts && state.view.holds(path)));
      if (box.hidden) return null;
      if (!entry.matches(":focus")) entry.value = texts.split("|").join("\n");
      const answer = /** @type {{captions?: Caption[], why?: string} | null} */ (
        texts ? state.view.answer("captions", path) : null
      );
      if (listed(answer?.captions ?? null)) {
        captions = [...(answer?.captions ?? [])].sort((a, b) => b.similarity - a.similarity);
        fill();
      }
      list.hidden = !captions.length;
      const waiting = texts && !answer ? state.waitingFor("captions", "The model compares") : "";
      setText(why, answer?.why ?? (captions.length ? "How similar the picture is to each caption, as the model scales it. Choose one to see its map." : waiting));
      for (const chip of list.querySelectorAll("button"))
        setAttribute(chip, "aria-pressed", String(captions[Number(chip.dataset.index)].text === chosen));
      return captions.find(({ text }) => text === chosen) ?? null;
    },
  };
}
