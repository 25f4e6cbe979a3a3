// A second text beside the first: its heads of the chosen layer and the chosen head's matrix. A head,
// a cell or a row is taken from it into the first text's pass, by a drag, a button or the menu; what a
// change there can reach is shaded in the first picture.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, quoted, setAttribute, setText } from "../core/dom.js";
import { draggable, isOn } from "../core/dragging.js";
import { addressOf, callOf } from "../core/edit_text.js";
import { legible } from "../core/labels.js";
import { panelOf } from "../core/view_panel.js";
import { Matrix } from "../../views/matrix/view.js";
import { TextState } from "./state.js";
import { thumbnail } from "./thumbnail.js";

/** @import {Cell, FormPanel, Host, Panel, ViewProps} from "../types" */
/** @import {Argument} from "../core/edit_text.js" */

const LONGEST = 2000; // characters of a second text
const THUMB = 30; // CSS pixels
const MOST_KEYS = 128; // of a row that is written into a link
const SENTENCE = "Drag heads or cells onto the first picture; with Shift, rows.";

/** @typedef {{head: number} | {cell: Cell}} Carried */

/**
 * A button with a field for the second text.
 *
 * @param {TextState} state
 */
export function compareMenu(state) {
  const field = element("textarea", "hs-select hs-menu-text", {
    ...{ rows: "2", maxlength: String(LONGEST), "aria-label": "Second text", placeholder: "another text; of a mean also several, a line each" },
  });
  const set = (/** @type {string} */ text) => {
    list.hidePopover();
    state.edit?.("", text);
  };
  const show = element("button", "hs-menu-item", { type: "button" }, "Show beside");
  show.onclick = () => set(field.value.trim());
  const remove = element("button", "hs-menu-item", { type: "button" }, "Remove");
  remove.onclick = () => set("");
  field.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    show.click();
  };
  const list = element("div", "hs-menu hs-edit-menu", { role: "dialog", "aria-label": "Compare with a second text", popover: "auto" });
  list.append(element("p", "hs-menu-heading", {}, "A second text, through the same model"), field, show, remove);
  const opener = button("Compare …", "Show a second text beside this one, and patch from it", () => {});
  opener.setAttribute("aria-haspopup", "dialog");
  opener.popoverTargetElement = list;
  list.ontoggle = (event) => {
    if (event.newState !== "open") return;
    field.value = state.view.props.other?.title ?? "";
    const { left, bottom } = opener.getBoundingClientRect();
    list.style.left = `${Math.max(8, Math.min(left, innerWidth - list.offsetWidth - 8))}px`;
    list.style.top = `${Math.min(bottom + 4, innerHeight - list.offsetHeight - 8)}px`;
    field.focus();
  };
  return {
    box: element("div", "hs-aid", {}, opener, list),
    render() {
      const { view } = state;
      opener.hidden = !view.remote || !view.props.compares || !state.edit;
      remove.hidden = !view.props.other;
    },
  };
}

/**
 * The panel of the second text, as long as the props name one.
 *
 * @param {TextState} first
 * @param {HTMLElement} parent of the first one's matrix
 * @param {HTMLElement} root
 * @param {Host} host
 * @returns {Panel}
 */
