// Draws the panels of a view, once per frame after any change.

import { themeOf } from "./colours.js";
import { element, setText } from "./dom.js";
import { working } from "./working.js";

/** @import {Base, ImageBase, Panel, Theme} from "../types" */
/** @import {ViewState} from "./state.js" */

const WAITING = "Loading the model …";
const HOLD_MS = 80; // a picture that comes sooner is drawn in one frame with all that is about it

/**
 * @template {Base | ImageBase} B
 * @typedef {object} View
 * @property {ViewState<B>} view
 * @property {() => Uint8Array} area the overview's bytes, which hold the colours
 */

/**
 * Creates the panels when there is data, and redraws them after every change of state, size, theme
 * or fonts. Panels are drawn in order, those marked `late` when the others have been painted. While
 * the picture's weights are on their way, nothing is redrawn for a moment: laying out a page twice
 * takes longer than most answers.
 *
 * @template {Base | ImageBase} B
 * @param {HTMLElement} root
 * @param {View<B>} state
 * @param {() => Panel[]} create
 */
export function mountPanels(root, state, create) {
  const { view } = state;
  root.classList.add("headscope");
  /** @type {Panel[] | null} */
  let panels = null;
  /** @type {Theme | null} */
  let theme = null;
  /** @type {Uint8Array | null} */
  let colours = null;
  let frame = 0;
  let after = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let rest;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let held;
  const waiting = skeleton();
  const slow = working(() => view.client);

  function paint() {
    cancelAnimationFrame(frame);
    clearTimeout(held);
    frame = 0;
    held = undefined;
    if (!root.isConnected) return;
    if (!view.found) {
      if (!waiting.isConnected) root.replaceChildren(waiting);
      const text = view.props.message ?? (view.client || view.next ? "Loading …" : WAITING);
      setText(waiting, view.next?.client.state("overview") === "failed" ? NO_ANSWER : text);
      return;
    }
    if (!panels) {
      root.replaceChildren();
      panels = create();
      root.append(slow.box);
    }
    if (!theme || colours !== state.area()) {
      colours = state.area();
      theme = themeOf(root, view.base.theme, colours, view.props.type_size ?? 1);
    }
    root.classList.toggle("hs-busy", view.behind);
    root.dataset.trace = view.trace;
    root.dataset.site = String(view.selection.site);
    root.dataset.head = String(view.selection.head);
    const now = theme;
    for (const panel of panels) panel.measure?.();
    for (const panel of panels) if (!panel.late) panel.render(now);
    cancelAnimationFrame(after);
    clearTimeout(rest);
    after = requestAnimationFrame(() => {
      rest = setTimeout(() => {
        for (const panel of panels ?? []) if (panel.late) panel.render(now);
      });
    });
  }

  const soon = () => {
    frame ||= requestAnimationFrame(paint);
  };
  /** @param {boolean} [picture] whether the weights that were waited for have come */
  const schedule = (picture) => {
    const age = view.awaited ?? HOLD_MS;
    if (age < HOLD_MS) held ??= setTimeout(soon, HOLD_MS - age);
    else if (picture) paint();
    else soon();
  };
  /** Font size, colours or fonts may have changed. */
  const restyle = () => {
    theme = null;
    schedule();
  };
  view.subscribe(schedule);
  const observer = new ResizeObserver(() => schedule());
  observer.observe(root);
  const ended = new AbortController();
  const { signal } = ended;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle, { signal });
  addEventListener("resize", () => schedule(), { signal });
  document.fonts.addEventListener("loadingdone", restyle, { signal });
  schedule();
  return {
    restyle,
    destroy() {
      cancelAnimationFrame(frame);
      cancelAnimationFrame(after);
      clearTimeout(rest);
      clearTimeout(held);
      observer.disconnect();
      slow.destroy();
      ended.abort();
      for (const panel of panels ?? []) panel.destroy?.();
      view.destroy();
      root.replaceChildren();
    },
  };
}

const NO_ANSWER = "The server does not answer. Reload the page to try again.";

/** The placeholder of a view. */
export function skeleton(text = WAITING) {
  return element("p", "hs-loading", { role: "status" }, text);
}
