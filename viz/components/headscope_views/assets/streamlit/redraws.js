// Ends endless redraws of Plotly charts. Streamlit's chart adopts the figure that Plotly reports after
// each redraw. When two redraws are pending, each report replaces the other figure, which is redrawn in
// turn, forever. If a click started this, it runs in microtasks and freezes the page. A redraw that is
// refused reports nothing, so the loop ends and one of the two figures stays.

/**
 * @typedef {HTMLElement & {on?: (name: string, listener: () => boolean | void) => void}} Chart with
 *   Plotly's own events, once it has been drawn
 */

const MAX_REDRAWS = 8; // consecutive, without user input; fonts, colours and a new size take fewer
const PAUSE_MS = 2000; // between two redraws that are not consecutive: a loop does not pause
const INPUTS = ["pointerdown", "pointermove", "wheel", "keydown", "resize"];

let inputs = 0; // user input events so far

/**
 * Watches all present and future charts of a document.
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
  let redraws = 0; // consecutive ones
  let last = { inputs, at: performance.now() };
  const isConsecutive = () => last.inputs === inputs && performance.now() - last.at < PAUSE_MS;
  on("plotly_afterplot", () => {
    redraws = isConsecutive() ? redraws + 1 : 1;
    last = { inputs, at: performance.now() };
  });
  on("plotly_beforeplot", () => {
    if (!isConsecutive() || redraws < MAX_REDRAWS) return true;
    redraws = 0;
    return false; // Plotly does not draw
  });
}
