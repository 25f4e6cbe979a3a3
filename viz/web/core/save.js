// The "Save" menu of a view: figures, numbers and a page from the server, the picture as it is on the
// screen, the link, and Python code for the same figure.

import { button } from "./bar.js";
import { FORMS } from "./declared.js";
import { element, offer, setText } from "./dom.js";
import { pathOf } from "./sources.js";

/** @import {Base, ImageBase} from "../types" */
/** @import {State} from "./state.js" */

const MOST = 64; // characters of a parameter
const LARGE = 2 ** 25; // bytes of a table that is saved only when asked for twice
const FORMATS = ["SVG", "PDF", "PNG", "CSV", "NPZ", "HTML"];
const LINE = 110; // bytes of a weight with its names, about
/** @type {Record<string, string>} */
const KINDS = { ".html": "text/html", ".svg": "image/svg+xml", ".pdf": "application/pdf" };

/**
 * A further figure.
 *
 * @typedef {object} Other
 * @property {string} form
 * @property {string} name
 * @property {string} title
 * @property {Record<string, string | number>} [query] parameters beside those of the picture
 * @property {string[]} [formats] in which it can be saved; all without them
 */

/**
 * What a menu offers for a view.
 *
 * @typedef {object} Offers
 * @property {() => string} form of the figure, as the server calls it
 * @property {() => Record<string, string | number>} query parameters of the figure beside its form
 * @property {() => void} picture saves the picture as it is on the screen
 * @property {() => boolean} [isPicture] whether there is one: a canvas
 * @property {() => Other[]} [others] further figures
 * @property {() => Record<string, string | number> | null} [page] parameters of what is beside it on a page
 */

/**
 * A button that opens the menu.
 *
 * @template {Base | ImageBase} B
 * @param {State<B>} view
 * @param {Offers} offers
 */
