// Reports the cell or point of a Plotly chart that was clicked: Streamlit passes on no clicks on
// heat maps. The charts are found by the classes that Streamlit makes of their keys.

/** @import {Host} from "../types" */

/**
 * @typedef {object} PickProps
 * @property {Record<string, string>} charts by name, the beginning of each chart's key
 */

/** @typedef {{points?: {x?: unknown, y?: unknown}[]}} Clicked what Plotly reports */

/** @typedef {HTMLElement & {on?: (event: "plotly_click", then: (event: Clicked) => void) => void}} Chart */

/**
 * @param {HTMLElement} _root
 * @param {PickProps} props
 * @param {Host} host
 */
export function mount(_root, props, host) {
  let { charts } = props;
  let due = 0;
  /** @type {WeakSet<Chart>} */
  const heard = new WeakSet();
  const listen = () => {
    due = 0;
    for (const [name, key] of Object.entries(charts)) {
      /** @type {Chart | null} */
      const chart = document.querySelector(`[class*="st-key-${key}"] .js-plotly-plot`);
      if (!chart?.on || heard.has(chart)) continue;
      heard.add(chart);
      chart.on("plotly_click", (event) => {
        const picked = picking(name, event);
        if (picked && name in charts) host.trigger("picked", picked);
      });
    }
  };
  // Streamlit makes a chart anew whenever its data change
  const drawn = new MutationObserver(() => {
    due ||= requestAnimationFrame(listen);
  });
  drawn.observe(document.body, { childList: true, subtree: true });
  listen();
  return {
    /** @param {PickProps} next */
    update: (next) => {
      charts = next.charts;
      listen();
    },
    destroy: () => {
      drawn.disconnect();
      cancelAnimationFrame(due);
      charts = {};
    },
  };
}

/**
 * The chart and the whole numbers of a click; null if it hit none.
 *
 * @param {string} chart
 * @param {Clicked} event
 */
export function picking(chart, { points }) {
  const point = points?.[0];
  if (!point) return null;
  /** @param {unknown} value */
  const whole = (value) => (Number.isFinite(value) ? Math.round(Number(value)) : null);
  return { chart, x: whole(point.x), y: whole(point.y) };
}
