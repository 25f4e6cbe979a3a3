// Draws a view, once per frame after any change; and the progress of a request that takes over a second.

import { useEffect, useState } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { themeOf } from "./colours.js";
import { html } from "./html.js";

/** @import {Base, Mounted, RunBase, Theme, ViewProps} from "../types" */
/** @import {State} from "./state.js" */

const WAITING = "Loading the model …";
const NO_ANSWER = "The server does not answer. Reload the page to try again.";
const HOLD_MS = 80; // a response that arrives sooner is drawn in one frame with the panels around it

/**
 * Draws a view when there is data, and again after every change of state, size, theme or fonts, once a frame. While
 * the next picture is on its way, drawing is held back for `HOLD_MS`: laying out the page twice takes longer than
 * most responses.
 *
 * @template {Base | RunBase} B
 * @param {HTMLElement} root
 * @param {State<B> & {token?: () => number}} view its token in question may be the one under the pointer
 * @param {(theme: Theme) => unknown} draw the view
 * @returns {Mounted<ViewProps>}
 */
export function mountView(root, view, draw) {
  root.classList.add("headscope");
  /** @type {Theme | null} */
  let theme = null;
  /** @type {Uint8Array | null} */
  let colours = null;
  let frame = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let holdTimer;

  function paint() {
    cancelAnimationFrame(frame);
    clearTimeout(holdTimer);
    frame = 0;
    holdTimer = undefined;
    if (!root.isConnected) return;
    if (!view.baseOrNull) return render(html`<${Loading} text=${waitingFor(view)} />`, root);
    if (!theme || colours !== view.overview) {
      colours = view.overview;
      theme = themeOf(root, view.base.theme, colours, view.props.type_size ?? 1);
    }
    root.classList.toggle("hs-busy", view.behind);
    root.dataset.trace = view.trace;
    root.dataset.site = String(view.selection.site);
    root.dataset.head = String(view.selection.head);
    root.dataset.token = String(view.token?.() ?? view.selection.token ?? "");
    render(html`${draw(theme)}<${Working} client=${view.client} />`, root);
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
  view.update(view.props);
  return {
    update(props) {
      view.update(props);
      restyle();
    },
    destroy() {
      cancelAnimationFrame(frame);
      clearTimeout(holdTimer);
      observer.disconnect();
      ended.abort();
      render(null, root);
      view.destroy();
    },
  };
}

/** The placeholder of a view. */
export const Loading = ({ text = WAITING }) => html`<p class="hs-loading" role="status">${text}</p>`;

function waitingFor({ next, client, props }) {
  if (next?.client.state("overview") === "failed") return NO_ANSWER;
  return props.message ?? (client || next ? "Loading …" : WAITING);
}

/** @typedef {{name: string, path: string, done?: number, total?: number}} Request */

const LONG_MS = 1000;
const EVERY_MS = 500;

function Working({ client }) {
  const [request, setRequest] = useState(/** @type {Request | null} */ (null));
  const look = async () => {
    const slow = client.slowest(LONG_MS);
    setRequest((now) => (now?.path === slow?.path ? now : slow));
    const progress = slow && (await client.progress(slow.path));
    if (progress) setRequest((now) => (now?.path === slow.path ? { ...slow, ...progress } : now));
  };
  useEffect(() => {
    const timer = setInterval(look, EVERY_MS);
    return () => clearInterval(timer);
  }, [client]);
  const { name = "", path = "", done, total } = request ?? {};
  const stop = () => {
    client.stop(name);
    void look();
  };
  return html`
    <div class="hs-working" hidden=${!request}>
      <span role="status">${request && "Computing …"}</span>
      <progress key=${path} class="hs-progress" aria-label="Computed so far" ...${total && { max: total, value: done }} />
      <span>${total && `${done} of ${total}`}</span>
      <button type="button" class="hs-button" onClick=${stop}>Stop</button>
    </div>
  `;
}
