// The text column of a story: a section for each step, some with a question that comes before the answer.

import { element } from "../core/dom.js";
import { nodes } from "./prose.js";

/** @import {Inputs, Patch, StoryStep} from "../types" */

/**
 * @typedef {object} Section
 * @property {HTMLElement} box
 * @property {() => boolean} waiting whether its question is still open
 * @property {(inputs: Inputs) => void} tell what belongs to the network that these inputs choose
 */

/**
 * @param {StoryStep[]} steps
 * @param {object} actions
 * @param {(inputs: Patch) => void} actions.tryOut
 * @param {(step: StoryStep) => void} actions.revealed
 * @param {(step: number) => any} actions.numbers of the figure at a step
 * @param {string[]} answered names of steps whose question has been answered before
 * @returns {Section[]}
 */
export function sectionsOf(steps, { tryOut, revealed, numbers }, answered) {
  return steps.map((step, number) => {
    const box = element("section", "story-step", { id: `step-${step.name}` });
    box.append(element("h5", "story-title", {}, element("small", "", {}, String(number + 1)), ` ${step.title}`));
    const text = element("div", "story-told");
    for (const formula of step.formulas) text.append(element("p", "story-formula", {}, ...nodes(formula, null)));
    const versions = [step, ...(step.other ? [step.other] : [])].map((each) => versionOf(each, tryOut));
    text.append(...versions.flatMap(({ prose }) => prose), ...(step.code.length ? [code(step.code)] : []), ...versions.flatMap(({ tries }) => tries));
    const tell = (/** @type {Inputs} */ inputs) => {
      const chosen = step.other && inputs.network === step.other.network ? 1 : 0;
      versions.forEach(({ prose, tries }, i) => [...prose, ...tries].forEach((node) => (node.hidden = i !== chosen)));
    };
    if (!step.ask) {
      box.append(text);
      return { box, waiting: () => false, tell };
    }
    text.hidden = !answered.includes(step.name);
    const reveal = () => {
      text.hidden = false;
      revealed(step);
    };
    const question = ask(step.ask, () => numbers(number), text.hidden, reveal);
    box.append(question, text);
    return { box, waiting: () => text.hidden === true, tell };
  });
}

function ask({ text, options }, numbers, open, answered) {
  const box = element("div", "story-ask");
  const feedback = element("p", "story-feedback", { "aria-live": "polite" });
  const show = element("button", "story-show", { type: "button" }, "Just show me");
  show.hidden = !open;
  const buttons = options.map((option) => {
    const node = element("button", "hs-button", { type: "button", "aria-pressed": "false" }, option.text);
    node.addEventListener("click", () => {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === node));
      feedback.replaceChildren(element("b", "", {}, option.right ? "Right. " : "Not quite. "), ...nodes(option.feedback, numbers()));
      show.hidden = true;
      answered();
    });
    return node;
  });
  show.addEventListener("click", () => {
    show.hidden = true;
    answered();
  });
  box.append(element("p", "", {}, element("b", "", {}, "Predict first. "), ...nodes(text, null)), element("div", "story-options", {}, ...buttons, show), feedback);
  return box;
}

function code(lines) {
  const node = element("pre", "story-code", { tabindex: "0" });
  lines.forEach((line, i) => node.append(...(i ? ["\n"] : []), ...nodes(line, null)));
  return node;
}

/** What a step says of a network, and the buttons with it. */
const versionOf = ({ prose, tries }, tryOut) => ({
  prose: prose.map((paragraph) => element("p", "", {}, ...nodes(paragraph, null))),
  tries: tries.length ? [triesOf(tries, tryOut)] : [],
});

function triesOf(tries, tryOut) {
  const box = element("div", "story-tries", { role: "group", "aria-label": "Try this" });
  for (const { label, inputs } of tries) {
    const node = element("button", "hs-button", { type: "button" }, label);
    node.addEventListener("click", () => tryOut(inputs));
    box.append(node);
  }
  return box;
}
