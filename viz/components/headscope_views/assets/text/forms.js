// The forms in which the chosen head can be drawn, in the order of their buttons.

import { copies } from "./copies.js";
import { lines } from "./lines.js";
import { matrix } from "./matrix.js";
import { model } from "./model.js";
import { queryKey } from "./query_key.js";
import { stages } from "./stages.js";

/** @import {Form, Panel} from "../types" */
/** @import {TextState} from "./state.js" */

/**
 * @typedef {object} Zoom
 * @property {() => void} in
 * @property {() => void} out
 * @property {() => void} reset
 * @property {() => boolean} isZoomed
 * @property {() => boolean} isDeepest
 */

/**
 * A panel that hides itself while another form is chosen; its choices stand in the toolbar, and
 * `figure` tells the server what is chosen in it.
 *
 * @typedef {Panel & {save: () => void, zoom?: Zoom, choices?: HTMLElement,
 *   figure?: () => Record<string, string | number>}} FormPanel
 */

/** @type {{name: Form, label: string, title: string, make: (state: TextState, parent: HTMLElement) => FormPanel}[]} */
export const FORMS = [
  {
    name: "matrix",
    label: "Matrix",
    title: "Each weight as a cell: rows attend, columns are attended to",
    make: matrix,
  },
  {
    name: "lines",
    label: "Lines",
    title: "Each weight as a line between two columns of tokens",
    make: lines,
  },
  {
    name: "text",
    label: "Text",
    title: "The text shaded by each head that is switched on",
    make: copies,
  },
  {
    name: "qk",
    label: "Query · key",
    title: "One pair of tokens: query and key element by element, and the steps to the weight",
    make: queryKey,
  },
  {
    name: "stages",
    label: "Stages",
    title: "One head for one token, from query and keys to what it writes",
    make: stages,
  },
  {
    name: "model",
    label: "All layers",
    title: "Every layer at once: rollout, flow, norms, relevance for an output",
    make: model,
  },
];
