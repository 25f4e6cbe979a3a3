// Written by `python -m viz.declared` from viz/selection.py, viz/views and analysis/methods.py.

/** @type {Record<string, () => Promise<any>>} */
export const VIEWS = {
  matrix: () => import("../../views/matrix/view.js").then((view) => view.Matrix),
  lines: () => import("../../views/lines/view.js").then((view) => view.Lines),
  text: () => import("../../views/text/view.js").then((view) => view.Text),
  head: () => import("../../views/head/view.js").then((view) => view.Head),
  sound: () => import("../../views/sound/view.js").then((view) => view.Sound),
  model: () => import("../../views/model/view.js").then((view) => view.Model),
  lens: () => import("../../views/lens/view.js").then((view) => view.Lens),
  parts: () => import("../../views/parts/view.js").then((view) => view.Parts),
};
