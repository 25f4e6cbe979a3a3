// A text on the page: its forms, all heads, and what the chosen word looks at; a second text may stand beside it.

import { html } from "../core/html.js";
import { OverCorpora } from "../core/over_corpora.js";
import { FORMS } from "../core/declared.js";
import { Cache, Continue, Sampling, Written } from "./continuing.js";
import { headlineOf, useFocus } from "./focus.js";
import { formsOf, NextWord } from "./forms.js";
import { keysOf } from "./keys.js";
import { AllNumbers, Form, Late } from "./late.js";
import { mounting } from "./mounting.js";
import { Options } from "./options.js";
import { Explore } from "./page.js";
import { Blocks, Unheard } from "./pair.js";
import { Reading } from "./reading.js";
import { HeadSwitch, headsOff, headSwitch, Ignore, Toggle, Zooming } from "./switches.js";
import { Tour } from "./tour.js";
import { useWorth, WorthSeeing } from "./worth.js";
import { methodOf, RELEVANCE } from "../methods/methods.js";
import { Kinds } from "../parts/kinds.js";
import { useMemo, useState } from "../vendor/hooks.js";
import { Atlas } from "../../views/atlas/view.js";
import { TextState } from "../text/state.js";

const MANY = 40; // tokens that are zoomed into by buttons too

export const mount = mounting(TextState, Page);

function Page({ state, theme, host }) {
  const { view, selection, base } = state;
  const { follows, given, difference, writes } = view.props;
  const { form } = selection;
  const focus = useFocus(state);
  const off = useMemo(() => headsOff(state), [state.trace, view.props.edits]);
  const isWhole = FORMS[form].covers === "layers";
  const [isOver, setOver] = useState(form === "matrix");
  const over = Boolean(base.pictures) && isOver;
  const { isOff } = headSwitch(state);
  const { zoom } = state.panel;
  const worth = useWorth(view);
  const wrote = given && state.site().kind === "causal" && state.site().queries > given;
  const of = isWhole ? ["all layers"] : [state.siteName(), state.headName()];
  const way = isOff && !isWhole ? switchedOff() : over ? OVER : difference ? changeIn(form) : wayOf(state);
  const names = html`${[base.model, ...of].join(" · ")}${way && html` · ${way}`}${base.caveat && ` · ${base.caveat}`}`;
  const forms = base.pictures ? withPictures(formsOf(state), over, setOver) : formsOf(state);
  const lab = [
    {
      value: "numbers",
      label: "Numbers",
      content: html`
        <${Options} state=${state} />
        ${writes && html`<${Sampling} ...${{ state, host }} />`}
        ${wrote && html`<${Cache} ...${{ state, theme, given }} />`}
        <${OverCorpora} state=${state} />
        <${AllNumbers} ...${{ state, theme }} />
      `,
    },
  ];
  return html`<${Explore}
    ...${{ state, theme }}
    parts=${{
      forms,
      switches: html`
        ${zoom && state.site().queries > MANY && html`<${Zooming} zoom=${zoom} />`}
        ${!over && html`<${Ignore} state=${state} />`}
        ${!follows && html`<${HeadSwitch} state=${state} />`}
      `,
      headline: isWhole ? HEADLINES[form] : headlineOf(state, focus),
      names,
      picture: html`<${over ? Pictures : Form} ...${{ state, theme }} />`,
      aside: over ? null : asideOf(state),
      tour: wrote
        ? html`<${Written} ...${{ state, given }} />`
        : view.remote && !follows && html`<${Tour} ...${{ state, rows: worth }} />`,
      reading: html`<${Reading} ...${{ state, focus }} />`,
      heads: html`
        <${WorthSeeing} ...${{ state, rows: worth }} />
        <${Kinds} state=${state} />
        <div class="hs-card-head hs-all-layers">
          <${Toggle}
            text="all layers together"
            title=${FORMS.model.title}
            isOn=${form === "model"}
            onToggle=${() => state.select({ form: form === "model" ? "text" : "model" })}
          />
        </div>
        <${Atlas} ...${{ state, theme, off }} />
      `,
      explain: explaining(state),
      beside:
        writes && !view.props.edits?.some(({ on }) => on)
          ? html`<${Continue} ...${{ state, host }} />`
          : null,
      lab,
      follows: Boolean(follows),
      onKey: (event) => keysOf(event, { state, forms }),
    }}
  />`;
}

/** The forms, before them the pictures that stand beside the text. */
function withPictures(forms, over, setOver) {
  const first = {
    label: "Picture",
    title: FORMS.pictures.title,
    isOn: over,
    choose: () => setOver(true),
  };
  const others = forms.filter(({ label }) => label !== FORMS.lines.label);
  const leave = (choose) => () => {
    setOver(false);
    choose();
  };
  return [
    first,
    ...others.map((each) => ({ ...each, isOn: each.isOn && !over, choose: leave(each.choose) })),
  ];
}

/** Choices above the drawing, where the form or the text has any. */
function asideOf(state) {
  const { query, key } = state.texts();
  const { form } = state.selection;
  if (form === "lens" || form === "parts") return html`<${NextWord} state=${state} />`;
  const isPair = [query, key].some(({ second }) => second !== undefined);
  const isPart = form !== "sound" && state.unheard();
  if (FORMS[form].covers !== "heads" || form === "head" || !(isPair || isPart)) return null;
  return html`<div class="hs-row"><${Blocks} state=${state} /><${Unheard} state=${state} /></div>`;
}

const PICTURES = () => import("../../views/pictures/view.js").then((view) => view.Pictures);
const Pictures = (props) => html`<${Late} load=${PICTURES} ...${props} />`;

/** What the forms of all layers show, in a sentence. */
const HEADLINES = {
  lens: "The likeliest token after each layer.",
  parts: "What each head and MLP adds to the output.",
  model: "Every layer at once.",
};

const switchedOff = () => html`<b>switched off</b>: it still looks, but adds nothing`;

const changeIn = (form) =>
  form === "matrix"
    ? "after minus before the edits: orange is more, blue is less"
    : "after the edits; the matrix shows the difference";

const OVER = "the framed word attends; bright patches are attended to";

/** How a form shows who attends: by a frame and shades, but in these. */
const WAYS = {
  matrix: "rows attend, columns are attended to",
  lines: "left attends, right is attended to",
  sound: "the framed word attends; darker moments are attended to",
  head: "from left to right, what the head computes",
  lens: "layers down, tokens across",
  parts: "",
  model: "",
};

const wayOf = ({ selection: { form } }) =>
  WAYS[form] ?? "the framed word attends; darker words are attended to";

/**
 * Shows what an output rests on: in the present form if that explains outputs, else as parts of its
 * logit, or of a class by the first relevance; null where the model has no outputs with names.
 */
function explaining(state) {
  const { explains } = state.base;
  if (!state.view.remote || (explains !== "tokens" && explains !== "classes")) return null;
  /** @param {string} output */
  return (output) => {
    const { form, method } = state.selection;
    const relevance = methodOf(method).kind === "relevance";
    if (explains === "classes")
      state.select({ output, form: "model", method: relevance ? method : RELEVANCE });
    else if (form === "lens" || (form === "model" && relevance)) state.select({ output });
    else state.select({ output, form: "parts" });
  };
}
