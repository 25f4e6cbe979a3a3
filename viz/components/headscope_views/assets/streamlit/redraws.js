// Ends endless redraws of Plotly's charts. Streamlit keeps the figure that Plotly reports after each
// redraw: where two are under way, each report brings the other figure back, for good. If a click
// began them, the whole page stands still, because all of it happens before the browser's next task.
// A redraw that is refused reports nothing, and the other figure stays.

/**
 * @typedef {HTMLElement & {on?: (name: string, listener: () => boolean | void) => void}} Chart with
 *   Plotly's own events, once it has been drawn
 */

const MOST = 8; // redraws of a chart without any input: new fonts, colours and sizes take fewer
const INPUTS = ["pointerdown", "pointermove", "wheel", "keydown", "resize"];

let inputs = 0; // counted

/**
 * Watches the charts of a document, those that are still to come too.
 *
 * @param {Document} document
 */
export function endRedraws(document) {
  for (const name of INPUTS) document.defaultView?.addEventListener(name, () => (inputs += 1), { capture: true, passive: true });
  /** @type {WeakMap<Chart, Chart["on"]>} */
  const watched = new WeakMap(); // with the events of its present plot
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const chart = target instanceof Element ? /** @type {Chart | null} */ (target.closest(".js-plotly-plot")) : null;
      if (!chart?.on || watched.get(chart) === chart.on) continue;
      watched.set(chart, chart.on);
      watch(chart.on.bind(chart));
    }
  }).observe(document.body, { childList: true, subtree: true });
}

/** @param {NonNullable<Chart["on"]>} on of a chart */
function watch(on) {
  let redraws = 0;
  let since = inputs;
  on("plotly_afterplot", () => {
    redraws = since === inputs ? redraws + 1 : 1;
    since = inputs;
  });
  on("plotly_beforeplot", () => {
    if (since !== inputs || redraws < MOST) return true;
    redraws = 0;
    return false; // tells Plotly not to draw
  });
}
