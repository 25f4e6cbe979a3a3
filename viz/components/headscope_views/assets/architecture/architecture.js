// A network as a diagram: its parts, what flows between them, and what is known of the chosen one.

import { choose, disown, own } from "../core/address.js";
import { changes } from "../core/changes.js";
import { coloursOf } from "../core/colours.js";
import { element, setText } from "../core/dom.js";
import { keep, kept, startOf } from "../core/kept.js";
import { skeleton } from "../core/mounting.js";
import { queryOf } from "../core/selection.js";
import { diagram } from "./diagram.js";
import { numbers, shape, total } from "./numbers.js";

/** @import {ArchitecturePart, ArchitectureProps} from "../types" */

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
    this.revision = "";
    /** @type {Set<string>} at first everything is open */
    this.closed = new Set();
    /** @type {string | null} */
    this.pointed = null;
    this.redraw = () => {};
  }

  get network() {
    return this.props?.network ?? null;
  }

  /** @param {ArchitectureProps} props */
  update(props) {
    this.props = props;
    const { page, path, link, revision } = props;
    if (page) own(page, path, link, this.root);
    if (revision !== this.revision) {
      this.revision = revision;
      this.part = String(startOf(kept(page, revision), props).part ?? "");
      this.record();
    } else if (page) choose(page, queryOf({ part: this.part }, props.defaults));
    if (!props.network) return;
    this.parts = new Map(walk(props.network.parts));
    if (this.parts.has(this.part)) return;
    this.part = [...this.parts.keys()].find((id) => id.endsWith(FIRST)) ?? "";
  }

  record() {
    if (!this.props?.page) return;
    choose(this.props.page, queryOf({ part: this.part }, this.props.defaults));
    keep(this.props.page, this.revision, { part: this.part });
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

  /** The whole network's amount of what is told of every part. */
  sum() {
    const { network } = this;
    return network?.parts.reduce((sum, part) => sum + total(part, network.quantity), 0) ?? 0;
  }

  /** One line about the part that is pointed at, or else chosen. */
  line() {
    const found = this.parts.get(this.pointed ?? "") ?? this.parts.get(this.part);
    if (!found) return "";
    const { part, copies } = found;
    /** @param {ArchitecturePart["takes"]} given */
    const axes = (given) => shape(given, 1e9, () => 0);
    const times = copies * part.times > 1 ? ` (all ${copies * part.times})` : "";
    const amounts = numbers({ ...part, times: part.times * copies });
    return `${part.title}: ${axes(part.takes)} → ${axes(part.gives)} · ${amounts}${times}`;
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

/**
 * @param {HTMLElement} root
 * @param {ArchitectureProps} props
 */
export function mount(root, props) {
  root.classList.add("headscope");
  const state = new ArchitectureState(root);
  const read = element("p", "hs-diagram-read");
  const stage = element("div", "hs-stage");
  const details = element("div", "hs-part-details");
  const place = element("div", "hs-diagram", {}, element("div", "", {}, read, stage), details);
  const detailed = changes();
  let frame = 0;
  let count = 0;

  function paint() {
    frame = 0;
    const { network } = state;
    if (!root.isConnected) return;
    if (!network) {
      if (!place.isConnected) root.replaceChildren(skeleton(state.props?.message));
      return;
    }
    if (stage.matches(":active")) return schedule(); // a press on what is replaced would be no click
    if (!place.isConnected) root.replaceChildren(place);
    const theme = coloursOf(root, network.theme, state.props?.type_size ?? 1);
    diagram(stage, state, network, theme, showLine);
    showLine();
    showDetails();
    root.dataset.part = state.part;
    root.dataset.trace = network.identity;
    root.dataset.painted = String((count += 1));
  }

  const showLine = () => setText(read, state.line());

  function showDetails() {
    const found = state.props?.details?.[state.part];
    details.hidden = !found;
    if (!found || !detailed(found)) return;
    const { title, sentence, rows, source, code } = found;
    const lines = rows.map(([name, text]) =>
      element("tr", "", {}, element("th", "", { scope: "row" }, name), element("td", "", {}, text)),
    );
    details.replaceChildren(
      element("h3", "hs-heading", {}, title),
      element("p", "", {}, sentence),
      element("table", "hs-table", {}, ...lines),
    );
    if (source) details.append(element("p", "hs-doubt", {}, `What runs: ${source}`));
    if (code)
      details.append(element("pre", "hs-code", { tabindex: "0" }, element("code", "", {}, code)));
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
  /** @param {ArchitectureProps} next */
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
      if (state.props?.page) disown(state.props.page, root);
      root.replaceChildren();
    },
  };
}
