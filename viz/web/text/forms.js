// Written by `python -m viz.declared` from viz/selection.py, viz/views and analysis/methods.py.

import { panelOf } from "../core/view_panel.js";
import { Head } from "../../views/head/view.js";
import { Lens } from "../../views/lens/view.js";
import { Lines } from "../../views/lines/view.js";
import { Matrix } from "../../views/matrix/view.js";
import { Model } from "../../views/model/view.js";
import { Parts } from "../../views/parts/view.js";
import { Sound } from "../../views/sound/view.js";
import { Text } from "../../views/text/view.js";

/** @import {Form, FormPanel, ImageForm} from "../types" */
/** @import {TextState} from "./state.js" */

/** @typedef {(state: TextState, parent: HTMLElement) => FormPanel} Painter */

/**
 * What makes the panel of a form, which hides itself while another one is chosen.
 *
 * @type {Record<Exclude<Form, ImageForm>, Painter>}
 */
export const PAINTERS = {
  matrix: panelOf("matrix", Matrix),
  lines: panelOf("lines", Lines),
  text: panelOf("text", Text),
  head: panelOf("head", Head),
  sound: panelOf("sound", Sound),
  model: panelOf("model", Model),
  lens: panelOf("lens", Lens),
  parts: panelOf("parts", Parts),
};
