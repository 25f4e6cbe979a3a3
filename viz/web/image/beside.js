// Another picture or network beside the first: pointing and choosing in one shows in both.

import { draggable, isOn } from "../core/dragging.js";
import { addressOf, callOf } from "../core/edit_text.js";
import { reachedOf, reachWords } from "../core/reachable.js";
import { headsOf } from "./heads.js";
import { pictureOf } from "./grid.js";
import { ImageState } from "./state.js";

/** @import {Host, Panel, Sought, Theme, ViewProps} from "../types" */

/**
 * The panels of the second trace, as long as the props name one.
 *
 * @param {ImageState} first
 * @param {HTMLElement} grid of panels, those of the first trace among them
 * @param {HTMLElement} root
 * @param {Host} host
 * @param {((text: string, second?: string) => void) | null} edit makes an edit
 * @returns {Panel}
 */
export function besideOf(first, grid, root, host, edit) {
  const before = [...grid.children];
  /** @type {ImageState | null} */
  let second = null;
  /** @type {ViewProps | null} */
  let props = null;
  let revision = "";
  /** @type {{measure: () => void, render: (theme: Theme) => void}[]} */
  let panels = [];
  /** @type {HTMLElement[]} what the panels draw in */
  let parts = [];

  /** @param {ViewProps} given */
  function open(given) {
    second = new ImageState(root, given, host, first);
    second.view.subscribe(() => first.changed());
    first.peer = second;
    const one = pictureOf(second, grid);
    const every = headsOf(second, grid);
    panels = [one, every];
    draggable(every.tiles, root, {
      takes: (event) => (source() ? every.headAt(event) : null),
      over: (head, event) => {
        const name = `head ${head} of ${first.siteName()}`;
        return onFirst(event) ? `Patch ${name} from ${first.view.props.second?.title}. ${reachText(head)}` : `${name}: drop it on the first picture`;
      },
      drop: (head, event) => (onFirst(event) ? patchHead(head) : undefined),
      carry: (head) => first.reach(head === null ? null : sought(head)),
    });
    const [picture, heads] = /** @type {HTMLElement[]} */ ([...grid.children].slice(before.length));
    before[0].after(picture);
    grid.append(heads);
    parts = [picture, heads];
    for (const part of parts) part.inert = true; // until there is something to choose
  }

  /** The second picture as the source of patches; null where none can be made from it. */
  const source = () => (edit && first.view.remote && first.view.props.edits && first.view.props.second?.source) || null;

  const onFirst = (event) => before.some((part) => isOn(part, event));

  function patchHead(head) {
    const { sites } = first.base;
    const site = sites[first.selection.site];
    const from = source();
    if (from) edit?.(callOf("Patch", [site.layer, "head", "second"], { head, ...addressOf(sites, site) }), from);
  }

  /**
   * What a patch of a head can reach, in words; "" until it is known.
   *
   * @param {number} head
   */
  function reachText(head) {
    const reached = reachedOf(first.view, sought(head));
    return reached ? reachWords(first.base, reached) : "";
  }

  /** A patch of a head at every token. @param {number | null} head @returns {Sought} */
  const sought = (head) => ({ site: first.selection.site, what: "head", head, token: null });

  first.fromOther = () => {
    const { head } = first.selection;
    const from = source();
    const one = typeof head === "number" ? head : null;
    if (!from) return null;
    return { refusal: "", patch: () => one !== null && patchHead(one), sought: sought(one), source: from };
  };

  function close() {
    second?.destroy();
    second?.view.destroy();
    second = null;
    panels = [];
    grid.replaceChildren(...before);
  }

  /** Opens, changes or closes the second trace after the props have changed. */
  function settle() {
    const { view } = first;
    if (props === view.props) return;
    ({ props } = view);
    grid.classList.toggle("hs-two", Boolean(props.second));
    if (!props.second) return close();
    const given = secondProps(props, props.second);
    if (!second) open(given);
    second?.view.update(given);
  }

  return {
    measure() {
      settle();
      if (!second?.view.baseOrNull) return;
      if (!first.view.start && revision !== first.view.revision) {
        ({ revision } = first.view);
        second.adopt();
      }
      for (const panel of panels) panel.measure();
    },
    render(theme) {
      if (!second?.view.baseOrNull) return;
      for (const panel of panels) panel.render(theme);
      for (const part of parts) part.inert = false;
    },
    destroy: close,
  };
}

/** The props of the second trace: it writes no link and keeps no selection. */
const secondProps = (props, second) => ({
  ...props,
  ...second,
  ...{ page: "", path: [], link: {}, revision: "second", start: null, panels: [], second: null },
});
