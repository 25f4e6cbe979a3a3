// Draws the panels of a view, once per frame after any change.

import { themeOf } from "./colours.js";
import { element, setText } from "./dom.js";
import { working } from "./working.js";

/** @import {Base, Panel, RunBase, Theme} from "../types" */
/** @import {State} from "./state.js" */

const WAITING = "Loading the model …";
const HOLD_MS = 80; // a response that arrives sooner is drawn in one frame with the panels around it

/**
 * Creates the panels when there is data, and redraws them after every change of state, size, theme
 * or fonts. Panels are drawn in order, those marked `late` after the others have been painted. The
 * first time all are drawn at once, so that nothing grows above what a pointer aims at. While the
 * next picture is on its way, drawing is held back for `HOLD_MS`: laying out the page twice takes
 * longer than most responses.
 *
 * @template {Base | RunBase} B
 * @param {HTMLElement} root
 * @param {State<B> & {token?: () => number}} view its token in question may be the one under the pointer
 * @param {() => Panel[]} create
 */
export function mountPanels(root, view, create) {
  root.classList.add("headscope");
  /** @type {Panel[] | null} */
  let panels = null;
  /** @type {Theme | null} */
  let theme = null;
  /** @type {Uint8Array | null} */
  let colours = null;
  let frame = 0;
  let lateFrame = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let lateTimer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let holdTimer;
  const waiting = skeleton();
  const slow = working(() => view.client);

  function paint() {
    cancelAnimationFrame(frame);
    clearTimeout(holdTimer);
    frame = 0;
    holdTimer = undefined;
    if (!root.isConnected) return;
    if (!view.baseOrNull) {
      if (!waiting.isConnected) root.replaceChildren(waiting);
      const text = view.props.message ?? (view.client || view.next ? "Loading …" : WAITING);
      setText(waiting, view.next?.client.state("overview") === "failed" ? NO_ANSWER : text);
      return;
    }
    const first = !panels;
    if (!panels) {
      root.replaceChildren();
      panels = create();
      root.append(slow.box);
    }
    if (!theme || colours !== view.overview) {
      colours = view.overview;
      theme = themeOf(root, view.base.theme, colours, view.props.type_size ?? 1);
    }
    root.classList.toggle("hs-busy", view.behind);
    root.dataset.trace = view.trace;
    root.dataset.site = String(view.selection.site);
    root.dataset.head = String(view.selection.head);
    root.dataset.token = String(view.token?.() ?? view.selection.token ?? "");
    const now = theme;
    if (first) for (const panel of panels) panel.render(now); // sizes hold once all have content
    for (const panel of panels) panel.measure?.();
    for (const panel of panels) if (!panel.late) panel.render(now);
    cancelAnimationFrame(lateFrame);
    clearTimeout(lateTimer);
    lateFrame = requestAnimationFrame(() => {
      lateTimer = setTimeout(() => {
        for (const panel of panels ?? []) if (panel.late) panel.render(now);
      });
    });
  }

  const requestPaint = () => {
    frame ||= requestAnimationFrame(paint);
  };
  const schedule = (picture) => {
    const age = view.awaited ?? HOLD_MS;
    if (age < HOLD_MS) holdTimer ??= setTimeout(requestPaint, HOLD_MS - age);
    else if (picture) paint();
    else requestPaint();
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
      cancelAnimationFrame(lateFrame);
      clearTimeout(lateTimer);
      clearTimeout(holdTimer);
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
