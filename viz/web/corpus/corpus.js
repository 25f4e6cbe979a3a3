// What the heads of a model do over a corpus: all of them, what finds some, and one of them.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, setAttribute, setText } from "../core/dom.js";
import { capital } from "../core/labels.js";
import { mountPanels } from "../core/mounting.js";
import { panelWithin } from "../core/view_panel.js";
import { Overview } from "../parts/overview.js";
import { kindSwitch } from "../text/kinds.js";
import { LAYER } from "../core/head_numbers.js";
import { Numbers } from "../../views/numbers/view.js";
import { byToken } from "./by_token.js";
import { compare } from "./compare.js";
import { headPage } from "./head_page.js";
import { CorpusState } from "./state.js";
import { counted } from "./words.js";

/** @import {Host, ViewProps} from "../types" */

/** @type {import("../parts/overview.js").ViewOfHeads[]} */
const VIEWS = [{ name: "table", label: "Numbers", title: "", View: Numbers }];

/**
 * @param {HTMLElement} root
 * @param {ViewProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  const state = new CorpusState(root, props, host);
  const mounted = mountPanels(root, state, () => compose(state, root));
  state.view.update(props);
  return {
    /** @param {ViewProps} next */
    update(next) {
      state.view.update(next);
      mounted.restyle();
    },
    destroy() {
      state.destroy();
      mounted.destroy();
    },
  };
}

function compose(state, root) {
  const about = element("p", "hs-sentence");
  const bar = element("div", "hs-bar", { role: "toolbar", "aria-label": "Which heads" });
  const all = element("div", "hs-corpus-heads");
  const one = element("section", "hs-section hs-corpus-head");
  root.append(about, bar, element("div", "hs-corpus", {}, all, one));
  return [
    which(state, about, bar),
    panelWithin(all, Overview, { state, views: VIEWS }),
    compare(state, all),
    byToken(state, all),
    headPage(state, one),
    way(state, all, one),
  ];
}

/** In one column: a button that goes down to the chosen head, always in sight above it. */
function way(state, parent, goal) {
  const node = button("", "Go down to this head", () => goal.scrollIntoView({ block: "start" }));
  node.classList.add("hs-corpus-way");
  parent.append(node);
  return {
    render() {
      const name = `${capital(state.siteName())} · ${state.headName(state.head)}`;
      setText(node, `${name} ↓`);
      setAttribute(node, "aria-label", `${name}: go down to this head`);
    },
  };
}

/** What the second run is. */
function withOther({ against }) {
  if (!against) return "";
  const corpora = against.corpora.filter(Boolean).join("; ");
  const name = `${against.model} over ${counted(against.texts)} inputs${corpora ? ` (${corpora})` : ""}`;
  const how = against.comparable ? "" : ": its heads are others, so each head shows those of B most like it";
  return ` B is ${name}${how}.`;
}

/** What was read, and which heads are shown: their kind and layers. */
function which(state, about, bar) {
  const kinds = kindSwitch(state);
  const layers = element("input", "hs-filter hs-layers", {
    ...{ type: "text", "aria-label": "Layers", placeholder: "all, or 0 – 5", maxlength: "24" },
    ...{ spellcheck: "false", autocomplete: "off" },
  });
  layers.oninput = () => state.filter({ [LAYER]: layers.value });
  const label = element("label", "hs-measure", {}, element("span", "hs-label", {}, "Layers"), layers);
  bar.append(kinds.box, label);
  const changed = changes();

  return {
    render() {
      kinds.show();
      const text = state.conditions.get(LAYER) ?? "";
      if (text !== layers.value.trim()) layers.value = text;
      if (!changed(state.base)) return;
      const { model, run, sites } = state.base;
      const heads = sites.reduce((sum, site) => sum + site.heads, 0);
      const inputs = run.pictures ? "pictures" : "texts";
      const corpora = run.corpora.filter(Boolean).join("; ");
      const tokens = run.tokens ? `, ${counted(run.tokens)} tokens` : "";
      const size = `${counted(run.texts)} ${inputs}${tokens}`;
      const partial = run.complete ? "" : " The run was stopped before its end.";
      setText(about, `${counted(heads)} heads of ${model} over ${size}${corpora ? `: ${corpora}` : ""}.${partial}${withOther(run)}`);
    },
  };
}
