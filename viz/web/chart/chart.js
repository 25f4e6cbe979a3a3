// One Plotly chart, without a shadow root, because Plotly adds its styles to the document. New props
// update the chart in place, which keeps its zoom. In print app.css scales it to the width of its
// column; the viewBox makes that possible.

import { templateOf } from "./template.js";

/**
 * @typedef {object} ChartProps
 * @property {string} figure JSON of `data` and `layout`, without a template
 * @property {number} height in pixels
 * @property {string} alt the text alternative
 * @property {string} plotly path of plotly.js
 */

/**
 * @typedef {object} Plotly
 * @property {(place: HTMLElement, data: unknown[], layout: object, config: object) => Promise<HTMLElement>} react
 * @property {(place: HTMLElement) => void} purge
 */

const FULL_SCREEN = {
  name: "fullscreen",
  title: "Full screen; Escape ends it",
  icon: { width: 24, height: 24, path: "M3 3h7v2H5v5H3zM14 3h7v7h-2V5h-5zM3 14h2v5h5v2H3zM19 14h2v7h-7v-2h5z" },
  /** @param {HTMLElement} chart */
  click: (chart) => {
    const change = document.fullscreenElement ? document.exitFullscreen() : chart.parentElement?.requestFullscreen();
    change?.catch(() => {}); // the page was left meanwhile, or the browser refuses
  },
};
const SHAPES = "M3 3h6v6H3zM15 15h6v6h-6zM8 9.5L9.5 8 16 14.5 14.5 16z"; // two corners of a curve
const PICTURE = "M3 5h18v14H3zM5 7v10h14V7zM6 16l4-5 3 3 2-2 3 4zM15 8h2v2h-2z";
const FORMATS = Object.entries({ svg: SHAPES, png: PICTURE }).map(([format, path]) => ({
  name: format,
  title: `Save as ${format.toUpperCase()}`,
  icon: { width: 24, height: 24, path },
  /** @param {HTMLElement} chart */
  click: (chart) => /** @type {any} */ (globalThis).Plotly.downloadImage(chart, { format, scale: 3, filename: "chart" }),
}));
const CONFIG = {
  displaylogo: false,
  modeBarButtonsToAdd: globalThis.document?.fullscreenEnabled ? [...FORMATS, FULL_SCREEN] : FORMATS,
  modeBarButtonsToRemove: ["lasso2d", "select2d", "sendChartToCloud", "toImage"],
};
const NOT_DRAWN = "This chart could not be drawn. Reload the page.";

/**
 * @param {HTMLElement} root
 * @param {ChartProps} props
 */
export function mount(root, props) {
  const place = document.createElement("div");
  place.ariaBusy = "true"; // until it is drawn
  root.replaceChildren(place);
  root.role = "figure";
  /** @type {Plotly | null} */
  let plotly = null;
  let drawn = ""; // the figure last passed to Plotly, as JSON
  let drawing = false;
  let destroyed = false;

  /** Draws until the chart is up to date; one call of Plotly at a time. */
  async function draw() {
    if (drawing) return;
    drawing = true;
    try {
      plotly ??= await load(props.plotly);
      for (let next = figureIn(root, props); next && next !== drawn && !destroyed; next = figureIn(root, props)) {
        drawn = next;
        if (!place.isConnected) root.replaceChildren(place);
        const { data, layout } = JSON.parse(next);
        const chart = await plotly.react(place, data, layout, CONFIG);
        for (const layer of chart.querySelectorAll(".main-svg")) layer.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
      }
    } catch (error) {
      if (destroyed) return;
      drawn = ""; // tried again with the next props
      root.replaceChildren(NOT_DRAWN);
      throw error;
    } finally {
      place.ariaBusy = "false";
      drawing = false;
    }
  }

  /** @param {ChartProps} next */
  const update = (next) => {
    props = next;
    root.ariaLabel = props.alt;
    root.style.minHeight = `${props.height}px`;
    void draw();
  };
  update(props);
  const resized = new ResizeObserver(() => void draw());
  resized.observe(root);
  return {
    update,
    destroy: () => {
      destroyed = true;
      resized.disconnect();
      plotly?.purge(place);
      root.replaceChildren();
    },
  };
}

/**
 * @param {string} path
 * @returns {Promise<Plotly>}
 */
async function load(path) {
  await import(`${location.origin}${path}`);
  return /** @type {any} */ (globalThis).Plotly;
}

/**
 * The figure in the current theme and size, as JSON because Plotly mutates its arguments. Empty while
 * the chart has no width, as in a closed expander.
 *
 * @param {HTMLElement} root
 * @param {ChartProps} props
 */
function figureIn(root, props) {
  if (!root.clientWidth) return "";
  /** @type {{data: unknown[], layout: Record<string, any>}} */
  const { data, layout } = JSON.parse(props.figure);
  const styles = getComputedStyle(root);
  const template = templateOf((name) => styles.getPropertyValue(`--st-${name}`).trim());
  const height = document.fullscreenElement === root ? root.clientHeight : props.height;
  const size = { height, width: root.clientWidth };
  return JSON.stringify({ data, layout: { ...layout, ...size, template, uirevision: rangesOf(layout) } });
}

/**
 * The value of `uirevision`: Plotly keeps the zoom as long as it stays the same.
 *
 * @param {Record<string, any>} layout
 */
export function rangesOf(layout) {
  const axes = Object.keys(layout).filter((name) => /^[xy]axis/.test(name));
  return JSON.stringify(axes.map((name) => [name, layout[name].range]));
}
