// Changes to the pass, made from what is chosen in a view: a switch for the head, and a menu of the
// others. The page makes them, and lists them above the view.

import { button } from "./bar.js";
import { changes } from "./changes.js";
import { addressOf, callOf, headOff } from "./edit_text.js";
import { element, setAttribute, setText } from "./dom.js";
import { siteName } from "./labels.js";
import { reachedOf, reachWords } from "./reachable.js";
import { listenForUndo } from "./undo.js";

/** @import {Base, Head, Host, ImageBase, Other, Sought} from "../types" */
/** @import {Argument} from "./edit_text.js" */
/** @import {State} from "./state.js" */

const KEPT = 8; // messages that the page may not have read yet
const LONGEST = 2000; // characters of a second input

/**
 * What is chosen.
 *
 * @typedef {object} Chosen
 * @property {number} site
 * @property {Head} head
 * @property {number | null} query
 * @property {number | null} key
 */

/**
 * What a view is like for its edits.
 *
 * @typedef {object} Offers
 * @property {() => Chosen} chosen
 * @property {(axis: "query" | "key", place: number) => number[]} tokensOf the tokens of a row or column
 * @property {boolean} patches whether a second input can be typed
 * @property {() => Other | null} [fromOther] an input that is shown beside this one
 * @property {(change: Sought | null) => void} [reach] shades what a change can reach
 */

/**
 * @template {Base | ImageBase} B
 * @param {State<B>} view
 * @param {Host} host
 * @param {Offers} offers
 */
