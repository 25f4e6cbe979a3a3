// All heads of all layers as small pictures: what to look at next.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { contextOf, element, setText } from "../core/dom.js";
import { layerRows, withoutWeights } from "./layers.js";
import { nameOfSpot } from "./numbers.js";
import { paintThumbnail } from "./thumbnail.js";

/** @import {Head, Theme} from "../types" */
/** @import {TextState} from "./state.js" */

const SMALLEST = 32;
const LARGEST = 56;
const TALLEST = 520; // of all pictures, while they can be larger than the smallest
const GAP = 2;
const FADED = 0.75; // opacity of the background over heads that do not stand out
const SKIPPED = 18; // height of a row that names layers without attention, at a unit of 1
const SLOW = 64 << 20; // weights of a layer from which on its thumbnails take a while
const SENTENCE =
  "One thumbnail per head: rows attend, columns are attended to. Choose one to enlarge it.";
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** @typedef {{site: number, head: Head}} Spot */

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function atlas(state, parent) {
  const corner = element("div", "hs-corner");
  const top = element("div", "hs-columns", { "aria-hidden": "true" });
  const rowNames = element("div", "hs-rows", { "aria-hidden": "true" });
  const canvas = element("canvas", "hs-thumbs", { role: "img" });
  const chosen = element("div", "hs-frame hs-chosen");
  const pointed = element("div", "hs-frame hs-pointed");
  const body = element("div", "hs-body", {}, canvas, pointed, chosen);
  const grid = element("div", "hs-atlas-grid", {}, corner, top, rowNames, body);
  const scroller = element(
    "div",
    "hs-scroller",
    { tabindex: "0", role: "group", "aria-label": "All heads. Arrow keys choose another one." },
    grid,
  );
  const sentence = element("p", "hs-sentence");
  const name = element("div", "hs-name", { "aria-live": "polite" });
  const count = element("span", "", { role: "status" });
  const stop = button("", "", () => state.halt(!state.halted));
  const progress = element("p", "hs-sentence hs-coming", {}, count, stop);
  const section = element(
    "div",
    "",
    {},
    sentence,
    progress,
    scroller,
    name,
  );
  parent.append(section);

  let size = SMALLEST; // of a thumbnail, CSS pixels
  /** @type {Map<number, number>} the upper edge of each site's row */
  let tops = new Map();
  /** @type {{row: import("./layers.js").Skipped, top: number}[]} */
  let skipped = [];
  let tall = 0; // of all rows
  let line = SKIPPED;
  /** @type {Spot | null} under the pointer */
  let over = null;
  const drawn = changes();
  const framed = changes();

  /** The rows: the layers of the chosen kind of attention. */
  const rows = () => state.group();
  const widest = () => Math.max(...rows().map((site) => state.site(site).heads)) + 2;
  /** @param {Head} head */
  const columnOf = (head) =>
    typeof head === "number" ? head : widest() - (head === "mean" ? 2 : 1);
  /** @type {(site: number, column: number) => Head | null} */
  const headAt = (site, column) => {
    if (column >= widest() - 2) return column === widest() - 2 ? "mean" : "max";
    return column < state.site(site).heads ? column : null;
  };
  /** @param {number} site */
  const down = (site) => tops.get(site) ?? 0;

  /** Places the rows: those of sites, and between them those of layers without attention. */
  function stack() {
    tops = new Map();
    skipped = [];
    tall = GAP;
    for (const row of layerRows(state.base, rows())) {
      if ("site" in row) tops.set(row.site, tall);
      else skipped.push({ row, top: tall });
      tall += "site" in row ? size + GAP : line;
    }
  }

  /**
   * Gaps in front of a column: before the mean, and between heads that share no keys.
   *
   * @param {number} column
   */
  function gaps(column) {
    const sharing = state.sharing();
    const groups = sharing > 1 ? Math.floor(Math.min(column, widest() - 3) / sharing) : 0;
    return (column >= widest() - 2 ? 3 * GAP : 0) + (sharing > 1 ? GAP : 0) + groups * 2 * GAP;
  }
  /** @param {number} column */
  const left = (column) => column * (size + GAP) + gaps(column);

  /**
   * @param {PointerEvent | MouseEvent} event
   * @returns {Spot | null}
   */
  function spotAt(event) {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const site = rows().find((each) => y >= down(each) && y < down(each) + size + GAP);
    if (site === undefined) return null;
    for (let column = 0; column < widest(); column++)
      if (x >= left(column) && x < left(column) + size + GAP) {
        const head = headAt(site, column);
        return head === null ? null : { site, head };
      }
    return null;
  }

  /**
   * @param {HTMLElement} frame
   * @param {Spot | null} spot
   */
  function place(frame, spot) {
    frame.hidden = !spot;
    if (!spot) return;
    const x = left(columnOf(spot.head)) - 2;
    frame.style.transform = `translate(${x}px, ${down(spot.site) - 2}px)`;
    frame.style.width = frame.style.height = `${size + 4}px`;
  }

  function showName() {
    const spot = over ?? state.selection;
    const { site, head } = spot;
    const told = typeof head === "number" ? state.numbers?.sentence({ site, head }) : null;
    const what = `${state.siteName(site)} · ${state.headName(head, site)}`;
    setText(name, told && over ? `${what}: ${told}` : what);
    name.classList.toggle("hs-muted", !over);
  }

  body.onpointermove = (event) => {
    over = spotAt(event);
    body.style.cursor = over ? "pointer" : "";
    place(pointed, over);
    showName();
  };
  body.onpointerleave = () => {
    over = null;
    place(pointed, null);
    showName();
  };
  body.onclick = (event) => {
    const spot = spotAt(event);
    if (spot) state.select(spot);
  };
  scroller.onkeydown = (event) => {
    const { site, head } = state.selection;
    const last = widest() - 1;
    let [row, column] = [rows().indexOf(site), columnOf(head)];
    if (event.key === "Home") column = 0;
    else if (event.key === "End") column = last;
    else if (MOVES[event.key] && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const [below, right] = MOVES[event.key];
      row = Math.min(Math.max(0, row + below), rows().length - 1);
      do column += right;
      while (right && column > 0 && column < last && headAt(rows()[row], column) === null);
      column = Math.min(Math.max(0, column), last);
    } else return;
    event.preventDefault();
    const next = headAt(rows()[row], column) ?? state.site(rows()[row]).heads - 1;
    state.select({ site: rows()[row], head: next });
  };

  /** @param {number} unit size of type */
  function measure(unit) {
    // what the smallest pictures take: the grid gives this column that much if it can
    const beside = rowNames.offsetWidth + gaps(widest() - 1) + 7;
    const need = beside + widest() * (SMALLEST + GAP);
    const whole = /** @type {HTMLElement | null} */ (section.closest(".hs-grid"));
    whole?.style.setProperty("--hs-need", `${need}px`);
    const space = scroller.clientWidth - beside;
    const fit = Math.floor(space / widest()) - GAP;
    const high = Math.floor(TALLEST / rows().length) - GAP;
    const largest = Math.max(LARGEST, LARGEST * unit);
    size = Math.max(SMALLEST, Math.min(largest, fit, Math.max(high, SMALLEST)));
    line = Math.round(SKIPPED * unit);
    stack();
  }

  /** @param {number} unit */
  function names(unit) {
    const columns = [...Array(widest() - 2).keys(), "mean", "max"];
    const type = Math.min(12.2 * unit, size / 2.8); // "mean" stays within its column
    top.replaceChildren(
      ...columns.map((column, i) => {
        const label = element("span", "", {}, String(column));
        label.style.left = `${left(i)}px`;
        label.style.width = `${size}px`;
        label.style.fontSize = `${type}px`;
        return label;
      }),
    );
    let end = 0;
    rowNames.replaceChildren(
      ...rows().map((site) => {
        const label = element("span", "", {}, `layer ${state.site(site).layer}`);
        label.style.height = `${size + GAP}px`;
        label.style.marginTop = `${down(site) - end}px`;
        end = down(site) + size + GAP;
        return label;
      }),
    );
    for (const gap of body.querySelectorAll(".hs-skipped")) gap.remove();
    body.append(
      ...skipped.map(({ row, top: y }) => {
        const label = element("div", "hs-skipped", {}, withoutWeights(row));
        label.style.top = `${y}px`;
        label.style.height = label.style.lineHeight = `${line}px`;
        return label;
      }),
    );
  }

  /**
   * One small picture, or the place where it will be.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {number} site
   * @param {number} column
   * @param {Theme} theme
   */
  function paintThumb(context, site, column, theme) {
    const ratio = devicePixelRatio || 1;
    const head = headAt(site, column);
    if (head === null) return;
    const [x, y] = [Math.round(left(column) * ratio), Math.round(down(site) * ratio)];
    const pixels = Math.round(size * ratio);
    const part = state.maps.thumb(site, head);
    if (!part) {
      context.fillStyle = theme.surface;
      context.fillRect(x, y, pixels, pixels);
      return;
    }
    paintThumbnail(context, part, theme, state.top(part), { x, y, pixels });
  }

  /** @param {Theme} theme */
  function paint(theme) {
    const ratio = devicePixelRatio || 1;
    const width = left(widest() - 1) + size;
    canvas.style.width = body.style.width = top.style.width = `${width}px`;
    canvas.style.height = body.style.height = `${tall}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
    const context = contextOf(canvas);
    for (const site of rows())
      for (let column = 0; column < widest(); column++) paintThumb(context, site, column, theme);
    for (const site of rows()) paintGroups(context, site, theme);
    if (state.standing) fade(context, state.standing, theme);
  }

  /**
   * Fades the heads that do not stand out.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {ReadonlySet<string>} standing
   * @param {Theme} theme
   */
  function fade(context, standing, theme) {
    const ratio = devicePixelRatio || 1;
    context.globalAlpha = FADED;
    context.fillStyle = theme.background;
    for (const { site, head } of state.spots())
      if (!standing.has(nameOfSpot({ site, head }))) {
        const [x, y] = [Math.floor(left(head) * ratio), Math.floor(down(site) * ratio)];
        context.fillRect(x, y, Math.ceil(size * ratio) + 1, Math.ceil(size * ratio) + 1);
      }
    context.globalAlpha = 1;
  }

  /**
   * A frame around the heads that share one head of keys and values.
   *
   * @param {CanvasRenderingContext2D} context
   * @param {number} site
   * @param {Theme} theme
   */
  function paintGroups(context, site, theme) {
    const { heads, kv_heads: keys = heads } = state.site(site);
    const shared = heads / keys;
    if (shared <= 1) return;
    const ratio = devicePixelRatio || 1;
    context.strokeStyle = theme.muted;
    context.lineWidth = ratio;
    for (let first = 0; first < heads; first += shared) {
      const [x, end] = [left(first) - 1.5, left(first + shared - 1) + size + 1.5];
      context.strokeRect(x * ratio, (down(site) - 1.5) * ratio, (end - x) * ratio, (size + 3) * ratio);
    }
  }

  function emphasise() {
    const frames = state.sharing() > 1 ? " Framed heads share one head of keys and values." : "";
    const faded = state.standing ? " Heads that were not found are faded." : "";
    setText(sentence, `${SENTENCE}${frames}${faded}`);
    const { site, head } = state.selection;
    [...top.children].forEach((c, i) => c.classList.toggle("hs-on", i === columnOf(head)));
    const row = rows().indexOf(site);
    [...rowNames.children].forEach((c, i) => c.classList.toggle("hs-on", i === row));
    const layers = rows().length;
    canvas.setAttribute(
      "aria-label",
      `Attention of every head as small pictures: ${layers} rows (layers), ${widest() - 2} heads ` +
        `each, then their mean and maximum. Chosen: ${state.siteName()}, ${state.headName()}.`,
    );
  }

  /** Scrolls the chosen picture into view, inside its box. */
  function reveal() {
    const { site, head } = state.selection;
    const x = left(columnOf(head));
    const y = down(site);
    const { clientWidth, clientHeight } = scroller;
    const [wide, high] = [clientWidth - rowNames.offsetWidth, clientHeight - top.offsetHeight];
    if (x < scroller.scrollLeft) scroller.scrollLeft = x - GAP;
    else if (x + size + 2 * GAP > scroller.scrollLeft + wide)
      scroller.scrollLeft = x + size + 2 * GAP - wide;
    if (y < scroller.scrollTop) scroller.scrollTop = y - GAP;
    else if (y + size + GAP > scroller.scrollTop + high)
      scroller.scrollTop = y + size + GAP - high;
  }

  /** How many thumbnails are still to come, where a layer takes long. */
  function showProgress() {
    const [all, missing] = [rows().length, state.unseen()];
    const { heads, queries, keys } = state.site();
    progress.hidden = !missing || !state.view.remote || heads * queries * keys < SLOW;
    if (progress.hidden) return;
    setText(count, `Thumbnails of ${all - missing} of ${all} layers so far.`);
    setText(stop, state.halted ? "Continue" : "Stop");
    stop.title = state.halted ? "Compute the others" : "Compute no more of them";
  }

  /** @param {Theme} theme */
  function render(theme) {
    section.hidden = state.selection.overview !== "atlas";
    if (!scroller.clientWidth) return;
    const { site, head, scale } = state.selection;
    const { thumbs } = state.maps;
    const sizes = [scroller.clientWidth, devicePixelRatio];
    if (drawn(theme, state.base, rows()[0], thumbs.size, scale, state.standing, ...sizes)) {
      const unit = parseFloat(getComputedStyle(section).fontSize) / 16;
      over = null;
      place(pointed, null);
      if (!rowNames.children.length) names(unit);
      measure(unit);
      names(unit);
      paint(theme);
      framed(null);
    }
    if (framed(site, head)) {
      reveal();
      place(chosen, state.selection);
      emphasise();
    }
    showName();
    showProgress();
  }

  pointed.hidden = true;
  return { render };
}