export function secondText(first, parent, root, host) {
  const heading = element("h3", "hs-heading");
  const sentence = element("p", "hs-sentence", {}, SENTENCE);
  const heads = element("div", "hs-second-heads", { role: "group", "aria-label": "Heads of the second text" });
  const patch = button("Patch this head", "In the first text the chosen head’s values after attention become those of this one", () => patchHead());
  const row = button("Set this row", "The chosen token’s weights become those of the second text", () => {
    const at = tokens();
    if (at) setRow(at.there, at.here);
  });
  for (const each of [patch, row]) each.removeAttribute("aria-label");
  const said = element("p", "hs-read", { role: "status" });
  const box = element("div");
  const section = element("section", "hs-section hs-second-text", { "aria-label": "Second text" });
  section.append(heading, sentence, heads, element("div", "hs-row", {}, patch, row, said), box);
  /** @type {TextState | null} */
  let second = null;
  /** @type {FormPanel | null} */
  let panel = null;
  /** @type {ViewProps | null} */
  let props = null;
  const followed = changes();
  const drawn = changes();
  const listed = changes();

  // ---- what is taken from it

  /** Why no values of all tokens can be patched; "" where they can. */
  function refusal() {
    const { site } = first.selection;
    if (first.view.props.other?.mean) return "A mean of prompts has weights alone: its rows and cells can be taken.";
    const [mine, theirs] = [first, second].map((state) => state?.site(site).queries ?? 0);
    if (mine === theirs || tokens()) return "";
    return `The texts have ${mine} and ${theirs} tokens: choose a token in each, whose values are patched.`;
  }

  /** The chosen tokens of both texts; null where one of them has none. */
  function tokens() {
    const [here, there] = [first, second].map((state) => (state && state.selection.direction !== "in" ? state.selection.token : null));
    return here === null || there === null ? null : { here, there };
  }

  const tokensOf = (axis, state, place) => state.texts()[axis].origins?.[place] ?? [place];

  function patchHead(head) {
    const { site, head: chosen } = first.selection;
    const { sites } = first.base;
    const one = head ?? (typeof chosen === "number" ? chosen : null);
    const at = tokens();
    const all = first.site(site).queries === second?.site(site).queries;
    if (!second || refusal()) return;
    /** @type {Record<string, Argument>} */
    const some = all || !at ? {} : { token: tokensOf("query", first, at.here).slice(0, 1), source_token: tokensOf("query", second, at.there).slice(0, 1) };
    /** @type {Record<string, Argument>} */
    const of = one === null ? {} : { head: one };
    const text = callOf("Patch", [sites[site].layer, "head", "second"], { ...some, ...of, ...addressOf(sites, sites[site]) });
    first.edit?.(text, first.view.props.other?.title);
  }

  function setCell(from, to) {
    const weight = second?.weight(from.query, from.key);
    if (weight && to.key <= first.lastKey(to.query)) first.setRow?.(to.query, [to.key], weight.value);
  }

  function setRow(from, to) {
    const weights = second?.exactRow("query", from)?.weights;
    const count = first.lastKey(to) + 1;
    if (!weights || rowRefusal(from, to)) return;
    first.setRow?.(to, Array.from({ length: count }, (_, i) => i), [...weights.slice(0, count)]);
  }

  function rowRefusal(from, to) {
    const [mine, theirs] = [first.lastKey(to), second?.lastKey(from) ?? -1];
    if (mine !== theirs) return `The rows have ${mine + 1} and ${theirs + 1} keys`;
    if (mine >= MOST_KEYS) return `A row of more than ${MOST_KEYS} keys cannot be set`;
    return first.hasScores() ? "" : "Weights of words are made of several: show tokens";
  }

  // ---- dragging

  const onFirst = (event) => [first.matrixBox, first.atlasBox].some((node) => node && isOn(node, event));

  function over(carried, event) {
    if ("head" in carried) {
      const name = `head ${carried.head} of ${first.siteName()}`;
      if (refusal()) return refusal();
      return onFirst(event) ? `Patch ${name} from the second text` : `${name}: drop it on the first picture`;
    }
    const to = first.cellUnder?.(event);
    const { cell } = carried;
    const weight = second?.weight(cell.query, cell.key)?.value.toFixed(3) ?? "…";
    if (!to) return `Weight ${weight}: drop it on a cell of the first matrix`;
    const { query, key } = first.labels();
    if (event.shiftKey) return rowRefusal(cell.query, to.query) || `The row of “${legible(query[to.query]).trim()}” from the second text`;
    if (to.key > first.lastKey(to.query)) return "This query cannot attend to this key";
    return `“${legible(query[to.query]).trim()}” → “${legible(key[to.key]).trim()}” becomes ${weight}`;
  }

  function drop(carried, event) {
    if ("head" in carried) return onFirst(event) ? patchHead(carried.head) : undefined;
    const to = first.cellUnder?.(event);
    if (!to) return;
    if (event.shiftKey) setRow(carried.cell.query, to.query);
    else setCell(carried.cell, to);
  }

  function carry(carried) {
    const { site, head } = first.selection;
    const one = typeof head === "number" ? head : null;
    if (!carried) first.reach(null);
    else if ("head" in carried) first.reach({ site, what: "head", head: carried.head, token: pinned() });
    else first.reach({ site, what: "weights", head: one, token: null });
  }

  /** The token that is patched, where the texts have other numbers of tokens. */
  function pinned() {
    const { site } = first.selection;
    const at = tokens();
    return at && first.site(site).queries !== second?.site(site).queries ? tokensOf("query", first, at.here)[0] : null;
  }

  draggable(heads, root, {
    /** @returns {Carried | null} */
    takes(event) {
      const node = /** @type {Element} */ (event.target).closest("[data-head]");
      return node instanceof HTMLElement && first.canEdit() ? { head: Number(node.dataset.head) } : null;
    },
    ...{ over, drop, carry },
  });
  heads.onclick = (event) => {
    const node = /** @type {Element} */ (event.target).closest("[data-head]");
    if (node instanceof HTMLElement) first.select({ head: Number(node.dataset.head) });
  };
  for (const [node, what] of /** @type {const} */ ([[patch, "head"], [row, "weights"]])) {
    const shade = () => {
      const { site, head } = first.selection;
      const at = tokens();
      const token = what === "head" ? pinned() : at && tokensOf("query", first, at.here)[0];
      first.reach({ site, what, head: typeof head === "number" ? head : null, token });
    };
    node.onpointerenter = node.onfocus = shade;
    node.onpointerleave = node.onblur = () => first.reach(null);
  }

  // ---- beside the first

  function open(given) {
    second = new TextState(root, given, host);
    second.view.selection = { ...first.selection, form: "matrix", token: null };
    second.view.subscribe(() => first.changed());
    panel = panelOf("matrix", Matrix)(second, box);
    parent.querySelector(":scope > .hs-matrix")?.after(section);
  }

  function carryFrom(overlay) {
    draggable(overlay, root, {
      /** @returns {Carried | null} */
      takes(event) {
        const cell = panel?.zoom?.isZoomed() || !first.canPaint() ? null : second?.cellUnder?.(event);
        return cell ? { cell } : null;
      },
      ...{ over, drop, carry },
    });
  }

  function close() {
    panel?.destroy?.();
    second?.destroy();
    second?.view.destroy();
    second = panel = null;
    first.reach(null);
    box.replaceChildren();
    section.remove();
  }

  /** Opens, changes or closes the second text after the props have changed. */
  function settle() {
    const { view } = first;
    if (props === view.props) return;
    ({ props } = view);
    const other = view.remote ? props.other : null;
    if (!other) return second ? close() : undefined;
    const given = propsOf(props, other);
    if (!second) open(given);
    second?.view.update(given);
  }

  /** Chooses the layer, head and scale of the first. */
  function follow() {
    const { site, head, scale, sinks, values, direction } = first.selection;
    if (second?.view.baseOrNull && followed(second.base, site, head, scale, sinks, values, direction))
      second.select({ site, head, scale, sinks, values, direction, form: "matrix" });
  }

  function list(theme) {
    if (!second) return;
    const { site, head } = first.selection;
    const { heads: count } = second.site(site);
    if (!listed(theme, second.base, site, head, second.maps.thumbs.size, second.selection.scale)) return;
    const state = second;
    heads.replaceChildren(
      ...Array.from({ length: count }, (_, i) => {
        const picture = thumbnail(state, { site, head: i }, THUMB, theme) ?? element("span", "hs-second-empty");
        const node = element("button", "hs-second-head", { type: "button", "aria-pressed": String(i === head), title: `Head ${i}: drag it onto the first picture` }, picture, String(i));
        node.dataset.head = String(i);
        node.setAttribute("aria-label", `Head ${i} of the second text`);
        return node;
      }),
    );
  }

  first.fromOther = () => {
    const { site, head } = first.selection;
    if (!second?.view.baseOrNull || !first.canEdit()) return null;
    const one = typeof head === "number" ? head : null;
    const sought = /** @type {const} */ ({ site, what: "head", head: one, token: pinned() });
    const { title = "", mean = false } = first.view.props.other ?? {};
    return { refusal: refusal(), patch: () => patchHead(), sought, source: mean ? "" : title };
  };

  return {
    measure() {
      settle();
      follow();
      const beside = Boolean(second) && first.selection.form === "matrix";
      parent.classList.toggle("hs-two", beside);
      parent.closest(".hs-grid")?.classList.toggle("hs-text-grid", beside);
      if (second?.view.baseOrNull) panel?.measure?.();
    },
    render(theme) {
      section.hidden = !second?.view.baseOrNull || first.site().kind === "joint";
      if (section.hidden || !second) return;
      const why = refusal();
      setText(heading, "Second text: ", ...quoted(brief(first.view.props.other?.title ?? "")));
      list(theme);
      const { head } = first.selection;
      const at = tokens();
      patch.disabled = Boolean(why) || !first.canEdit() || typeof head !== "number";
      const rowWhy = at ? rowRefusal(at.there, at.here) : "Choose a token in both";
      row.disabled = Boolean(rowWhy) || !first.canPaint() || !second.exactRow("query", at?.there ?? 0);
      setAttribute(row, "title", rowWhy || "The chosen token’s weights become those of the second text");
      setText(said, why);
      panel?.render(theme);
      const overlay = second.matrixBox;
      if (overlay && drawn(overlay)) carryFrom(overlay);
    },
    destroy: close,
  };
}

function brief(text) {
  const letters = Array.from(text.trim());
  return letters.length > 60 ? `${letters.slice(0, 59).join("")}…` : text.trim();
}

/** The props of the second text: it writes no link, keeps no selection, and edits nothing itself. */
const propsOf = (props, other) => ({
  ...props,
  ...other,
  ...{ page: "", path: [], link: {}, revision: "second", start: null, panels: [], other: null },
  ...{ edits: undefined, difference: false, writes: false, given: null },
});