export function editControls(view, host, { chosen, tokensOf, patches, fromOther: offered, reach }) {
  /** @type {{id: string, text: string, second: string}[]} */
  const sent = [];
  /** @type {Sought | null} the change of the button that has the pointer or the focus */
  let pointed = null;
  let keepsSum = true; // of a row of which weights are set

  function ask(text, second = "") {
    list.hidePopover();
    if (text === null) return;
    const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    sent.push({ id, text, second });
    sent.splice(0, sent.length - KEPT);
    host.set("edit", { sent: [...sent] });
  }

  const now = () => {
    const spot = chosen();
    const sites = view.base.sites;
    const site = sites[spot.site];
    return { ...spot, sites, place: site, address: addressOf(sites, site) };
  };

  /** An edit of the chosen layer, and of its chosen head where it has one. */
  function ofLayer(name, more = {}) {
    const { place, address } = now();
    return callOf(name, [place.layer, null], { ...more, ...address });
  }

  function ofHead(name, given = [], more = {}) {
    const { place, address, head } = now();
    if (typeof head !== "number") return null;
    return callOf(name, [place.layer, head, ...given], { ...more, ...address });
  }

  function ofMlp(more = {}) {
    const { place, address } = now();
    /** @type {Record<string, Argument>} */
    const tower = "tower" in address ? { tower: address.tower } : {};
    return callOf("AblateMLP", [place.layer], { ...more, ...tower });
  }

  const off = button("Head off", "", () => {
    const { sites, place, head } = now();
    ask(headOff(sites, place, head));
  });
  const opener = button("Change …", "Change something in the pass: heads, layers, edges, patterns", () => {});
  const list = element("div", "hs-menu hs-edit-menu", {
    ...{ role: "dialog", "aria-label": "Change something in the pass", popover: "auto" },
  });
  opener.setAttribute("aria-haspopup", "dialog");
  opener.popoverTargetElement = list;
  const box = element("div", "hs-switch hs-edits", {}, off, opener, list);

  const said = element("p", "hs-menu-heading hs-edit-said", { role: "status" });

  // ---- the menu

  let refresh = () => {}; // what the open menu offers of the second input

  const item = (name, title, action) => {
    const node = element("button", "hs-menu-item", { type: "button", title }, name);
    node.onclick = action;
    return node;
  };

  const field = (name, attributes) => element("input", "hs-select hs-edit-box", { "aria-label": name, ...attributes });

  const heading = (name) => element("p", "hs-menu-heading", {}, name);

  /** Controls of one edit in a line; Enter in one of them presses the last. */
  function line(...parts) {
    const row = element("div", "hs-edit-line", {}, ...parts);
    row.onkeydown = (event) => {
      if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
      event.preventDefault();
      row.querySelector("button")?.click();
    };
    return row;
  }

  function build() {
    const { site, head, query, key, place } = now();
    const layer = siteName(view.base, site);
    const of = `of ${layer}`;
    const single = typeof head === "number";
    const heads = single
      ? [
          heading(`Head ${head} ${of}`),
          item("Off: its values become zero", "Zero ablation", () => ask(ofHead("Ablate"))),
          item("Its values become their mean", "Mean ablation, over the tokens", () =>
            ask(ofHead("Ablate", [], { how: "mean" })),
          ),
          item("Attends to every token alike", "A uniform pattern", () => ask(ofHead("UsePattern", ["uniform"]))),
          ...(place.kind === "cross"
            ? []
            : [
                item("Attends to the token itself", "The identity as its pattern", () =>
                  ask(ofHead("UsePattern", ["identity"])),
                ),
              ]),
          ...(place.heads > 1 ? [otherHead(head, place.heads)] : []),
        ]
      : [];
    const layers = [
      heading(`All of ${layer}`),
      item("Attention off", "Every head becomes zero", () => ask(ofLayer("Ablate"))),
      item("Attention becomes its mean", "Mean ablation of every head", () => ask(ofLayer("Ablate", { how: "mean" }))),
      item("MLP off", "The MLP of this layer adds nothing", () => ask(ofMlp())),
      item("MLP adds its mean", "Mean ablation, over the tokens", () => ask(ofMlp({ how: "mean" }))),
    ];
    const wide = single ? `of head ${head}` : of;
    list.replaceChildren(
      ...(single ? fromOther() : []),
      ...heads,
      ...layers,
      heading(`Weights ${wide}`),
      temperature(),
      ...edge(query, key, place),
      ...(patches || offered?.() ? [heading("Activations of a second input"), ...patch(query, place)] : []),
    );
  }

  /** What is taken from the input that is shown beside this one, as soon as it is here. */
  function fromOther() {
    const patchIt = item("Patch this head from the other", "", () => {
      list.hidePopover();
      offered?.()?.patch();
    });
    shading(patchIt, () => offered?.()?.sought ?? null);
    const setIt = item("Set this row to the other’s", "", () => {
      list.hidePopover();
      offered?.()?.row?.set();
    });
    refresh = () => {
      const offer = offered?.();
      const row = offer?.row;
      patchIt.title = offer?.refusal || "Its values after attention become those of the second input";
      patchIt.disabled = !offer || Boolean(offer.refusal);
      setIt.title =
        row?.refusal || "The weights of the chosen token become those of the token chosen in the second input";
      setIt.disabled = !row || Boolean(row.refusal);
    };
    refresh();
    const offer = offered?.();
    if (!offer) return [];
    return [heading("The second input"), patchIt, ...(offer.row === undefined ? [] : [setIt])];
  }

  /** Shades what a button’s change can reach while it has the pointer or the focus. */
  function shading(node, sought) {
    node.onpointerenter = node.onfocus = () => point(sought());
    node.onpointerleave = node.onblur = () => point(null);
  }

  function point(change) {
    pointed = change;
    reach?.(change);
    tell();
  }

  /** Says what the change of the button at the pointer can reach. */
  function tell() {
    const reached = pointed && view.remote ? reachedOf(view, pointed) : null;
    setText(said, reached ? reachWords(view.base, reached) : "");
  }

  function otherHead(head, count) {
    const other = field("Another head", { type: "number", min: "0", max: String(count - 1) });
    other.value = String(head ? head - 1 : 1);
    const use = item("Use", "The pattern of that head", () => ask(ofHead("UsePattern", [whole(other)])));
    return line("Attends as head", other, use);
  }

  function temperature() {
    const value = field("Temperature", { type: "number", min: "0.01", max: "100", step: "any" });
    value.value = "0.5";
    const set = item("Set", "Below 1 sharper, above 1 flatter", () => {
      const { place, address, head } = now();
      /** @type {Record<string, Argument>} */
      const one = typeof head === "number" ? { head } : {};
      const number = Number(value.value);
      if (number > 0) ask(callOf("Temperature", [number], { layer: place.layer, ...one, ...address }));
    });
    return line("Temperature", value, set);
  }

  function edge(query, key, { queries, keys }) {
    const from = field("Query", { type: "number", min: "0", max: String(queries - 1) });
    const to = field("Key", { type: "number", min: "0", max: String(keys - 1) });
    from.value = String(query ?? queries - 1);
    to.value = String(key ?? 0);
    const cutButton = item("Cut", "This query cannot attend to this key", () => {
      const { place, address, head } = now();
      const one = typeof head === "number" ? head : null;
      const pair = [tokensOf("query", whole(from)), tokensOf("key", whole(to))];
      ask(callOf("Cut", [place.layer, one, ...pair], address));
    });
    const value = field("Weight of the edge", { type: "number", min: "0", max: "1", step: "any" });
    value.value = "0.5";
    const keep = element("input", "", { type: "checkbox", "aria-label": "The row keeps its sum" });
    keep.checked = keepsSum;
    keep.onchange = () => (keepsSum = keep.checked);
    const setButton = item("Set", "This query gives this key the weight; the others share the rest, if the sum is kept", () =>
      paint({ query: whole(from), key: whole(to) }, Number(value.value)),
    );
    const kept = element("label", "", { title: "A row keeps its sum: its other cells are scaled" }, keep, " keep the sum");
    return [line("Edge", from, "→", to, cutButton), line("Its weight", value, kept, setButton)];
  }

  /** Sets one weight of the chosen head, or of every head. */
  const paint = (cell, weight) => setRow(cell.query, [cell.key], weight);

  /** Sets weights of a row of the chosen head, or of every head. */
  function setRow(query, keys, weight) {
    const { place, address, head } = now();
    const one = typeof head === "number" ? head : null;
    const cells = [tokensOf("query", query), keys.flatMap((key) => tokensOf("key", key))];
    const rounded = (value) => Number(Math.min(1, Math.max(0, value)).toFixed(3));
    const value = Array.isArray(weight) ? weight.map(rounded) : rounded(weight);
    /** @type {Record<string, Argument>} */
    const loose = keepsSum ? {} : { renormalise: false };
    ask(callOf("SetWeights", [place.layer, one, ...cells, value], { ...loose, ...address }));
  }

  function patch(token, { queries }) {
    const text = field("Second input", { type: "text", maxlength: String(LONGEST), placeholder: "another text" });
    text.value = offered?.()?.source ?? "";
    const what = element("select", "hs-select", { "aria-label": "What is patched" });
    const names = /** @type {const} */ ([
      ["head", "values after attention"],
      ["k", "keys"],
      ["v", "values"],
      ["q", "queries"],
      ["hidden", "hidden state"],
    ]);
    what.append(...names.map(([value, label]) => element("option", "", { value }, label)));
    const at = field("Token; all without a number", { type: "number", min: "0", max: String(queries - 1), placeholder: "all" });
    at.value = token === null ? "" : String(token);
    const places = () => (at.value === "" ? null : tokensOf("query", whole(at)));
    const sought = () => {
      const { site, head } = now();
      const kind = /** @type {Sought["what"]} */ (what.value);
      // keys and values may be shared by several heads, and a state is read by all of them
      const one = typeof head === "number" && (kind === "head" || kind === "q") ? head : null;
      return { site, what: kind, head: one, token: places()?.[0] ?? null };
    };
    const patchButton = item("Patch", "Put what the second input gives here in the place of this one’s", () => {
      const { place, address } = now();
      const second = text.value.trim();
      if (!second) return text.focus();
      const { what: kind, head: one } = sought();
      const tokens = places();
      /** @type {Record<string, Argument>} */
      const some = tokens === null ? {} : { token: tokens };
      /** @type {Record<string, Argument>} */
      const tower = "tower" in address ? { tower: address.tower } : {};
      /** @type {Record<string, Argument>} the state that reaches this layer has no kind */
      const more = kind === "hidden" ? tower : { ...(one === null ? {} : { head: one }), ...address };
      ask(callOf("Patch", [place.layer, kind, "second"], { ...some, ...more }), second);
    });
    shading(patchButton, sought);
    return [...(patches ? [text] : []), line(what, "token", at, patchButton), said];
  }

  function placed() {
    const at = opener.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: tall } = list;
    list.style.left = `${Math.max(8, Math.min(at.left, innerWidth - wide - 8))}px`;
    list.style.top = `${Math.max(8, Math.min(at.bottom + 4, innerHeight - tall - 8))}px`;
  }

  list.onbeforetoggle = (event) => {
    if (event.newState !== "open") return;
    build();
  };
  list.ontoggle = (event) => {
    if (event.newState !== "open") return point(null);
    placed();
    list.querySelector("button")?.focus();
  };

  const stale = changes();
  const stop = listenForUndo((action) => {
    if (view.props.edits) ask(action);
  });
  return {
    box,
    ask,
    paint,
    setRow,
    destroy: stop,
    render() {
      if (list.matches(":popover-open")) refresh();
      if (pointed) tell();
      const { edits } = view.props;
      const { head, site } = chosen();
      if (!stale(edits, head, site, view.baseOrNull)) return;
      const { sites, place } = now();
      const text = edits ? headOff(sites, place, head) : null;
      box.hidden = !edits || place.kind === "joint";
      off.disabled = text === null;
      const isOff = text !== null && Boolean(edits?.includes(text));
      const what = typeof head === "number" ? `head ${head} of ${siteName(view.base, site)}` : "one head";
      const name = typeof head === "number" ? `Head ${head}` : "Head";
      setAttribute(off, "aria-pressed", String(isOff));
      setAttribute(off, "aria-label", `${name} ${isOff ? "is off" : "off"}: ${what}`);
      off.title = typeof head === "number" ? `Switch ${what} ${isOff ? "on again" : "off"}` : "Choose one head";
      setText(off, isOff ? `${name} is off` : `${name} off`);
    },
  };
}

/**
 * The numbers of the patches of a rectangle, whichever corner comes first.
 *
 * @param {[number, number]} rows
 * @param {[number, number]} columns
 * @param {number} cols of the picture
 */
export function patchesWithin(rows, columns, cols) {
  const [[top, bottom], [left, right]] = [rows, columns].map((pair) => [...pair].sort((a, b) => a - b));
  const across = Array.from({ length: right - left + 1 }, (_, i) => left + i);
  return Array.from({ length: bottom - top + 1 }, (_, i) => top + i).flatMap((row) => across.map((col) => row * cols + col));
}

const whole = ({ value, min, max }) =>
  Math.min(Math.max(Math.round(Number(value) || 0), Number(min)), Number(max || Infinity));
