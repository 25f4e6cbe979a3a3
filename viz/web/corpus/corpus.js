// What the heads of a model do over a corpus: all of them, what finds some, and one of them.

import { Numbers } from "../../views/numbers/view.js";
import { HeadNumbers } from "../core/head_numbers.js";
import { html } from "../core/html.js";
import { capital } from "../core/labels.js";
import { mountView } from "../core/mounting.js";
import { State } from "../core/state.js";
import { Button, Kinds } from "../parts/controls.js";
import { Maps } from "../text/maps.js";
import { useRef } from "../vendor/hooks.js";
import { HeadPage } from "./head_page.js";
import { ByToken, Changes, counted } from "./lists.js";

/** @import {Host, RunBase, ViewProps} from "../types" */

/** @extends {State<RunBase>} */
export class CorpusState extends State {
  slot = "head";
  maps = new Maps({ sites: [] });

  /** The chosen head: a link may name a mean, which a corpus has not. */
  get head() {
    const { head } = this.selection;
    return typeof head === "number" ? head : 0;
  }

  /** @param {string} key */
  twinOf = (key) => `${key} in B`;

  opened(message, base) {
    this.maps = new Maps(base);
    this.maps.take(message);
    this.numbers = new HeadNumbers(base.numbers, base.sites);
  }
}

/**
 * @param {HTMLElement} root
 * @param {ViewProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  const state = new CorpusState(root, props, host);
  return mountView(root, state, (theme) => html`<${Corpus} ...${{ state, theme }} />`);
}

function Corpus({ state, theme }) {
  const goal = useRef(/** @type {HTMLElement | null} */ (null));
  const { run } = state.base;
  const name = `${capital(state.siteName())} · ${state.headName(state.head)}`;
  return html`
    <p class="hs-sentence">${aboutOf(state.base)}</p>
    <div class="hs-bar" role="toolbar" aria-label="Which heads">
      <${Kinds} state=${state} />
    </div>
    <div class="hs-corpus">
      <div class="hs-corpus-heads">
        <section class="hs-section">
          <h3 class="hs-heading">Every head</h3>
          <${Numbers} state=${state} />
        </section>
        ${run.against?.comparable && html`<${Changes} state=${state} />`}
        ${!run.pictures && state.props.kind !== "site" && html`<${ByToken} state=${state} />`}
        <${Button}
          class="hs-button hs-corpus-way"
          title="Go down to this head"
          aria-label=${`${name}: go down to this head`}
          onClick=${() => goal.current?.scrollIntoView({ block: "start" })}
        >
          ${name} ↓
        <//>
      </div>
      <section class="hs-section hs-corpus-head" ref=${goal}><${HeadPage} ...${{ state, theme, name }} /></section>
    </div>
  `;
}

/** What was read, and what the second run is. */
function aboutOf(/** @type {RunBase} */ { model, run, sites }) {
  const { against, pictures, texts, tokens, complete } = run;
  const heads = sites.reduce((sum, site) => sum + site.heads, 0);
  const size = `${counted(texts)} ${pictures ? "pictures" : "texts"}${tokens ? `, ${counted(tokens)} tokens` : ""}`;
  const named = ({ corpora }, /** @type {(text: string) => string} */ how) => {
    const names = corpora.filter(Boolean).join("; ");
    return names ? how(names) : "";
  };
  const first = `${counted(heads)} heads of ${model} over ${size}${named(run, (names) => `: ${names}`)}.`;
  const partial = complete ? "" : " The run was stopped before its end.";
  if (!against) return first + partial;
  const other = `${against.model} over ${counted(against.texts)} inputs${named(against, (names) => ` (${names})`)}`;
  const apart = against.comparable
    ? ""
    : ": its heads are others, so each head shows those of B most like it";
  return `${first}${partial} B is ${other}${apart}.`;
}
