// The diagram as a tree that can be walked through with keys.

import { svg } from "../core/svg.js";
import { arrow, box, label, pen, STYLE, toggle, towerTitle } from "./draw.js";
import { layout } from "./layout.js";
import { amountsOf, shape } from "./numbers.js";

/** @import {ArchitectureProps, Colours} from "../types" */
/** @import {ArchitectureState} from "./architecture.js" */

/**
 * Draws the parts into an element.
 *
 * @param {HTMLElement} stage
 * @param {ArchitectureState} state
 * @param {NonNullable<ArchitectureProps["base"]>} base
 * @param {Colours} theme
 * @param {boolean} stale
 */
export function diagram(stage, state, base, theme, stale) {
  const width = Math.floor(stage.clientWidth);
  if (!width) return;
  const style = getComputedStyle(stage);
  const drawn = pen(theme, parseFloat(style.fontSize) / 16, style.fontFamily);
  const placed = layout(base.parts, width, state.closed);
  const root = /** @type {Document | ShadowRoot} */ (stage.getRootNode());
  const focused = root.activeElement instanceof SVGElement && root.activeElement.dataset.id;
  /** @type {Map<string | undefined, string | null>} */
  const before = new Map();
  for (const text of /** @type {NodeListOf<SVGElement>} */ (stage.querySelectorAll(".shape")))
    before.set(text.dataset.of, text.textContent);
  const picture = svg("svg", {
    ...{ width, height: placed.height, role: "tree", "aria-label": `${base.title}: its parts` },
    class: stale ? "stale" : "",
  });
  const sum = state.sum();
  const part = (each) => {
    const copies = state.parts.get(each.id)?.copies ?? 1;
    const amounts = { quantity: base.quantity, sum, copies };
    return treeItem(each, state, amounts, drawn);
  };
  picture.append(svg("style", {}, STYLE));
  picture.append(...placed.titles.map((title) => towerTitle(title, drawn)));
  picture.append(...placed.frames.map(part));
  picture.append(...placed.lines.flatMap((line) => arrow(line, drawn)));
  picture.append(...placed.boxes.map(part));
  const shapes = placed.lines.flatMap((line) => line.shape ?? []);
  shapes.forEach((given, i) => {
    const text = label(given, drawn);
    text.dataset.of = `${i} of ${placed.lines.length}`;
    const old = before.get(text.dataset.of);
    if (old !== undefined && old !== text.textContent) text.classList.add("new");
    picture.append(text);
  });
  stage.replaceChildren(picture);
  const order = [...placed.frames, ...placed.boxes].sort((a, b) => a.y - b.y || a.x - b.x);
  listen(picture, order, state);
  if (focused) itemOf(picture, focused)?.focus({ preventScroll: true });
}

const itemOf = (picture, id) => picture.querySelector(`[data-id="${CSS.escape(id)}"]`);

/** What flows in and out of a part, and its amounts. */
function summaryOf(part, copies) {
  const axes = (given) => shape(given, 1e9, () => 0);
  const times = copies * part.times;
  const all = times > 1 ? ` (all ${times})` : "";
  const amounts = amountsOf({ ...part, times });
  return `${part.title}: ${axes(part.takes)} → ${axes(part.gives)} · ${amounts}${all}`;
}

/** A box or frame that can be pointed at, chosen, opened and closed. */
function treeItem(placed, state, numbers, drawn) {
  const group = box(placed, numbers, drawn);
  const { part, id, level, open } = placed;
  const chosen = id === state.part;
  group.dataset.id = id;
  group.setAttribute("role", "treeitem");
  group.setAttribute("aria-level", String(level));
  group.setAttribute("aria-selected", String(chosen));
  group.setAttribute("aria-label", `${part.title}, ${shape(part.gives, 1e9, () => 0)}`);
  group.setAttribute("tabindex", chosen ? "0" : "-1");
  group.classList.toggle("chosen", chosen);
  group.append(svg("title", {}, summaryOf(part, numbers.copies)));
  group.onclick = () => state.choose(id);
  if (!part.parts.length) return group;
  group.setAttribute("aria-expanded", String(open));
  const sign = toggle(placed, drawn.theme);
  sign.onclick = (event) => {
    event.stopPropagation();
    state.turn(id);
  };
  group.append(sign);
  return group;
}

/** Up and down move, right and left open and close, Enter chooses. */
function listen(picture, order, state) {
  picture.onkeydown = (event) => {
    const id = event.target instanceof SVGElement ? event.target.dataset.id : undefined;
    const at = order.findIndex((placed) => placed.id === id);
    if (id === undefined || at < 0) return;
    const { part, open } = order[at];
    const go = (where) => {
      const wanted = order[Math.min(Math.max(0, where), order.length - 1)];
      itemOf(picture, wanted.id)?.focus();
    };
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      ArrowRight: () => (part.parts.length && !open ? state.turn(id) : go(at + 1)),
      ArrowLeft: () => {
        if (open) state.turn(id);
        else go(order.findIndex((placed) => placed.id === id.slice(0, id.lastIndexOf("/"))));
      },
      Home: () => go(0),
      End: () => go(order.length - 1),
      Enter: () => state.choose(id),
      " ": () => state.choose(id),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  };
}
