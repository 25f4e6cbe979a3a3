// The Lab: a bar at the foot of the page with tabs, and a drawer over the right column, closed at first.

import { html } from "../core/html.js";
import { listenForUndo } from "../core/undo.js";
import { useEffect } from "../vendor/hooks.js";
import { Compare } from "./compare.js";
import { Experiment } from "./experiment.js";
import { Save } from "./save.js";
import { Sweeps } from "./sweeps.js";

/** @import {Theme} from "../types" */
/** @import {Asked} from "../core/edits.js" */

/** @type {{value: string, label: string, Tab: (props: any) => unknown, isHere: (state: any) => boolean}[]} */
const TABS = [
  {
    value: "experiment",
    label: "Experiment",
    Tab: Experiment,
    isHere: ({ view }) => Boolean(view.props.edits),
  },
  { value: "compare", label: "Compare", Tab: Compare, isHere: ({ view }) => Boolean(view.props.edits) },
  { value: "sweeps", label: "Sweeps", Tab: Sweeps, isHere: ({ view }) => view.remote },
  { value: "save", label: "Save", Tab: Save, isHere: ({ view }) => view.remote },
];

/** @param {{state: any, theme: Theme, more?: {value: string, label: string, content: unknown}[]}} props more: tabs of the kind of input */
export function Lab({ state, theme, more = [] }) {
  const ask = (/** @type {Asked} */ asked) => state.ask?.(asked);
  const tabs = [...TABS.filter(({ isHere }) => isHere(state)), ...more];
  const open = tabs.find(({ value }) => value === state.selection.lab);
  const show = (/** @type {string} */ lab) => state.select({ lab });
  const toggle = () => show(open ? "" : (tabs[0]?.value ?? ""));
  useEffect(
    () => (state.view.props.edits ? listenForUndo((action) => ask({ do: action })) : undefined),
    [state],
  );
  const press = (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !open) return;
    event.preventDefault();
    event.stopPropagation();
    show("");
  };
  if (!tabs.length) return null;
  return html`
    <div class=${state.view.props.page ? "hs-lab is-over" : "hs-lab"} onKeyDown=${press}>
      ${
        open &&
        html`
          <section class="hs-lab-drawer" aria-label=${open.label}>
            <header>
              <h3>${open.label}</h3>
              <button type="button" class="hs-lab-link" onClick=${() => show("")}>Close</button>
            </header>
            ${"Tab" in open ? html`<${open.Tab} ...${{ state, theme, ask }} />` : open.content}
          </section>
        `
      }
      <div class="hs-lab-bar">
        <button type="button" class="hs-lab-name" aria-expanded=${Boolean(open)} onClick=${toggle}>Lab</button>
        <div class="hs-lab-tabs" role="group" aria-label="Lab">
          ${tabs.map(
            ({ value, label }) => html`
              <button type="button" aria-pressed=${value === open?.value} onClick=${() => show(value)}>${label}</button>
            `,
          )}
        </div>
      </div>
    </div>
  `;
}
