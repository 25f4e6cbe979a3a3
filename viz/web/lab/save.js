// Save: what is on the screen as a figure, as numbers, as a page, as a link and as Python code.

import { timedBy } from "../../views/sound/times_from.js";
import { FORMS } from "../core/declared.js";
import { offer } from "../core/dom.js";
import { html } from "../core/html.js";
import { jsonOf, pathOf } from "../core/sources.js";
import { chosenOf, ON_PICTURES } from "../core/selection.js";
import { canTest, choiceOf } from "../methods/choices.js";
import { Field, Menu } from "../parts/controls.js";
import { besideOf } from "../text/second.js";
import { useState } from "../vendor/hooks.js";

const MOST = 64; // characters of a parameter

/** The figure on the screen, and what else can be drawn of it. */
function figuresOf(state) {
  const first = state.base.patches ? ofPicture(state) : ofText(state);
  const { form, query } = first;
  const { edited, other } = state.props;
  const { site, head } = state.selection;
  const every = [...Array(state.base.sites[site].heads).keys()].join(".");
  const isPlain = form === "matrix" || form === "image";
  const named = (/** @type {string} */ as) => ({ form: as, name: FORMS[as].label, query });
  const inRow = (name, more) => ({ form, name, query: { ...query, ...more }, isRow: true });
  const text = other && { second: other.trace, second_site: site, second_head: head };
  const heads = { form, name: "All heads of this layer", query: { ...query, shown: every } };
  const { asked, captions } = state.base;
  return [
    first,
    ...(asked || captions ? [ofPictures(state)] : []),
    ...(!state.base.patches && canTest(state) ? [named("faithfulness")] : []),
    ...(form === "parts" && state.base.explains !== "similarity" ? [named("blame")] : []),
    ...((isPlain || form === "lines") && every.includes(".") && every.length <= MOST ? [heads] : []),
    ...(isPlain && edited ? [inRow("Before, after, difference", { both: "edits" })] : []),
    ...(isPlain && "second" in query ? [inRow("Both beside each other", { both: "second" })] : []),
    ...(isPlain && text ? [inRow("Both texts", { ...text, both: "second" })] : []),
    ...(!state.base.patches ? ["atlas", "numbers"].map(named) : []),
  ];
}

function ofText(state) {
  const { site, head, scale, token, direction, form, timing } = state.selection;
  const heads = state.selection.shown;
  const { asked, captions } = state.base;
  const isDrawn = ["matrix", "lines", "text", "sound"].includes(form);
  const query = {
    ...{ site, head, scale },
    ...((form === "lines" || form === "text") && heads ? { shown: heads } : {}),
    ...(form === "sound" && timing ? { timing } : {}),
    ...(token !== null && (isDrawn || asked) ? { token, direction } : {}),
    ...(asked || captions ? chosenOf(state.selection, ON_PICTURES) : {}),
    ...filtersOf(state),
    ...state.panel.figure?.(),
    ...besideOf(state),
  };
  return { form, name: FORMS[form].label, query };
}

/** Which of the numbers are drawn. */
function filtersOf(state) {
  const { form, values, sinks, block } = state.selection;
  if (!["matrix", "lines", "text"].includes(form)) return {};
  const ranges = state.ranges();
  const isPart = block !== "all" || state.unheard();
  return {
    ...(form === "matrix" ? { values: state.props.difference ? "difference" : values, sinks } : {}),
    ...(isPart ? { rows: ranges.rows.join("-"), columns: ranges.cols.join("-") } : {}),
  };
}

function ofPictures(state) {
  const { site, head, token, sinks, captions } = state.selection;
  const query = {
    ...{ site, head },
    ...(token === null && captions ? {} : { token: token ?? 0 }),
    ...(sinks === "shown" ? {} : { sinks }),
    ...chosenOf(state.selection, ON_PICTURES),
  };
  return { form: "pictures", name: FORMS.pictures.label, query };
}

function ofPicture(state) {
  const { site, head, scale, direction, sinks, outliers, token, followed, form } = state.selection;
  const from = followed === "token" ? { followed, query: token ?? 0 } : {};
  const hidden = sinks === "shown" ? {} : { sinks, outliers };
  const query = {
    image: { scale, direction, token: token ?? 0, ...hidden, ...besideOf(state) },
    model: { ...choiceOf(state), ...from },
    features: { token: state.compared },
  }[form];
  return { form, name: FORMS[form].label, query: { site, head, ...(query ?? state.panel.figure?.()) } };
}

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
  const figures = figuresOf(state);
  const figure = figures.find((each) => each.name === name) ?? figures[0];
  const { form, query } = figure;
  const formats = FILES.filter(([format]) => !figure.isRow || DRAWN.includes(format));

  /** Asks the server, and says what became of it. */
  async function ask(path, /** @type {(bytes: any) => unknown} */ take) {
    setSaid("Making it …");
    try {
      const { client } = state;
      if (!client) throw new Error("There is nothing to save yet.");
      const how = { signal: new AbortController().signal, priority: "high" };
      setSaid(/** @type {string | undefined} */ (await take(await client.source.get(path, how))) ?? "Saved.");
    } catch (error) {
      setSaid(/** @type {Error} */ (error).message || "It could not be made.");
    }
  }

  function file(format, kind) {
    const bare = isBare && DRAWN.includes(format) ? { words: "no" } : {};
    return ask(pathOf("export", { ...query, ...bare, form, format }), (bytes) =>
      offer(new Blob([bytes], { type: kind }), nameOf(state, figure), `.${format}`),
    );
  }

  const times = (format, kind) =>
    ask(pathOf("times", { format, ...timedBy(state) }), (bytes) =>
      offer(new Blob([bytes], { type: kind }), `${state.base.model}-words`, `.${format}`),
    );

  const python = () => ask(pathOf("python", { ...query, form }), (bytes) => copied(jsonOf(bytes).code));

  async function copied(text) {
    setCode(text);
    try {
      await navigator.clipboard.writeText(text);
      return "Copied.";
    } catch {
      return "Copy it from here."; // without HTTPS the clipboard is closed to pages
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
      ${state.props.page && entry("Link", "copies the address", () => copied(isBare ? embedded() : location.href).then(setSaid))}
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
