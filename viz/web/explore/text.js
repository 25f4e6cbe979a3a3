// A text on the page: its forms, all heads, and what the chosen word looks at; a second text may stand beside it.

import { html } from "../core/html.js";
import { FORMS } from "../core/declared.js";
import { Cache, Continue, Sampling, Written } from "./continuing.js";
import { headlineOf, Reading, useFocus } from "./reading.js";
import { Blocks, formsOf, NextWord, Options, Unheard } from "./forms.js";
import { Explore, Form, HEADLINES, Late, mounting, switchedOff } from "./page.js";
import { headSwitch, Ignore, Toggle, Zooming } from "./switches.js";
import { Kinds } from "../parts/controls.js";
import { useState } from "../vendor/hooks.js";
import { Atlas } from "../../views/atlas/view.js";
import { TextState } from "../text/state.js";

const MANY = 40; // tokens that are zoomed into by buttons too

export const mount = mounting(TextState, Page);

function Page({ state, theme, host }) {
  const { selection, base } = state;
  const { given, difference, writes } = state.props;
  const { form } = selection;
  const focus = useFocus(state);
  const isWhole = FORMS[form].covers === "layers";
  const [isOver, setOver] = useState(form === "matrix");
  const over = Boolean(base.pictures) && isOver;
  const { isOff } = headSwitch(state);
  const { zoom } = state.panel;
  const wrote = given && state.site().kind === "causal" && state.site().queries > given;
  const of = isWhole ? ["all layers"] : [state.siteName(), state.headName()];
  const way = isOff && !isWhole ? switchedOff() : over ? OVER : difference ? changeIn(form) : wayOf(state);
  const names = html`${[base.model, ...of].join(" · ")}${way && html` · ${way}`}${base.caveat && ` · ${base.caveat}`}`;
  const forms = base.pictures ? withPictures(formsOf(state), over, setOver) : formsOf(state);
  return html`<${Explore}
    ...${{ state, theme }}
    parts=${{
      forms,
      switches: html`
        ${zoom && state.site().queries > MANY && html`<${Zooming} zoom=${zoom} />`}
        ${!over && html`<${Ignore} state=${state} />`}
      `,
      headline: isWhole ? HEADLINES[form] : headlineOf(state, focus),
      names,
      picture: html`<${over ? Pictures : Form} ...${{ state, theme }} />`,
      aside: over ? null : asideOf(state),
      tour: wrote && html`<${Written} ...${{ state, given }} />`,
      reading: html`<${Reading} ...${{ state, focus }} />`,
      heads: (off) => html`
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
      beside:
        writes && !state.props.edits?.some(({ on }) => on)
          ? html`<${Continue} ...${{ state, host }} />`
          : null,
      numbers: html`
        <${Options} state=${state} />
        ${writes && html`<${Sampling} ...${{ state, host }} />`}
        ${wrote && html`<${Cache} ...${{ state, theme, given }} />`}
      `,
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
