// One line above a view: what the model predicts at the chosen token, or its classes; with edits, what
// they did to it. An output in it is a button where a form explains outputs.

import { stepper } from "./bar.js";
import { changes } from "./changes.js";
import { element, quoted } from "./dom.js";
import { distinct } from "./labels.js";
import { pathOf } from "./sources.js";

/** @import {Base, ImageBase, Panel, Predictions} from "../types" */
/** @import {State} from "./state.js" */

const NAMED = 4; // outputs in the line
const LEAST = 0.001; // of the probability, for all but the first

/**
 * The line; nothing where the props name no predictions. Its space is reserved until they arrive.
 *
 * @template {Base | ImageBase} B
 * @param {State<B>} view
 * @param {HTMLElement} parent
 * @param {(() => ((output: string) => void) | null)} [explains] what shows why an output is predicted
 * @returns {Panel}
 */
export function predictionLine(view, parent, explains = () => null) {
  const line = element("p", "hs-next", { "aria-live": "polite" });
  const text = element("p", "hs-next-text", { hidden: "" });
  const steps = maskStepper(view);
  parent.append(text, steps.box, line);
  const drawn = changes();
  return {
    render() {
      line.hidden = !view.props.panels?.includes("predictions");
      text.hidden = line.hidden || !text.childElementCount;
      if (line.hidden) return steps.show(null);
      const { site, direction } = view.selection;
      const answer = /** @type {Predictions | null} */ (
        view.answer("predictions", pathOf("predictions", { site, direction, ...placeIn(view) }))
      );
      const explain = explains();
      if (answer) steps.show(answer);
      if (!answer || !drawn(answer, explain === null)) return;
      line.replaceChildren(...wordsOf(answer, explain));
      text.replaceChildren(...writtenIn(answer));
      text.hidden = !answer.written;
    },
  };
}

/**
 * The token that predictions are about, as requests name it.
 *
 * @template {Base | ImageBase} B
 * @param {State<B>} view
 * @returns {Record<string, number>}
 */
export function placeIn({ selection: { token } }) {
  return token === null ? {} : { token };
}

/**
 * ‹ [mask] › of a text with several masks, which selects the mask that is answered.
 *
 * @template {Base | ImageBase} B
 * @param {State<B>} view
 */
function maskStepper(view) {
  let mask = 0;
  /** @type {(number | null)[]} */
  let masks = [];
  const goTo = (index) => view.select({ token: masks[index] });
  const steps = stepper("Mask", (by) => goTo(Math.max(0, mask + by)), goTo);
  steps.box.hidden = true;
  return {
    box: steps.box,
    /** @param {Predictions | null} answer */
    show(answer) {
      masks = answer?.masks ?? [];
      mask = answer?.mask ?? -1;
      const apart = new Set(masks).size === masks.length && !masks.includes(null);
      steps.box.hidden = !view.remote || masks.length < 2 || !apart;
      if (!steps.box.hidden) steps.show(masks.map((_, i) => String(i + 1)), mask);
    },
  };
}

/**
 * @param {Predictions} answer
 * @param {((output: string) => void) | null} explain
 * @returns {(Node | string)[]}
 */
function wordsOf({ lead, labels = [], values = [], probabilities = [], change, mask, masks = [] }, explain) {
  if (!lead) return [];
  const [words, label] = lead;
  const which = typeof mask === "number" ? `, ${mask + 1} of ${masks.length}: ` : ": ";
  const begin = label ? [`${words} `, ...quoted(label.trim() || label), which] : [`${words}: `];
  if (change) {
    const each = distinct(change.labels).map((name, i) => [
      named(name),
      ` ${percent(change.before[i])} → ${percent(change.after[i])}`,
    ]);
    return [...begin, ...joined(each), ` · edits change the prediction by ${nats(change.kl)}`];
  }
  const count = probabilities.findIndex((share, i) => i > 0 && share < LEAST);
  const most = Math.min(NAMED, count < 0 ? labels.length : count);
  const each = distinct(labels.slice(0, most)).map((name, i) => {
    const share = ` ${percent(probabilities[i])}`;
    if (!explain) return [named(name), share];
    const chip = element("button", "hs-chip", { type: "button" }, named(name), share);
    chip.title = "Show what this prediction rests on";
    chip.onclick = () => explain(values[i]);
    return [chip];
  });
  return [...begin, ...joined(each)];
}

/**
 * What an encoder–decoder wrote.
 *
 * @param {Predictions} answer
 */
function writtenIn({ written }) {
  if (!written) return [];
  const [lead, text] = written;
  return [`${lead}: `, text ? element("b", "", {}, element("bdi", "", {}, text)) : element("span", "", {}, "nothing.")];
}

const joined = (parts) => parts.flatMap((part, i) => (i ? [" · ", ...part] : part));

const named = (name) => element("b", "", {}, element("bdi", "", {}, name));

const nats = (kl) => `${kl < 0.001 ? "less than 0.001" : kl.toPrecision(2)} nats (KL)`;

/** @param {number} share two digits */
export function percent(share) {
  const value = 100 * share;
  if (value < 0.01) return "< 0.01\u00a0%";
  return `${value.toFixed(value >= 9.95 ? 0 : value >= 0.995 ? 1 : 2)}\u00a0%`;
}
