// Panels below a view: provenance of the weights, predictions, and equivalent Python code.

import { button } from "./bar.js";
import { changes } from "./changes.js";
import { element, setText } from "./dom.js";
import { legible } from "./labels.js";
import { percent, placeIn } from "./prediction_line.js";
import { pathOf } from "./sources.js";

/** @import {Base, ImageBase, Panel, Predictions} from "../types" */
/** @import {ViewState} from "./state.js" */

const COPIED_MS = 2000;

/**
 * @template {Base | ImageBase} B
 * @typedef {ViewState<B>} View
 */

/**
 * The panels that the props ask for, as one.
 *
 * @template {Base | ImageBase} B
 * @param {View<B>} view
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
export function panelsBelow(view, parent) {
  const wanted = view.props.panels ?? [];
  const place = element("div", "hs-below");
  parent.append(place);
  const panels = [provenance(view, place)];
  if (wanted.includes("predictions")) panels.push(predictions(view, place));
  if (wanted.includes("code")) panels.push(code(view, place));
  return {
    late: true,
    render: (theme) => panels.forEach((panel) => panel.render(theme)),
    destroy: () => panels.forEach((panel) => panel.destroy?.()),
  };
}

/**
 * One line: how the weights were computed, and their row sums. Its space is reserved, so that nothing
 * below it moves when it arrives.
 *
 * @template {Base | ImageBase} B
 * @param {View<B>} view
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
function provenance(view, parent) {
  const line = element("p", "hs-provenance");
  parent.append(line);
  return {
    render() {
      const { site } = view.selection;
      const answer = /** @type {{line: string} | null} */ (
        view.answer("provenance", pathOf("provenance", { site }))
      );
      if (answer) setText(line, answer.line);
      line.hidden = !answer && view.client?.state("provenance") === "absent";
    },
  };
}

/**
 * The most likely tokens at the selected position, as bars. Their space is reserved until
 * they arrive.
 *
 * @template {Base | ImageBase} B
 * @param {View<B>} view
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
function predictions(view, parent) {
  const title = element("h3", "hs-heading");
  const bars = element("ol", "hs-bars");
  const note = element("p", "hs-doubt");
  const section = element("section", "hs-section hs-predictions", {}, title, bars, note);
  parent.append(section);
  section.classList.add("hs-awaited");
  const drawn = changes();

  /** @param {Predictions} answer */
  function draw({ title: heading = "", labels = [], probabilities = [], note: remark = "" }) {
    section.hidden = !labels.length;
    setText(title, heading);
    setText(note, remark);
    section.classList.remove("hs-awaited");
    const most = Math.max(...probabilities, 1e-9);
    bars.replaceChildren(...labels.map((label, i) => bar(label, probabilities[i], most)));
  }

  return {
    render() {
      const { site, direction } = view.selection;
      const answer = /** @type {Predictions | null} */ (
        view.answer("predictions", pathOf("predictions", { site, direction, ...placeIn(view) }))
      );
      if (answer && drawn(answer)) draw(answer);
    },
  };
}

function bar(label, probability, most) {
  const name = element("bdi", "hs-bar-label", {}, legible(label));
  const line = element("span", "hs-bar-line", { "aria-hidden": "true" });
  line.style.setProperty("--share", `${(100 * probability) / most}%`);
  const number = element("span", "hs-bar-number", {}, percent(probability));
  return element("li", "hs-bar-row", {}, name, line, number);
}

/**
 * Python code for the same numbers, fetched when opened.
 *
 * @template {Base | ImageBase} B
 * @param {View<B>} view
 * @param {HTMLElement} parent
 * @returns {Panel}
 */
function code(view, parent) {
  const lines = element("code");
  const block = element("pre", "hs-code", { tabindex: "0" }, lines);
  const copy = button("Copy", "Copy the code", () => void copied());
  const box = element(
    "details",
    "hs-details",
    {},
    element("summary", "", {}, "The same in Python"),
    element("div", "hs-code-box", {}, block, copy),
  );
  parent.append(box);
  box.ontoggle = () => view.changed();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function copied() {
    try {
      await navigator.clipboard.writeText(lines.textContent ?? "");
      setText(copy, "Copied");
    } catch {
      getSelection()?.selectAllChildren(block); // without HTTPS the clipboard is closed to pages
      setText(copy, "Selected: press Ctrl+C");
    }
    clearTimeout(timer);
    timer = setTimeout(() => setText(copy, "Copy"), COPIED_MS);
  }

  return {
    render() {
      if (!box.open) return;
      const { site, head, direction } = view.selection;
      const answer = /** @type {{code: string} | null} */ (
        view.answer("code", pathOf("code", { site, head, direction, ...placeIn(view) }))
      );
      if (answer) setText(lines, answer.code);
      else if (view.client?.state("code") === "absent") setText(lines, "# not in this file");
    },
    destroy: () => clearTimeout(timer),
  };
}
