// A network as a diagram: its parts, what flows between them, and what is known of the chosen one.

import { button, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { coloursOf } from "../core/colours.js";
import { element } from "../core/dom.js";
import { FAMILY, saveDrawing } from "../core/drawing_file.js";
import { skeleton } from "../core/mounting.js";
import { PageLink, queryOf } from "../core/link.js";
import { diagram } from "./diagram.js";
import { total } from "./numbers.js";
import { written } from "./save.js";

/** @import {ArchitecturePart, ArchitectureProps} from "../types" */

const PHONE = 640; // CSS pixels: up to this width the code is folded
const FIRST = "attention/attend"; // where tokens attend: shown when nothing was chosen

/** What is shown, what is chosen and what is open. */
export class ArchitectureState {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {ArchitectureProps | null} */
    this.props = null;
    /** @type {Map<string, {part: ArchitecturePart, copies: number}>} by path */
    this.parts = new Map();
    this.part = ""; // the chosen one
    this.link = new PageLink(root);
    /** @type {Set<string>} at first everything is open */
    this.closed = new Set();
    this.redraw = () => {};
  }

  get base() {
    return this.props?.base ?? null;
  }

  /** @param {ArchitectureProps} props */
  update(props) {
    this.props = props;
    const { base, defaults } = props;
    const start = this.link.update(props);
    if (start) this.part = String(start.selection.part ?? "");
    if (base) {
      this.parts = new Map(walk(base.parts));
      this.part = this.nearest(this.part, String(defaults.part ?? ""));
    }
    this.record();
  }

  /**
   * A part of this network: the one that is wanted, else what is chosen at first.
   *
   * @param {string} wanted
   * @param {string} first
   */
  nearest(wanted, first) {
    for (const id of [wanted, first]) if (this.parts.has(id)) return id;
    return [...this.parts.keys()].find((id) => id.endsWith(FIRST)) ?? "";
  }

  record() {
    const { part } = this;
    if (this.props) this.link.record(queryOf({ part }, this.props.defaults), { part });
  }

  /** @param {string} id */
  choose(id) {
    this.part = id;
    this.record();
    this.redraw();
  }

  /**
   * Opens or closes a part.
   *
   * @param {string} id
   */
  turn(id) {
    if (!this.closed.delete(id)) this.closed.add(id);
    this.redraw();
  }

  /** The whole network's amount of what is shown on every part. */
  sum() {
    const { base } = this;
    return base?.parts.reduce((sum, part) => sum + total(part, base.quantity), 0) ?? 0;
  }
}

/**
 * Every part with its path and the copies of what is round it.
 *
 * @param {ArchitecturePart[]} parts
 * @returns {Generator<[string, {part: ArchitecturePart, copies: number}]>}
 */
export function* walk(parts, above = "", copies = 1) {
  for (const part of parts) {
    const id = above + part.name;
    yield [id, { part, copies }];
    yield* walk(part.parts, `${id}/`, copies * part.times);
  }
}

/** What is known of the chosen part: words, shapes and numbers, and the lines that run. */
function panelOf() {
  const box = element("div", "hs-part-panel");
  const changed = changes();

  function show(part, sources) {
    box.hidden = !part;
    if (!part || !changed(part, sources)) return;
    const { heading, sentence, rows, source } = part;
    const lines = rows.map(([name, text]) =>
      element("tr", "", {}, element("th", "", { scope: "row" }, name), element("td", "", {}, text)),
    );
    const { file, line, code } = sources[source];
    const runs = element(
      "details",
      "hs-runs",
      {},
      element("summary", "", {}, `What runs: ${file}, line ${line}`),
      element("pre", "hs-code", { tabindex: "0" }, element("code", "", {}, code)),
    );
    runs.open = innerWidth > PHONE;
    box.replaceChildren(
      element("h3", "hs-heading", {}, heading),
      element("p", "", {}, sentence),
      element("table", "hs-table", {}, element("tbody", "", {}, ...lines)),
      runs,
    );
  }

  return { box, show };
}

/**
 * @param {HTMLElement} root
 * @param {ArchitectureProps} props
 */
export function mount(root, props) {
  root.classList.add("headscope");
  const state = new ArchitectureState(root);
  const stage = element("div", "hs-stage");
  const panel = panelOf();
  const place = element("div", "hs-diagram", {}, stage, panel.box);
  const files = switchOf(
    "Save the diagram",
    button("SVG", "Save the diagram as vectors, light", () => save("svg")),
    button("PNG", "Save the diagram as pixels, light", () => save("png")),
  );
  const tools = element("div", "hs-row", {}, element("span", "hs-label", {}, "Save"), files);
  let frame = 0;
  let count = 0;

  function paint() {
    frame = 0;
    const { base, props: now } = state;
    if (!root.isConnected) return;
    if (!base || !now) {
      if (!place.isConnected) root.replaceChildren(skeleton(now?.message));
      return;
    }
    if (stage.matches(":active")) return schedule(); // a press on what is replaced would be no click
    if (!place.isConnected) root.replaceChildren(tools, place);
    const theme = coloursOf(root, base.theme, now.type_size ?? 1);
    place.classList.toggle("hs-wide", base.parts.length === 2);
    panel.show(now.panel ? state.parts.get(state.part)?.part : undefined, base.sources);
    diagram(stage, state, base, theme, Boolean(now.busy));
    root.dataset.select = state.part;
    root.dataset.painted = String((count += 1));
  }

  function save(format) {
    const { base } = state;
    if (!base) return;
    const { light } = base.theme;
    const sheet = element("div");
    sheet.style.cssText = `position: absolute; visibility: hidden; width: ${stage.clientWidth}px; font-family: ${FAMILY}`;
    place.append(sheet);
    diagram(sheet, state, base, light, false);
    const picture = sheet.querySelector("svg");
    sheet.remove();
    if (!picture) return;
    const what = `The parts of a network, the shapes between them, and the ${base.quantity} of each.`;
    const { text, size } = written(picture, light.background, base.title, what);
    saveDrawing(text, size, base.title, format);
  }

  function schedule() {
    frame ||= requestAnimationFrame(paint);
  }

  state.redraw = schedule;
  const observer = new ResizeObserver(schedule);
  observer.observe(root);
  const ended = new AbortController();
  const { signal } = ended;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", schedule, { signal });
  document.fonts.addEventListener("loadingdone", schedule, { signal });
  const update = (next) => {
    state.update(next);
    schedule(); // the theme may have changed
  };
  update(props);
  return {
    update,
    destroy() {
      cancelAnimationFrame(frame);
      observer.disconnect();
      ended.abort();
      state.link.destroy();
      root.replaceChildren();
    },
  };
}
