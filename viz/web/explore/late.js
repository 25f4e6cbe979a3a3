// Views that are imported when they are first shown.

import { html } from "../core/html.js";
import { VIEWS } from "../text/forms.js";
import { useLayoutEffect, useMemo, useState } from "../vendor/hooks.js";

const NUMBERS = () => import("../../views/numbers/view.js").then((view) => view.Numbers);
const Missing = () => "A part of this page could not be loaded. Reload the page.";

/** @param {{load: () => Promise<any>} & Record<string, unknown>} props load: imports the view */
export function Late({ load, ...props }) {
  const [View, setView] = useState(null);
  const show = (view) => setView(() => view);
  useLayoutEffect(() => void load().then(show, () => show(Missing)), [load]);
  return View ? html`<${View} ...${props} />` : html`<p class="hs-card-doubt">Loading …</p>`;
}

/** Every head by its numbers. @param {{state: any, theme: import("../types").Theme}} props */
export const AllNumbers = (props) => html`<${Late} load=${NUMBERS} ...${props} />`;

/** A form of the picture. @param {{state: import("../text/state.js").TextState, theme: import("../types").Theme}} props */
export function Form({ state, theme }) {
  const { form } = state.selection;
  useMemo(() => (state.panel = {}), [form]);
  return html`
    <div class="hs-forms">
      <section class=${`hs-section hs-${form}`}>
        <${Late} key=${form} load=${VIEWS[form]} ...${{ state, theme }} />
      </section>
    </div>
  `;
}
