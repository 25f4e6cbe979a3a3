// All heads of all layers as small pictures: what to look at next.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { contextOf, element, setText, topOf } from "../core/dom.js";
import { columnsOf, GAP, gapsBefore, inLayers, inOrder } from "./arrangement.js";
import { withoutWeights } from "./layers.js";
import { undefinedNote } from "./measures.js";
import { nameOfSpot, ranked, rankOf } from "./numbers.js";
import { sort } from "./sorting.js";
import { paintThumbnail } from "./thumbnail.js";
import { tallestPlot } from "../painting/viewport.js";

/** @import {Arrangement, Layers, Spot} from "./arrangement.js" */
/** @import {TextState} from "./state.js" */

const SMALLEST = 29; // 12 heads, their mean and maximum fit beside a picture in a window 1024 wide
const LARGEST = 56;
const TALLEST = 520; // of all pictures, while they can be larger than the smallest
const FADED = 0.75; // opacity of the background over heads that do not stand out
const SKIPPED = 18; // height of a row that names layers without attention, at a unit of 1
const CAPTION = 36; // height of the two lines below a thumbnail in an order of numbers, likewise
const SLOW = 64 << 20; // weights of a layer from which on its thumbnails take a while
const BELOW = 30; // height of the chosen head's name below them, likewise
const SENTENCE =
  "One thumbnail per head: rows attend, columns are attended to. Choose one to enlarge it.";
