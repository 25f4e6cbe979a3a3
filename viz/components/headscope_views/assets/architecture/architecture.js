// A network as a diagram: its parts, what flows between them, and which of them is looked at.

import { arrow, box, label, markers, pen, STYLE, svg, toggle, towerTitle } from "./architecturedraw.js";
import { layout } from "./architecturelayout.js";
import { numbers, shape, total } from "./architecturetext.js";
import { applyTheme } from "./colours.js";
import { unpack } from "./protocol.js";
import { element, say } from "./view.js";

const LOADING = 400; // milliseconds after which it asks whether the server is ready; then longer

/** What is shown, what is chosen and what is open. */
class Store {
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.base = null;
    this.ramps = {};
    this.select = "";
    this.said = 0;
    this.closed = new Set(); // at first everything is open
    this.pointed = null;
  }

  take(bytes) {
    const { header } = unpack(bytes);
    if (!header.base) return this.wait();
    this.base = header.base;
    if (this.base.heard >= this.said) this.select = this.base.select;
    this.by = new Map(paths(this.base.parts));
    if (!this.by.has(this.select)) this.select = this.base.select;
  }

  /** Nothing to show yet: says that the view is there until it is sent something. */
  wait(delay = LOADING) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.base) return;
      this.tell();
      this.wait(2 * delay);
    }, delay);
  }

  choose(id) {
    this.select = id;
    this.tell();
  }

  tell() {
    this.said = Math.max(this.said + 1, Date.now());
    this.onEvent?.({ select: this.select, said: this.said });
  }

  sum(quantity) {
    return this.base.parts.reduce((sum, part) => sum + total(part, quantity), 0);
  }
}

function* paths(parts, above = "", copies = 1) {
  for (const part of parts) {
    const id = above + part.name;
    yield [id, { part, copies }];
    yield* paths(part.parts, `${id}/`, copies * part.times);
  }
}

export function mount(root, bytes, onEvent) {
  root.headscope?.destroy();
  root.classList.add("headscope");
  const store = new Store(onEvent);
  const read = element("p", "hs-diagram-read");
  const stage = element("div", "hs-stage");
  let frame = 0;
  let count = 0;
  const paint = () => {
    frame = 0;
    if (!store.base || !root.isConnected) return;
    if (stage.matches(":active")) return schedule(); // a press on what is replaced would be no click
    if (!read.isConnected) root.replaceChildren(read, stage);
    const theme = applyTheme(root, store);
    draw(stage, store, theme, schedule);
    tell(read, store);
    root.dataset.select = store.select;
    root.dataset.trace = store.base.identity;
    root.dataset.painted = String((count += 1));
  };
  const schedule = () => {
    frame ||= requestAnimationFrame(paint);
  };
  const observer = new ResizeObserver(schedule);
  observer.observe(root);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", schedule);
  document.fonts.addEventListener("loadingdone", schedule);
  const mounted = {
    update(more) {
      if (more) store.take(more);
      schedule(); // the theme may have changed
    },
    destroy() {
      cancelAnimationFrame(frame);
      clearTimeout(store.timer);
      observer.disconnect();
      scheme.removeEventListener("change", schedule);
      document.fonts.removeEventListener("loadingdone", schedule);
      store.onEvent = null;
      root.replaceChildren();
      delete root.headscope;
    },
  };
  root.headscope = mounted;
  mounted.update(bytes);
  return mounted;
}

