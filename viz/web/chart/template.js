// The Plotly template of the page: fonts and colours of Streamlit's theme in force.

import { parse } from "../core/colours.js";

const SMALL = 12; // font sizes in pixels
const BODY = 14;
const TITLE = 16;
const MUTED = 0.75; // opacity of text beside the data

/**
 * A template for `layout.template`.
 *
 * @param {(name: string) => string} themed the value of a CSS variable of Streamlit, such as "text-color"
 */
export function templateOf(themed) {
  const [background, text, line] = ["background-color", "text-color", "border-color"].map(themed);
  const muted = `rgba(${[...(parse(text) ?? [128, 128, 128]), MUTED].join(", ")})`;
  const family = themed("font");
  const colours = (name) => themed(`chart-${name}-colors`).split(",");
  const sequential = scaleOf(colours("sequential"));
  const beside = (size) => ({ color: muted, size });
  const axis = {
    automargin: true,
    gridcolor: line,
    tickcolor: line,
    tickfont: beside(SMALL),
    title: { font: beside(BODY) },
    zerolinecolor: line,
  };
  return {
    data: {
      heatmap: [{ colorscale: sequential }],
      scatter: [{ marker: { line: { width: 0 } } }],
    },
    layout: {
      coloraxis: { colorbar: { outlinewidth: 0, tickfont: beside(SMALL), title: { font: beside(BODY) } } },
      colorscale: { sequential, sequentialminus: sequential, diverging: scaleOf(colours("diverging")) },
      colorway: colours("categorical"),
      font: { color: muted, family, size: SMALL },
      hoverlabel: { bgcolor: background, bordercolor: line, font: { color: text, family, size: SMALL } },
      legend: { borderwidth: 0, font: { color: text, size: SMALL }, valign: "top" },
      margin: { l: 0, r: 0, pad: 8 },
      modebar: { activecolor: text, bgcolor: "rgba(0, 0, 0, 0)", color: muted },
      paper_bgcolor: background,
      plot_bgcolor: background,
      title: { font: { color: text, family: themed("heading-font"), size: TITLE, weight: 700 }, pad: { l: 4 }, x: 0, xanchor: "left" },
      xaxis: { ...axis, showgrid: false, zeroline: false },
      yaxis: axis,
    },
  };
}

/** Colours at equal steps from 0 to 1. */
function scaleOf(colours) {
  return colours.map((colour, i) => [i / (colours.length - 1), colour.trim()]);
}