/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function atlas(state, parent) {
  const blank = element("div", "hs-corner");
  const top = element("div", "hs-columns", { "aria-hidden": "true" });
  const rowNames = element("div", "hs-rows", { "aria-hidden": "true" });
  const canvas = element("canvas", "hs-thumbs", { role: "img" });
  const chosen = element("div", "hs-frame hs-chosen");
  const pointed = element("div", "hs-frame hs-pointed");
  const body = element("div", "hs-body", {}, canvas, pointed, chosen);
  const grid = element("div", "hs-atlas-grid", {}, blank, top, rowNames, body);
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
  const section = element("div");
  const sorting = sort(state, section);
  section.append(sentence, progress, scroller, name);
  parent.append(section);

  /** @type {Arrangement} */
  let places = inOrder([], { size: SMALLEST, caption: 0, wide: 0 });
  /** @type {Arrangement & Layers | null} the same, where there is a row for each layer */
  let layers = null;
  let needed = 0; // pixels that the smallest pictures take
  /** @type {Spot | null} under the pointer */
  let over = null;
  /** @type {ReturnType<typeof order>} as last drawn */
  let last = null;
  state.atlasBox = body;
  const drawn = changes();
  const framed = changes();
  const bounded = changes();

  /** The sites of the chosen kind of attention. */
  const rows = () => state.group();

  function spotAt(event) {
    const box = canvas.getBoundingClientRect();
    return places.at(event.clientX - box.left, event.clientY - box.top);
  }

  function place(frame, spot) {
    const corner = spot && places.place(spot);
    frame.hidden = !corner;
    if (!corner) return;
    frame.style.transform = `translate(${corner.x - 2}px, ${corner.y - 2}px)`;
    frame.style.width = frame.style.height = `${places.size + 4}px`;
  }

  function showName() {
    const spot = over ?? state.selection;
    const { site, head } = spot;
    const description = typeof head === "number" ? state.numbers?.sentence({ site, head }) : null;
    const what = `${state.siteName(site)} · ${state.headName(head, site)}`;
    setText(name, description && over ? `${what}: ${description}` : what);
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
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const next = places.beside(state.selection, event.key);
    if (!next) return;
    event.preventDefault();
    state.select(next);
  };

  // ---- where the thumbnails lie

  /** The heads in the chosen order; null in that of the layers, and while the numbers are not here. */
  function order() {
    const { numbers, selection } = state;
    const { key, least } = rankOf(selection.rank);
    if (selection.arrangement !== "rank" || !numbers?.has(key) || isUndefined(key)) return null;
    const spots = state.passing();
    return { spots: ranked(numbers.values(key, spots), least).map((index) => spots[index]), key };
  }

  /** Whether no head has a number. */
  const isUndefined = (key) =>
    Boolean(state.numbers?.has(key) && state.numbers.values(key, state.spots()).every((value) => value === null));

  function arrange(unit, sorted) {
    grid.classList.toggle("hs-sorted", Boolean(sorted));
    if (sorted) {
      layers = null;
      const size = Math.round(LARGEST * Math.max(1, unit));
      const sizes = { size, caption: CAPTION * unit, wide: scroller.clientWidth - 8 };
      places = inOrder(sorted.spots, sizes);
      return;
    }
    const sharing = state.sharing();
    const columns = columnsOf(state.base, rows());
    // what the smallest pictures take: the grid gives this column that much if it can
    const beside = rowNames.offsetWidth + gapsBefore(columns - 1, columns, sharing) + 7;
    const need = beside + columns * (SMALLEST + GAP);
    const whole = /** @type {HTMLElement | null} */ (section.closest(".hs-grid"));
    if (need !== needed) {
      needed = need;
      whole?.style.setProperty("--hs-need", `${need}px`);
      state.changed(); // panels beside it, which were measured before, may have another width now
    }
    const fit = Math.floor((scroller.clientWidth - beside) / columns) - GAP;
    const high = Math.floor(TALLEST / rows().length) - GAP;
    const largest = Math.max(LARGEST, LARGEST * unit);
    const size = Math.max(SMALLEST, Math.min(largest, fit, Math.max(high, SMALLEST)));
    const line = Math.round(SKIPPED * unit);
    places = layers = inLayers(state.base, rows(), { size, line, sharing });
  }

  function names(unit) {
    top.replaceChildren();
    rowNames.replaceChildren();
    for (const gap of body.querySelectorAll(".hs-skipped")) gap.remove();
    if (!layers) return;
    const { columns, left, size, skipped } = layers;
    const type = Math.min(12.2 * unit, size / 2.8); // "mean" stays within its column
    top.append(
      ...[...Array(columns - 2).keys(), "mean", "max"].map((column, i) => {
        const label = element("span", "", {}, String(column));
        label.style.left = `${left(i)}px`;
        label.style.width = `${size}px`;
        label.style.fontSize = `${type}px`;
        return label;
      }),
    );
    let end = 0;
    for (const site of rows()) {
      const { y } = places.place({ site, head: 0 }) ?? { y: 0 };
      const label = element("span", "", {}, `layer ${state.site(site).layer}`);
      label.style.height = `${size + GAP}px`;
      label.style.marginTop = `${y - end}px`;
      end = y + size + GAP;
      rowNames.append(label);
    }
    for (const { row, top: y } of skipped) {
      const label = element("div", "hs-skipped", {}, withoutWeights(row));
      label.style.top = `${y}px`;
      label.style.height = label.style.lineHeight = `${Math.round(SKIPPED * unit)}px`;
      body.append(label);
    }
  }

  // ---- painting

  /** One small picture, or the place where it will be. */
  function paintThumb(context, spot, theme) {
    const ratio = devicePixelRatio || 1;
    const corner = places.place(spot);
    if (!corner) return;
    const [x, y] = [Math.round(corner.x * ratio), Math.round(corner.y * ratio)];
    const pixels = Math.round(places.size * ratio);
    const part = state.maps.thumb(spot.site, spot.head);
    if (!part) {
      context.fillStyle = theme.surface;
      context.fillRect(x, y, pixels, pixels);
      return;
    }
    paintThumbnail(context, part, theme, state.top(part), { x, y, pixels });
  }

  function paint(theme, sorted, unit) {
    const ratio = devicePixelRatio || 1;
    const { width, height } = places;
    canvas.style.width = body.style.width = top.style.width = `${width}px`;
    canvas.style.height = body.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = contextOf(canvas);
    for (const spot of places.spots) paintThumb(context, spot, theme);
    if (sorted) paintCaptions(context, sorted, theme, unit);
    else for (const site of rows()) paintGroups(context, site, theme);
    if (state.standing) fade(context, state.standing, theme);
    const reached = state.reached();
    if (reached) shade(context, reached, theme);
  }

  /** Which head each thumbnail is, and its number. */
  function paintCaptions(context, { spots, key }, theme, unit) {
    const { numbers } = state;
    const ratio = devicePixelRatio || 1;
    const line = (CAPTION * unit * ratio) / 2;
    const { fontFamily } = getComputedStyle(body);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const spot of spots) {
      const corner = places.place(spot);
      if (!corner || !numbers) continue;
      const x = (corner.x + places.size / 2) * ratio;
      const y = (corner.y + places.size) * ratio + line / 2;
      context.fillStyle = theme.text;
      context.font = `600 ${11.5 * unit * ratio}px ${fontFamily}`;
      context.fillText(`${state.site(spot.site).layer} · ${spot.head}`, x, y);
      context.fillStyle = theme.muted;
      context.font = `${11.5 * unit * ratio}px ${fontFamily}`;
      context.fillText(numbers.text(key, numbers.value(key, spot)), x, y + line);
    }
  }

  /** Fades the heads that do not stand out. */
  function fade(context, standing, theme) {
    const ratio = devicePixelRatio || 1;
    context.globalAlpha = FADED;
    context.fillStyle = theme.background;
    for (const spot of state.spots()) {
      const corner = places.place(spot);
      if (!corner || standing.has(nameOfSpot(spot))) continue;
      const [x, y] = [Math.floor(corner.x * ratio), Math.floor(corner.y * ratio)];
      const side = Math.ceil(places.size * ratio) + 1;
      context.fillRect(x, y, side, side);
    }
    context.globalAlpha = 1;
  }

  /** Shades the rows of each head that a change can reach, and frames these heads. */
  function shade(context, { sites }, theme) {
    const ratio = devicePixelRatio || 1;
    context.fillStyle = context.strokeStyle = theme.primary;
    context.lineWidth = ratio;
    for (const spot of state.spots()) {
      const [corner, here] = [places.place(spot), sites[spot.site]];
      if (!corner || !here || !(here.heads?.includes(spot.head) ?? true)) continue;
      const [x, y, side] = [corner.x, corner.y, places.size].map((number) => number * ratio);
      const { queries } = state.site(spot.site);
      context.globalAlpha = 0.4;
      for (const [from, to] of here.rows) {
        const begin = Math.floor((from / queries) * side);
        context.fillRect(x, y + begin, side, Math.max(ratio, (to / queries) * side - begin));
      }
      context.globalAlpha = 1;
      context.strokeRect(x + ratio / 2, y + ratio / 2, side - ratio, side - ratio);
    }
  }

  /** A frame around the heads that share one head of keys and values. */
  function paintGroups(context, site, theme) {
    const { heads, kv_heads: keys = heads } = state.site(site);
    const shared = heads / keys;
    if (!layers || shared <= 1) return;
    const { left, size } = layers;
    const { y } = places.place({ site, head: 0 }) ?? { y: 0 };
    const ratio = devicePixelRatio || 1;
    context.strokeStyle = theme.muted;
    context.lineWidth = ratio;
    for (let first = 0; first < heads; first += shared) {
      const [x, end] = [left(first) - 1.5, left(first + shared - 1) + size + 1.5];
      context.strokeRect(x * ratio, (y - 1.5) * ratio, (end - x) * ratio, (size + 3) * ratio);
    }
  }

  // ---- what is said

  function emphasise(sorted) {
    const frames = state.sharing() > 1 ? " Framed heads share one head of keys and values." : "";
    const faded = state.standing ? " Heads that were not found are faded." : "";
    const [all, few] = [state.spots().length, sorted?.spots.length ?? 0];
    const { site, head } = state.selection;
    const row = rows().indexOf(site);
    const column = typeof head === "number" ? head : top.children.length - (head === "mean" ? 2 : 1);
    [...top.children].forEach((c, i) => c.classList.toggle("hs-on", i === column));
    [...rowNames.children].forEach((c, i) => c.classList.toggle("hs-on", i === row));
    const by = sorted && state.numbers?.measure(sorted.key).title;
    const { key } = rankOf(state.selection.rank);
    const without = !sorted && state.selection.arrangement === "rank" && isUndefined(key);
    const unsorted = without && state.numbers ? ` Not sorted: ${undefinedNote(state.numbers, key, state.spots())}` : "";
    const missing = sorted && !places.place(state.selection) ? " The chosen one is not among them." : "";
    setText(sentence, sorted ? `${few} of ${all} heads by ${by}.${missing}` : `${SENTENCE}${frames}${faded}${unsorted}`);
    const what = sorted
      ? `in the order of ${by}, ${few} of ${all} heads.`
      : `${rows().length} rows (layers), ${top.children.length - 2} heads each, then their mean and maximum.`;
    canvas.setAttribute(
      "aria-label",
      `Attention of every head as small pictures: ${what} Chosen: ${state.siteName()}, ${state.headName()}.`,
    );
  }

  /** Scrolls the chosen picture into view, inside its box; where it is far, to the middle. */
  function reveal() {
    const corner = places.place(state.selection);
    if (!corner) return;
    const { x, y } = corner;
    const { clientWidth, clientHeight } = scroller;
    const size = { x: places.size, y: places.size + (layers ? 0 : CAPTION) };
    const [wide, high] = [clientWidth - rowNames.offsetWidth, clientHeight - top.offsetHeight];
    if (x < scroller.scrollLeft) scroller.scrollLeft = x - GAP;
    else if (x + size.x + 4 * GAP > scroller.scrollLeft + wide)
      scroller.scrollLeft = x + size.x + 4 * GAP - wide;
    const above = scroller.scrollTop - y;
    const below = y + size.y + GAP - scroller.scrollTop - high;
    if (Math.max(above, below) > size.y) scroller.scrollTop = y + (size.y - high) / 2;
    else if (above > 0) scroller.scrollTop = y - GAP;
    else if (below > 0) scroller.scrollTop += below;
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

  function render(theme) {
    section.hidden = state.selection.overview !== "atlas";
    if (!scroller.clientWidth) return;
    sorting.render();
    const { site, head, scale, arrangement, rank } = state.selection;
    const { thumbs } = state.maps;
    const unit = parseFloat(getComputedStyle(section).fontSize) / 16;
    const sizes = [scroller.clientWidth, devicePixelRatio];
    const chosenOrder = arrangement === "rank" ? [rank, state.numbers, state.conditions] : [];
    const what = [theme, state.base, rows()[0], thumbs.size, scale, state.standing, state.reached()];
    if (drawn(...what, ...sizes, ...chosenOrder)) {
      const sorted = order();
      last = sorted;
      over = null;
      place(pointed, null);
      if (!rowNames.children.length) {
        arrange(unit, sorted);
        names(unit); // their width is part of what arranges the rest
      }
      arrange(unit, sorted);
      names(unit);
      paint(theme, sorted, unit);
      framed(null);
    }
    const tallest = Math.round(tallestPlot(innerHeight, topOf(scroller), BELOW * unit));
    const isBounded = bounded(tallest);
    if (isBounded) scroller.style.maxHeight = `${tallest}px`;
    if (framed(site, head) || isBounded) {
      reveal();
      place(chosen, state.selection);
      emphasise(last);
    }
    showName();
    showProgress();
  }

  pointed.hidden = true;
  return { render };
}