export function saveMenu(view, { form, query, picture, isPicture = () => true, others = () => [], page = () => null }) {
  const opener = button("Save", "Save or share the picture", () => {});
  const list = element("div", "hs-menu", { role: "menu", "aria-label": "Save", popover: "auto" });
  const state = element("p", "hs-menu-state", { role: "status" });
  const text = element("textarea", "hs-menu-text", { readonly: "", rows: "3", "aria-label": "To copy" });
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-expanded", "false");
  opener.popoverTargetElement = list;
  const box = element("div", "hs-save", {}, opener, list);
  let confirmed = ""; // the large file that was announced

  function item(name, title, action) {
    const node = element("button", "hs-menu-item", { role: "menuitem", type: "button", title }, name);
    node.onclick = action;
    return node;
  }

  const file = (name, title, suffix, as, more) =>
    item(name, title, () => void saved(suffix, as ?? form(), more));

  /**
   * A further figure in every format, in one row.
   *
   * @param {Other} other
   */
  function row({ form: as, name, title, query: more, formats: known = FORMATS }) {
    const formats = known.map((format) => {
      const node = file(format, title, `.${format.toLowerCase()}`, as, more);
      node.setAttribute("aria-label", `${name}, ${format}`);
      return node;
    });
    return element("div", "hs-menu-row", { role: "group", "aria-label": name }, ...formats);
  }

  /** @param {string} name */
  const heading = (name) => element("p", "hs-menu-heading", { role: "presentation" }, name);

  function build() {
    const asDrawn = item("PNG as on the screen", "The picture as it is drawn here", () => {
      picture();
      list.hidePopover();
    });
    const onScreen = isPicture() ? [asDrawn] : [];
    const after = "Files hold the weights after the edits";
    const figures = [
      ...(view.props.difference && form() !== "matrix" ? [heading(after)] : []),
      heading("Figure, light, for print"),
      file("SVG", "Vectors; text stays text", ".svg"),
      file("PDF", "Vectors, fonts embedded", ".pdf"),
      file("PNG, 300 dpi", "Pixels at print size", ".png"),
      file("PDF without words", "Title and caption as metadata alone, for a paper", ".pdf", undefined, {
        words: "no",
      }),
    ];
    const further = others().flatMap((other) => [heading(other.name), row(other)]);
    const numbers = [
      heading("Numbers and page"),
      file("CSV", "One line for each weight", ".csv"),
      file("NPZ", "Arrays with named axes, for NumPy", ".npz"),
      file("HTML page", "This view in one file that needs no server", ".html", undefined, page() ?? {}),
      item("Copy the same in Python", "Code that makes the same figure", () => void python()),
    ];
    const link = [
      heading("Link"),
      item("Copy link", "The address of what is shown", () => void copied(location.href)),
      item("Copy embed link", "The same without bar and controls, for a slide or a notebook", () =>
        void copied(embedded(location.href)),
      ),
    ];
    const { remote, props } = view;
    list.replaceChildren(
      ...(remote ? [...figures, ...onScreen, ...numbers, ...further] : onScreen),
      ...(remote && props.page ? link : []),
      ...[state, text],
    );
    text.hidden = true;
    setText(state, remote || onScreen.length ? "" : "A saved page cannot save this view: open it in the app.");
  }

  function place() {
    const at = opener.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: tall } = list;
    list.style.left = `${Math.max(8, Math.min(at.left, innerWidth - wide - 8))}px`;
    const below = at.bottom + 4;
    list.style.top = `${Math.max(8, Math.min(below, innerHeight - tall - 8))}px`;
  }

  const items = () => [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(".hs-menu-item"))];

  list.onbeforetoggle = (event) => event.newState === "open" && build();
  list.ontoggle = (event) => {
    const opened = event.newState === "open";
    opener.setAttribute("aria-expanded", String(opened));
    if (!opened) return;
    place();
    items()[0]?.focus();
  };
  list.onkeydown = (event) => {
    if (event.key === "Escape") event.stopPropagation(); // closes the menu, and nothing else
    const all = items();
    const root = /** @type {ShadowRoot | Document} */ (list.getRootNode());
    const now = all.findIndex((each) => each === root.activeElement);
    /** @type {Record<string, number>} */
    const places = { ArrowDown: now + 1, ArrowUp: now - 1 + all.length, Home: 0, End: all.length - 1 };
    if (!(event.key in places)) return;
    event.preventDefault();
    event.stopPropagation();
    all[places[event.key] % all.length].focus();
  };

  function say(what) {
    setText(state, what);
    state.scrollIntoView({ block: "nearest" });
  }

  function answer(path) {
    if (!view.client) throw new Error("There is nothing to save yet.");
    const { signal } = new AbortController();
    return view.client.source.get(path, { signal, priority: "high" });
  }

  async function saved(suffix, as, more) {
    const what = [suffix, as, view.trace].join(" ");
    const size = suffix === ".csv" ? sizeOf(as, more) : 0;
    if (size > LARGE && confirmed !== what) {
      confirmed = what;
      return say(`About ${Math.round(size / 1e6)} MB; NPZ holds the same in far less. Choose CSV again to save it.`);
    }
    confirmed = "";
    say("Making the file …");
    try {
      const bytes = await answer(pathOf("export", { ...query(), ...more, form: as, format: suffix.slice(1) }));
      const kind = KINDS[suffix] ?? "application/octet-stream";
      const content = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], { type: kind });
      offer(content, fileName(as, more), suffix);
      say("Saved.");
    } catch (error) {
      say(/** @type {Error} */ (error).message || "The file could not be made.");
    }
  }

  /** About how many bytes a table of weights takes; 0 for other forms, which have few numbers. */
  function sizeOf(as, more) {
    if (!["matrix", "lines", "atlas", "image"].includes(as)) return 0;
    const { sites } = view.base;
    const { shown: several = "" } = /** @type {{shown?: string}} */ ({ ...query(), ...more });
    const chosen = as === "atlas" ? sites : [sites[view.selection.site]];
    const heads = (/** @type {number} */ count) => (as === "atlas" ? count : several ? several.split(".").length : 1);
    return chosen.reduce((sum, each) => sum + LINE * heads(each.heads) * each.queries * each.keys, 0);
  }

  function fileName(as, more) {
    const { site } = view.selection;
    const { head, shown: which = head, layers = view.base.sites[site].layer, method, both } = { ...query(), ...more };
    const whole = FORMS[/** @type {keyof typeof FORMS} */ (as)].covers !== "heads";
    const methods = as === "model" || as === "faithfulness" ? [method] : [];
    const parts = whole ? methods : ["layer", layers, "head", which];
    const several = both === "edits" ? ["before", "after"] : both ? ["both"] : [];
    return [view.base.model, as, ...parts, ...several].join("-").replaceAll(".", "-");
  }

  async function python() {
    try {
      const bytes = await answer(pathOf("python", { ...query(), form: form() }));
      await copied(JSON.parse(new TextDecoder().decode(bytes)).code);
    } catch (error) {
      say(/** @type {Error} */ (error).message);
    }
  }

  async function copied(what) {
    try {
      await navigator.clipboard.writeText(what);
      say("Copied.");
    } catch {
      text.value = what; // without HTTPS the clipboard is closed to pages: copied by hand
      text.hidden = false;
      text.select();
      say("Press Ctrl+C to copy.");
    }
  }

  return box;
}

/**
 * All heads of the layer in one figure; nothing where there are too many for one request.
 *
 * @param {string} form
 * @param {number} count of the heads
 * @returns {Other[]}
 */
export function allHeads(form, count) {
  const every = [...Array(count).keys()].join(".");
  const title = "Every head of the chosen layer in one figure";
  return count > 1 && every.length <= MOST ? [{ form, name: "All heads of this layer", title, query: { shown: every } }] : [];
}

/** The same address without the frame round the view. */
function embedded(href) {
  const url = new URL(href);
  url.searchParams.set("embed", "true");
  return url.href;
}
