// What all views share: elements from text (never from markup), one frame a change, mounting.

import { applyTheme } from "./colours.js";
import { Store } from "./protocol.js";

/** An element with a class, attributes and children; strings become text nodes. */
export function element(tag, className = "", attributes = {}, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A label as it is shown: blanks and line breaks get a sign, everything else stays literal. */
export function shown(label) {
  const visible = label.replace(/\r?\n/g, "↵").replace(/\t/g, "⇥");
  if (visible === "") return "∅";
  return visible.trim() === "" ? visible.replace(/\s/gu, "␣") : visible;
}

/** “label” as nodes, kept apart from its surroundings, whatever its direction of writing. */
export function quoted(label) {
  return ["“", element("bdi", "", {}, shown(label)), "”"];
}

/** Sets what an element says, and only if that is new: a live region is read out once. */
export function say(target, ...parts) {
  const nodes = parts.flat();
  const text = nodes.map((node) => node.textContent ?? node).join("");
  if (target.textContent !== text) target.replaceChildren(...nodes);
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function moreIs(mode) {
  return mode === "dark" ? "Brighter" : "Darker";
}

/** “tired” (11) → “animal” (2): 0.41327 · row sum 1.000000, as nodes. */
export function readOut(store, { query, key }) {
  const { query: queries, key: keys } = store.labels();
  const weight = store.weight(query, key);
  const from = [quoted(queries[query]), ` (${query}) → `].flat();
  const pair = [...from, quoted(keys[key]), ` (${key}): `].flat();
  if (!weight) return [...pair, "…"];
  if (weight.sign) return [...pair, `${weight.sign} ${weight.value.toFixed(3)}`];
  const sum = weight.sum === undefined ? "" : ` · row sum ${weight.sum.toFixed(6)}`;
  return [...pair, weight.value.toFixed(5) + sum];
}

/**
 * Mounts views round one store. create(store, root) -> [{render(theme), late, destroy()}]; a late
 * view is drawn a frame after the others; Kept is the store's class.
 * Returns {update(bytes), destroy()}; everything redraws in the frame after a change.
 */
export function mountViews(root, bytes, onEvent, create, Kept = Store) {
  root.headscope?.destroy();
  root.classList.add("headscope");
  const store = new Kept(onEvent);
  let views = null;
  let frame = 0;
  let after = 0;
  const paint = () => {
    frame = 0;
    if (!store.base || !root.isConnected) return;
    views ??= create(store, root);
    const theme = applyTheme(root, store);
    root.dataset.trace = store.trace;
    root.dataset.site = store.selection.site;
    root.dataset.head = store.selection.head;
    for (const view of views) if (!view.late) view.render(theme);
    cancelAnimationFrame(after);
    after = requestAnimationFrame(() => {
      for (const view of views) if (view.late) view.render(theme);
    });
  };
  const schedule = () => {
    frame ||= requestAnimationFrame(paint);
  };
  store.subscribe(schedule);
  const observer = new ResizeObserver(schedule);
  observer.observe(root);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", schedule);
  addEventListener("resize", schedule);
  const leave = () => store.report(); // before whatever is pressed next is heard of
  addEventListener("pointerdown", leave, { capture: true });
  const fonts = () => {
    store.pictures += 1; // labels may have other widths now
    schedule();
  };
  document.fonts.addEventListener("loadingdone", fonts);
  const mounted = {
    update(more) {
      if (more) store.take(more);
      schedule(); // the theme may have changed
    },
    destroy() {
      cancelAnimationFrame(frame);
      cancelAnimationFrame(after);
      observer.disconnect();
      scheme.removeEventListener("change", schedule);
      removeEventListener("resize", schedule);
      removeEventListener("pointerdown", leave, { capture: true });
      document.fonts.removeEventListener("loadingdone", fonts);
      for (const view of views ?? []) view.destroy?.();
      store.destroy();
      root.replaceChildren();
      delete root.headscope;
    },
  };
  root.headscope = mounted;
  mounted.update(bytes);
  return mounted;
}
