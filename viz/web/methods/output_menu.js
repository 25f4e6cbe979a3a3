// The output that is explained, as a menu of the likeliest ones.

import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { capital, legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";

/** @import {Outputs} from "../types" */
/** @import {State} from "./choices.js" */

const EXPLAINED = /** @type {const} */ ({ option: "output", label: "output explained", none: "the likeliest" });

/**
 * @param {string} name
 * @param {HTMLElement} control
 */
export const labelled = (name, control) =>
  element("label", "hs-label", {}, element("span", "", {}, name), " ", control);

/**
 * The output that relevance explains: one of the likeliest at the chosen token, a class, or the
 * similarity to a second text. One that means nothing for this model and text is dropped, and why
 * is said.
 *
 * @param {State} state
 * @param {{option: "output" | "versus", label: string, none: string}} [which]
 */
export function outputMenu(state, { option, label, none } = EXPLAINED) {
  const select = element("select", "hs-select hs-output", { "aria-label": capital(label) });
  select.append(element("option", "", { value: "" }, none));
  const typed = element("input", "hs-select hs-output", {
    ...{ type: "text", maxlength: "300", "aria-label": "Second text, to which the similarity is explained" },
    placeholder: "second text to compare with",
  });
  const remark = element("p", "hs-doubt", { role: "status" });
  select.onchange = () => choose(select.value);
  typed.onchange = () => choose(typed.value.trim());
  const field = labelled(label.replace(" explained", ""), element("span", "", {}, select, typed));
  const box = element("div", "", {}, field, remark);
  const listed = changes();
  let rejected = { trace: "", why: "" }; // why an output was dropped, until another is chosen

  /** @param {string} output */
  function choose(output) {
    rejected = { trace: "", why: "" };
    state.select({ [option]: output });
  }

  /** @param {Outputs} answer */
  function list({ options }) {
    const items = options.map((each) => element("option", "", { value: each.value }, nameOfOption(each)));
    select.replaceChildren(element("option", "", { value: "" }, none), ...items);
  }

  /**
   * The output as it is called here.
   *
   * @param {string} before
   * @param {string} now
   */
  const rename = (before, now) =>
    queueMicrotask(() => state.selection[option] === before && state.select({ [option]: now }));

  return {
    box,
    /** @param {boolean} needed */
    render(needed) {
      const { site, token, direction, [option]: output } = state.selection;
      const { explains } = state.base;
      const { remote } = state.view;
      box.hidden = !needed || explains === "nothing" || (!remote && !output);
      if (box.hidden) return;
      const similar = explains === "similarity";
      typed.hidden = !(similar || !remote);
      select.hidden = !typed.hidden;
      typed.disabled = !remote;
      if (!typed.matches(":focus")) typed.value = output;
      if (select.hidden) return;
      const place = { ...(token === null ? {} : { token }), ...(output ? { output } : {}) };
      const answer = /** @type {Outputs | {why: string} | null} */ (
        state.view.answer(`outputs ${option}`, pathOf("outputs", { site, direction, ...place }))
      );
      const why = answer && "why" in answer ? answer.why : "";
      setText(remark, why || (rejected.trace === state.trace ? rejected.why : ""));
      if (!answer || "why" in answer) return;
      if (answer.chosen === null)
        rejected = { trace: state.trace, why: `“${output}” cannot be explained here: ${answer.rejected}.` };
      if (answer.chosen !== output) rename(output, answer.chosen ?? "");
      if (listed(answer)) list(answer);
      select.value = answer.chosen ?? "";
    },
  };
}

/** @param {Outputs["options"][number]} option */
const nameOfOption = ({ label, position, probability }) =>
  `“${legible(label)}”${position === null ? "" : ` at position ${position}`}, ${(100 * probability).toFixed(1)}\u00a0%`;
