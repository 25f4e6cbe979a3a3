// Below a view: predictions, and equivalent Python code.

import { useAnswer, useNewest } from "../core/hooks.js";
import { html } from "../core/html.js";
import { pathOf } from "../core/sources.js";
import { probability } from "../core/ticks.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { Bars, Button } from "./controls.js";

/** @import {Predictions} from "../types" */
/** @import {State} from "../core/state.js" */

const COPIED_MS = 2000;

/**
 * What the props ask for.
 *
 * @param {{view: State<any>}} props
 */
export function Below({ view }) {
  const wanted = view.props.panels ?? [];
  return html`
    <div class="hs-below">
      ${wanted.includes("predictions") && html`<${Likeliest} view=${view} />`}
      ${wanted.includes("code") && html`<${Code} view=${view} />`}
    </div>
  `;
}

/** The token that is asked about. */
const placeIn = ({ selection: { token } }) => (token === null ? {} : { token });

/** The most likely tokens at the selected position. Their space is reserved until they arrive. */
function Likeliest({ view }) {
  const { site, direction } = view.selection;
  const path = pathOf("predictions", { site, direction, ...placeIn(view) });
  const { answer } = useAnswer(view, "predictions", path);
  const newest = /** @type {Predictions | null} */ (useNewest(Boolean(answer), () => answer, [answer]));
  if (!newest) return html`<section class="hs-section hs-predictions hs-awaited"></section>`;
  const { title = "", labels = [], probabilities = [], note = "" } = newest;
  const rows = labels.map((label, i) => ({
    label,
    value: probabilities[i],
    text: probability(probabilities[i]),
  }));
  return html`
    <section class="hs-section hs-predictions" hidden=${!labels.length}>
      <h3 class="hs-heading">${title}</h3>
      <${Bars} rows=${rows} />
      <p class="hs-doubt">${note}</p>
    </section>
  `;
}

/** Python code for the same numbers, fetched when opened. */
function Code({ view }) {
  const { site, head, direction } = view.selection;
  const [isOpen, setOpen] = useState(false);
  const [copied, setCopied] = useState("");
  const block = useRef(/** @type {HTMLElement | null} */ (null));
  const path = pathOf("code", { site, head, direction, ...placeIn(view) });
  const { answer } = useAnswer(view, "code", isOpen ? path : null);
  const newest = useNewest(Boolean(answer), () => answer.code, [answer]);
  const isMissing = !answer && view.client?.state("code") === "absent";
  useEffect(() => {
    const timer = setTimeout(() => setCopied(""), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(newest ?? "");
      setCopied("Copied");
    } catch {
      if (block.current) getSelection()?.selectAllChildren(block.current); // without HTTPS the clipboard is closed
      setCopied("Selected: press Ctrl+C");
    }
  };
  const toggle = ({ currentTarget }) => {
    setOpen(currentTarget.open);
    view.changed();
  };
  return html`
    <details class="hs-details" onToggle=${toggle}>
      <summary>The same in Python</summary>
      <div class="hs-code-box">
        <pre class="hs-code" tabindex="0" ref=${block}><code>${isMissing ? "# not in this file" : newest}</code></pre>
        <${Button} title="Copy the code" aria-label="Copy the code" onClick=${copy}>${copied || "Copy"}<//>
      </div>
    </details>
  `;
}