function draw(stage, store, theme, redraw) {
  const width = Math.floor(stage.clientWidth);
  if (!width) return;
  const style = getComputedStyle(stage);
  const drawn = pen(theme, parseFloat(style.fontSize) / 16, style.fontFamily);
  const placed = layout(store.base.parts, width, store.closed);
  const focused = stage.getRootNode().activeElement?.dataset?.id;
  const before = new Map([...stage.querySelectorAll(".shape")].map((t) => [t.dataset.of, t.textContent]));
  const picture = svg("svg", {
    ...{ width, height: placed.height, role: "tree", "aria-label": `${store.base.title}: its parts` },
    class: store.base.stale ? "stale" : "",
  });
  picture.append(svg("style", {}, STYLE), markers(theme));
  picture.append(...placed.titles.map((title) => towerTitle(title, drawn)));
  picture.append(...placed.frames.map((each) => part(each, store, drawn, redraw)));
  picture.append(...placed.lines.map((line) => arrow(line, drawn)));
  picture.append(...placed.boxes.map((each) => part(each, store, drawn, redraw)));
  placed.lines.filter((line) => line.shape).forEach((line, i) => {
    const text = label(line, drawn);
    text.dataset.of = `${i} of ${placed.lines.length}`;
    const old = before.get(text.dataset.of);
    if (old !== undefined && old !== text.textContent) text.classList.add("new");
    picture.append(text);
  });
  stage.replaceChildren(picture);
  const order = [...placed.frames, ...placed.boxes].sort((a, b) => a.y - b.y || a.x - b.x);
  keys(picture, order, store, redraw);
  if (focused) picture.querySelector(`[data-id="${focused}"]`)?.focus({ preventScroll: true });
}

/** A box or frame that can be pointed at, chosen, opened and closed. */
function part(placed, store, drawn, redraw) {
  placed.copies = store.by.get(placed.id).copies;
  const group = box(placed, store, drawn);
  const { part: shown, id, level } = placed;
  group.dataset.id = id;
  group.setAttribute("role", "treeitem");
  group.setAttribute("aria-level", level);
  group.setAttribute("aria-selected", String(id === store.select));
  group.setAttribute("aria-label", `${shown.title}, ${shape(shown.gives, 1e9, () => 0)}`);
  group.setAttribute("tabindex", id === store.select ? 0 : -1);
  if (id === store.select) group.classList.add("chosen");
  const point = (pointed) => {
    store.pointed = pointed;
    const root = group.getRootNode().querySelector(".hs-diagram-read");
    if (root) tell(root, store);
  };
  group.onpointerenter = () => point(id);
  group.onpointerleave = () => point(null);
  group.onfocus = () => point(id);
  group.onblur = () => point(null);
  group.onclick = () => {
    store.choose(id);
    redraw();
  };
  if (shown.parts.length) {
    group.setAttribute("aria-expanded", String(placed.open));
    const sign = toggle(placed, drawn.theme);
    sign.onclick = (event) => {
      event.stopPropagation();
      turn(store, id, redraw);
    };
    group.append(sign);
  }
  return group;
}

function turn(store, id, redraw) {
  if (!store.closed.delete(id)) store.closed.add(id);
  redraw();
}

/** Up and down move, right and left open and close, Enter chooses. */
function keys(picture, order, store, redraw) {
  picture.onkeydown = (event) => {
    const id = event.target.dataset?.id;
    const at = order.findIndex((placed) => placed.id === id);
    if (at < 0) return;
    const { part: shown, open } = order[at];
    const go = (where) => {
      const wanted = order[Math.min(Math.max(0, where), order.length - 1)];
      picture.querySelector(`[data-id="${wanted.id}"]`)?.focus();
    };
    const actions = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      ArrowRight: () => (shown.parts.length && !open ? turn(store, id, redraw) : go(at + 1)),
      ArrowLeft: () => {
        if (open) turn(store, id, redraw);
        else go(order.findIndex((placed) => placed.id === id.slice(0, id.lastIndexOf("/"))));
      },
      Home: () => go(0),
      End: () => go(order.length - 1),
      Enter: () => event.target.onclick(),
      " ": () => event.target.onclick(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  };
}

/** One line about the part that is pointed at, or else chosen. */
function tell(read, store) {
  const found = store.by.get(store.pointed) ?? store.by.get(store.select);
  if (!found) return;
  const { part: shown, copies } = found;
  const axes = (given) => shape(given, 1e9, () => 0);
  const times = copies * shown.times > 1 ? ` (all ${copies * shown.times})` : "";
  const all = { ...shown, times: shown.times * copies };
  say(read, `${shown.title}: ${axes(shown.takes)} → ${axes(shown.gives)} · ${numbers(all)}${times}`);
}
