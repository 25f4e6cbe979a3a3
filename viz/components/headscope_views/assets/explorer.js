// Every head, one head, the text: three views round one choice, and the bar that changes it.

import { atlas } from "./atlas.js";
import { button, stepper } from "./bar.js";
import { matrix } from "./matrix.js";
import { tokens } from "./tokens.js";
import { element, mountViews, say } from "./view.js";

export const mount = (root, bytes, onEvent) => mountViews(root, bytes, onEvent, compose);

function compose(store, root) {
  const bar = element("div", "hs-bar", { role: "toolbar", "aria-label": "Layer, head and picture" });
  const grid = element("div", "hs-grid");
  root.replaceChildren(bar, grid);
  const all = atlas(store, grid);
  const one = matrix(store, grid);
  const text = tokens(store, grid);
  return [all, one, text, controls(store, bar, one)];
}

function controls(store, bar, one) {
  const kinds = element("div", "hs-switch", { role: "group", "aria-label": "Kind of attention" });
  const layer = stepper(
    "Layer",
    (by) => store.select({ site: store.group()[store.group().indexOf(store.selection.site) + by] }),
    (row) => store.select({ site: store.group()[row] }),
  );
  const head = stepper(
    "Head",
    (by) => {
      const heads = store.heads();
      store.select({ head: heads[heads.indexOf(store.selection.head) + by] });
    },
    (index) => store.select({ head: store.heads()[index] }),
  );
  const stretch = button("Stretch contrast", "Colours from 0 to this map’s own largest weight", () =>
    store.select({ scale: store.selection.scale === "own" ? "fixed" : "own" }),
  );
  const closer = button("+", "Zoom in", () => one.zoom(1.5));
  const farther = button("−", "Zoom out", () => one.zoom(1 / 1.5));
  const reset = button("Reset zoom", "Show the whole matrix", () => one.reset());
  const save = button("Save PNG", "Save the matrix as a picture", () => one.save());
  const note = element("strong", "hs-note");
  stretch.setAttribute("aria-label", "Stretch contrast");
  bar.replaceChildren(
    kinds,
    layer.box,
    head.box,
    stretch,
    note,
    element("span", "hs-spring"),
    element("div", "hs-switch", { role: "group", "aria-label": "Zoom" }, farther, closer, reset),
    save,
  );
  let named = "";

  /** One button for each kind of attention, where there are several. */
  function switches() {
    const groups = store.groups();
    const names = [...groups.keys()].join();
    if (names !== named) {
      named = names;
      const several = groups.size > 1 ? [...groups.keys()] : [];
      kinds.replaceChildren(...several.map((name) => kindButton(store, name)));
      kinds.hidden = !several.length;
    }
    [...kinds.children].forEach((made, i) => {
      const sites = [...groups.values()][i];
      made.setAttribute("aria-pressed", String(sites.includes(store.selection.site)));
    });
  }

  return {
    render() {
      switches();
      const layers = store.group();
      layer.show(
        layers.map((site) => String(store.site(site).layer)),
        layers.indexOf(store.selection.site),
      );
      head.show(store.heads().map(String), store.heads().indexOf(store.selection.head));
      stretch.setAttribute("aria-pressed", String(store.selection.scale === "own"));
      say(note, store.base.note);
      note.hidden = !store.base.note;
      const zoomed = one.zoomed();
      reset.disabled = farther.disabled = !zoomed;
      closer.disabled = one.deepest();
    },
  };
}

const KINDS = {
  self: "The input’s tokens attend to each other, both ways",
  causal: "A token attends to itself and to what came before it",
  cross: "The written text’s tokens attend to the input’s tokens",
};

/** A button that goes to a kind of attention, at the same layer where it has one. */
function kindButton(store, name) {
  const first = store.base.sites[store.groups().get(name)[0]];
  return button(name, KINDS[first.kind], () => {
    const sites = store.groups().get(name);
    const { layer } = store.site();
    store.select({ site: sites.find((site) => store.site(site).layer === layer) ?? sites[0] });
  });
}
