// Save: what is on the screen as a figure, as numbers, as a page, as a link and as Python code.

import { FORMS } from "../core/declared.js";
import { offer } from "../core/dom.js";
import { html } from "../core/html.js";
import { pathOf } from "../core/sources.js";
import { Field, Menu } from "../parts/controls.js";
import { useState } from "../vendor/hooks.js";
import { timedBy } from "../../views/sound/times_from.js";
import { figuresOf } from "./figures.js";

const LARGE = 2 ** 25; // bytes of a table that is saved only when asked for twice
const LINE = 110; // bytes of a weight with its names, about
const FILES = [
  ["png", "PNG", "pixels at 300 dpi", "image/png"],
  ["svg", "SVG", "vectors; text stays text", "image/svg+xml"],
  ["pdf", "PDF", "vectors, fonts embedded", "application/pdf"],
  ["csv", "CSV", "a line for each number", "text/csv"],
  ["npz", "NPZ", "arrays for NumPy", "application/octet-stream"],
  ["html", "Web page", "works without a server", "text/html"],
];
const DRAWN = ["png", "svg", "pdf"];
const TIMES = [
  ["json", "JSON", "application/json"],
  ["srt", "SRT", "text/plain"],
];

/** @param {{state: any}} props */
export function Save({ state }) {
  const [name, setName] = useState("");
  const [isBare, setBare] = useState(false);
  const [said, setSaid] = useState("");
  const [code, setCode] = useState("");
  const [announced, setAnnounced] = useState(""); // the large file
  const figures = figuresOf(state);
  const figure = figures.find((each) => each.name === name) ?? figures[0];
  const { form, query } = figure;
  const formats = FILES.filter(([format]) => !figure.isRow || DRAWN.includes(format));

  async function file(format, kind) {
    const what = [form, format, state.trace].join(" ");
    const size = format === "csv" ? sizeOf(state, figure) : 0;
    if (size > LARGE && announced !== what) {
      setAnnounced(what);
      return setSaid(
        `About ${Math.round(size / 1e6)} MB; NPZ holds the same in far less. Choose CSV again to save it.`,
      );
    }
    setAnnounced("");
    setSaid("Making the file …");
    const bare = isBare && DRAWN.includes(format) ? { words: "no" } : {};
    try {
      const bytes = await answerOf(state, pathOf("export", { ...query, ...bare, form, format }));
      offer(
        new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], { type: kind }),
        nameOf(state, figure),
        `.${format}`,
      );
      setSaid("Saved.");
    } catch (error) {
      setSaid(/** @type {Error} */ (error).message || "The file could not be made.");
    }
  }

  async function times(format, kind) {
    try {
      const bytes = await answerOf(state, pathOf("times", { format, ...timedBy(state) }));
      const blob = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], { type: kind });
      offer(blob, `${state.base.model}-words`, `.${format}`);
      setSaid("Saved.");
    } catch (error) {
      setSaid(/** @type {Error} */ (error).message);
    }
  }

  async function python() {
    try {
      const bytes = await answerOf(state, pathOf("python", { ...query, form }));
      await copied(JSON.parse(new TextDecoder().decode(bytes)).code);
    } catch (error) {
      setSaid(/** @type {Error} */ (error).message);
    }
  }

  async function copied(text) {
    setCode(text);
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied.");
    } catch {
      setSaid("Copy it from here."); // without HTTPS the clipboard is closed to pages
    }
  }

  const entry = (label, about, onClick) => html`
    <button type="button" class="hs-lab-entry" onClick=${onClick}><b>${label}</b><small>${about}</small></button>
  `;
  return html`
    <${Field} name="What">
      <${Menu}
        ...${{ name: "What is saved", title: "", labels: figures.map((each) => each.name) }}
        index=${figures.indexOf(figure)}
        onChoose=${(index) => setName(figures[index].name)}
      />
    <//>
    <div class="hs-lab-entries">
      ${formats.map(([format, label, about, kind]) => entry(label, about, () => file(format, kind)))}
      ${state.base.sound && TIMES.map(([format, label, kind]) => entry(label, "times of the words", () => times(format, kind)))}
      ${state.view.props.page && entry("Link", "copies the address", () => copied(isBare ? embedded() : location.href))}
      ${!figure.isRow && entry("Python", "code for the same numbers", python)}
    </div>
    <label class="hs-lab-row">
      <input type="checkbox" checked=${isBare} onChange=${({ currentTarget }) => setBare(currentTarget.checked)} />
      <span>Bare: figures without title and caption, a link without the page around</span>
    </label>
    <p class="hs-doubt" role="status">${said}</p>
    ${code && html`<pre class="hs-code" tabindex="0" aria-label="To copy"><code>${code}</code></pre>`}
  `;
}

function answerOf({ view: { client } }, path) {
  if (!client) throw new Error("There is nothing to save yet.");
  return client.source.get(path, { signal: new AbortController().signal, priority: "high" });
}

/** About how many bytes a table of weights takes; 0 for other forms, which have few numbers. */
function sizeOf({ base: { sites }, selection }, { form, query }) {
  if (!["matrix", "lines", "atlas", "image"].includes(form)) return 0;
  const isWhole = form === "atlas";
  const heads = (/** @type {number} */ count) =>
    isWhole ? count : String(query.shown ?? "0").split(".").length;
  return (isWhole ? sites : [sites[selection.site]]).reduce(
    (sum, each) => sum + LINE * heads(each.heads) * each.queries * each.keys,
    0,
  );
}

function nameOf({ base, selection }, { form, query }) {
  const { head, shown: which = head, method, both } = query;
  const isWhole = FORMS[form].covers !== "heads";
  const parts = isWhole
    ? [(form === "model" || form === "faithfulness") && method]
    : ["layer", base.sites[selection.site].layer, "head", which];
  return [base.model, form, ...parts, both && (both === "edits" ? "before-after" : "both")]
    .filter((part) => part !== undefined && part !== false)
    .join("-")
    .replaceAll(".", "-");
}

/** The same address without the frame round the view. */
function embedded() {
  const url = new URL(location.href);
  url.searchParams.set("embed", "true");
  return url.href;
}
