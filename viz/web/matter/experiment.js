// An experiment that is made on request: a button that asks for it, what can be chosen, what is waited for.

import { html } from "../core/html.js";
import { Button, Field, Menu } from "../parts/controls.js";

const TOPS = ["10", "20", "40"]; // that are computed in passes of their own

/**
 * @param {object} props
 * @param {import("../core/state.js").State<any>} props.view
 * @param {string} props.slot of the answer
 * @param {string} props.text of the button
 * @param {string} props.title
 * @param {boolean} props.isOn
 * @param {() => void} props.onToggle
 * @param {string} props.reason why there is no answer
 * @param {string} [props.kind] classes
 * @param {string} [props.about]
 * @param {unknown} [props.choices]
 * @param {string} [props.label]
 * @param {unknown} [props.children] the answer
 */
export const Experiment = ({
  view,
  slot,
  text,
  title,
  isOn,
  onToggle,
  reason,
  kind = "",
  about,
  choices,
  label,
  children,
}) => html`
  <div class=${`hs-faithful ${kind}`} aria-label=${label}>
    <${Button} ...${{ text, title, onClick: onToggle }} aria-pressed=${isOn} />
    ${
      isOn &&
      html`
      ${about && html`<p class="hs-sentence">${about}</p>`}
      ${choices && html`<div class="hs-row">${choices}</div>`}
      ${
        reason &&
        html`<div class="hs-row"><p class="hs-even" role="status">${reason}</p><${Stop} ...${{ view, slot }} /></div>`
      }
      ${children}
    `
    }
  </div>
`;

/**
 * Ends a request, and begins it again.
 *
 * @param {{view: import("../core/state.js").State<any>, slot: string}} props
 */
function Stop({ view, slot }) {
  const state = view.client?.state(slot) ?? "";
  const isStopped = state === "absent" && view.client?.reason(slot) === "Stopped.";
  if (!isStopped && !["pending", "none"].includes(state)) return null;
  const click = () => {
    if (isStopped)
      view.forget(slot); // it is asked for when the view is drawn
    else view.client?.stop(slot);
    view.changed();
  };
  return html`<button type="button" class="hs-button" onClick=${click}>${isStopped ? "Go on" : "Stop"}</button>`;
}

/**
 * How many are computed exactly.
 *
 * @param {{what: string, value: string, onChange: (value: string) => void}} props
 */
export const Exactly = ({ what, value, onChange }) => html`
  <${Field} name="exactly for the top">
    <${Menu}
      name=${`${what} in passes of their own`}
      labels=${TOPS}
      index=${TOPS.indexOf(value)}
      onChoose=${(index) => onChange(TOPS[index])}
    />
  <//>
`;

/** @param {(number | null)[][]} exact */
export const passesIn = (exact) => exact.flat().filter((value) => value !== null).length;
