// A view that is imported when it is first shown.

import { html } from "../core/html.js";
import { useEffect, useState } from "../vendor/hooks.js";

const NUMBERS = () => import("../../views/numbers/view.js").then((view) => view.Numbers);

/** @param {{load: () => Promise<any>} & Record<string, unknown>} props load: imports the view */
export function Late({ load, ...props }) {
  const [View, setView] = useState(null);
  useEffect(() => void load().then((view) => setView(() => view)), [load]);
  return View ? html`<${View} ...${props} />` : html`<p class="hs-card-doubt">Loading …</p>`;
}

/** Every head by its numbers. @param {{state: any, theme: import("../types").Theme}} props */
export const AllNumbers = (props) => html`<${Late} load=${NUMBERS} ...${props} />`;
