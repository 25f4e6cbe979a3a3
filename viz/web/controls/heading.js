// The line above a control: its label, and a sign that shows help.

import { element, setAttribute, setText } from "../core/dom.js";

/** @param {string} [control] id of the control that the label belongs to */
export function headingOf(control) {
  const label = control
    ? element("label", "hs-control-label", { for: control })
    : element("span", "hs-control-label");
  const help = element("span", "hs-help", { tabindex: "0", role: "img" }, "?");
  const box = element("div", "hs-control-heading", {}, label, help);
  const show = (text, explanation) => {
    setText(label, text);
    help.hidden = !explanation;
    setAttribute(help, "aria-label", explanation);
    help.dataset.help = explanation;
  };
  return { box, show };
}
