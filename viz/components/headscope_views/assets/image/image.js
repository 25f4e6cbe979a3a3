// A picture as a network reads it: its patches, one of them chosen, and every head of a layer.

import { button, stepper } from "./bar.js";
import { pictureOf } from "./imagegrid.js";
import { headsOf } from "./imageheads.js";
import { patchesOf } from "./imagepatches.js";
import { ImageStore } from "./imagestore.js";
import { element, mountViews, say } from "./view.js";

export const mount = (root, bytes, onEvent) =>
  mountViews(root, bytes, onEvent, compose, ImageStore);

const SCALES = [
  ["layer", "Shared", "All heads on one scale: 0 to the layer’s largest weight between patches"],
  ["own", "Own", "Each head from 0 to its own largest weight on a patch"],
  ["fixed", "0 to 1", "All heads on the scale of all weights there can be"],
];

function compose(store, root) {
  const bar = element("div", "hs-bar", { role: "toolbar", "aria-label": "Layer, head and scale" });
  const grid = element("div", "hs-grid hs-image-grid");
  root.replaceChildren(bar, grid);
  const views = [pictureOf(store, grid), headsOf(store, grid), patchesOf(store, root)];
  // widths are read before anything is written: reading later would lay the page out once more
  const rooms = { render: () => views.forEach((view) => view.measure()) };
  return [rooms, ...views, controls(store, bar)];
}

function group(name, buttons) {
  return element("div", "hs-switch", { role: "group", "aria-label": name }, ...buttons);
}

function controls(store, bar) {
  const layer = stepper(
    "Layer",
    (by) => store.select({ site: store.selection.site + by }),
    (site) => store.select({ site }),
  );
  const head = stepper(
    "Head",
    (by) => {
      const names = store.heads();
      store.select({ head: names[names.indexOf(store.selection.head) + by] });
    },
    (index) => store.select({ head: store.heads()[index] }),
  );
  const out = button("Looks at", "Where the chosen patch looks", () =>
    store.select({ direction: "out" }),
  );
  const into = button("Is looked at by", "Which patches look at the chosen one", () =>
    store.select({ direction: "in" }),
  );
  const scales = SCALES.map(([scale, text, title]) =>
    button(text, title, () => store.select({ scale })),
  );
  for (const made of [out, into, ...scales]) made.removeAttribute("aria-label");
  const note = element("strong", "hs-note");
  bar.replaceChildren(
    ...[layer.box, head.box, group("Direction of attention", [out, into])],
    element("span", "hs-label", { "aria-hidden": "true" }, "Scale"),
    ...[group("Scale", scales), note],
  );
  let shown = "";
  return {
    render() {
      const { site, head: chosen, direction, scale } = store.selection;
      const key = [store.trace, site, chosen, direction, scale].join();
      if (key === shown) return;
      shown = key;
      layer.show(store.base.sites.map((each) => `${each.layer}`), site);
      head.show(store.heads().map(String), store.heads().indexOf(chosen));
      out.setAttribute("aria-pressed", String(direction !== "in"));
      into.setAttribute("aria-pressed", String(direction === "in"));
      scales.forEach((made, i) => made.setAttribute("aria-pressed", String(SCALES[i][0] === scale)));
      say(note, store.base.note);
      note.hidden = !store.base.note;
    },
  };
}
