// Experiment: the eight edits, of which one is unfolded; what is changed now, and what that changed.

import { html } from "../core/html.js";
import { legible, siteName } from "../core/labels.js";
import { Button, Field, Menu, Switch } from "../parts/controls.js";
import { useMemo, useState } from "../vendor/hooks.js";
import { chosenIn, editAt, few, isMade, tokensOf } from "../core/edits.js";

/** @import {Edit} from "../core/edits.js" */

/** @typedef {{state: any, ask: (asked: import("../core/edits.js").Asked) => void, spot: ReturnType<typeof chosenIn>}} Props */

const LONGEST = 2000; // characters of a second text
const INSTEAD = [
  ["zero", "nothing"],
  ["mean", "its average"],
  ["shuffled", "shuffled"],
  ["noise", "noise"],
];
const PATTERNS = [
  ["uniform", "even"],
  ["identity", "itself"],
  ["shift", "one back"],
];
const PATCHED = [
  ["head", "what the head adds"],
  ["k", "keys"],
  ["v", "values"],
  ["q", "queries"],
  ["hidden", "the layer’s input"],
];
const PASSES = [
  { value: "before", label: "Before", title: "The pass without the edits" },
  { value: "after", label: "After", title: "The pass with the edits" },
  { value: "difference", label: "Difference", title: "What each weight gained or lost" },
];
const SHARPNESS = [
  ["0.5", "sharper"],
  ["2", "flatter"],
];
const DOUBT = "Nothing is a value that the model never saw; the average is gentler.";

const EDITS = [
  { name: "Switch a head off", Body: Off },
  { name: "Switch off a feed-forward layer", Body: FeedForward },
  { name: "Cut a link", hint: linkOf, Body: Cut },
  { name: "Set a weight", hint: linkOf, Body: Weight },
  { name: "Sharper or flatter", hint: () => "temperature", Body: Temperature },
  { name: "Use another pattern", hint: () => "even, itself, one back", Body: Pattern },
  { name: "Patch from another text", Body: Patch },
  { name: "Cover a word", hint: () => "hide it from everyone", Body: Cover },
];

/** @param {Pick<Props, "state" | "ask">} props */
export function Experiment({ state, ask }) {
  const [opened, setOpened] = useState(0);
  const [isWide, setWide] = useState(false);
  const chosen = chosenIn(state);
  const { site, head } = chosen;
  if (state.base.sites[site].kind === "joint")
    return html`<p class="hs-doubt">All kinds of attention stand in one map here. Choose one of them to change it.</p>`;
  const spot = { ...chosen, head: isWide ? null : head };
  const where = siteName(state.base, site);
  const scopes = [
    { value: false, label: `head ${head}`, title: `The edits change head ${head} of ${where}` },
    { value: true, label: "every head", title: `The edits change every head of ${where}` },
  ];
  const isPicture = state.base.patches;
  return html`
    ${
      head !== null &&
      html`<div class="hs-lab-row"><span>${where}</span><${Switch} name="Which heads" choices=${scopes} chosen=${isWide} onChoose=${setWide} /></div>`
    }
    <ul class="hs-lab-edits">
      ${EDITS.map(({ name, hint, Body }, i) => {
        const label = isPicture ? name.replace("text", "picture").replace("word", "patch") : name;
        const isOpen = opened === i;
        return html`
          <li class=${isOpen ? "is-open" : ""}>
            <button type="button" aria-expanded=${isOpen} onClick=${() => setOpened(isOpen ? -1 : i)}>
              <span>${label}</span><small>${isOpen ? whereOf(state, spot, i) : hint?.(state, spot)}</small>
            </button>
            ${isOpen && html`<div class="hs-lab-body"><${Body} ...${{ state, ask, spot }} /></div>`}
          </li>
        `;
      })}
    </ul>
    <${Changed} ...${{ state, ask }} />
  `;
}

/** What the open edit is about. */
function whereOf(state, { site, head }, edit) {
  const layer = siteName(state.base, site);
  return edit === 1 || head === null ? layer : edit === 7 ? "every layer" : `${layer} · head ${head}`;
}

const wordOf = (state, axis, place) => `“${legible(labelsOf(state, axis)[place] ?? "").trim()}”`;

const labelsOf = (state, axis) => state.texts()[axis].labels;

/** “it” → “animal” */
function linkOf(state, { query, key }) {
  return `${wordOf(state, "query", query)} → ${wordOf(state, "key", key)}`;
}

// ---- the edits

/** Values of an edit under what they are; that which is made is pressed, and choosing it again takes it back. */
function Values({ state, ask, about, choices, editOf }) {
  const pressed = choices.find(([value]) => isMade(state.props, editOf(value)));
  return html`
    <p>${about}</p>
    <${Switch}
      name=${about}
      choices=${choices.map(([value, label]) => ({ value, label, title: `${about}: ${label}` }))}
      chosen=${pressed?.[0]}
      onChoose=${(value) => ask({ do: "toggle", value: editOf(value) })}
    />
  `;
}

const how = (value) => (value === "zero" ? {} : { how: value });

function Off({ state, ask, spot: { site, head } }) {
  const editOf = (value) => editAt(state, "Ablate", site, { head, ...how(value) });
  return html`
    <${Values} ...${{ state, ask, editOf, choices: INSTEAD, about: "Put in its place" }} />
    <p class="hs-doubt">${DOUBT}</p>
  `;
}

function FeedForward({ state, ask, spot: { site } }) {
  const { layer, tower } = editAt(state, "", site, {});
  const editOf = (value) => ({
    edit: "AblateMLP",
    layer,
    ...how(value),
    ...(tower === undefined ? {} : { tower }),
  });
  return html`<${Values} ...${{ state, ask, editOf, choices: INSTEAD.slice(0, 3), about: "It adds" }} />`;
}

/** A token of an axis, in a menu. */
function Token({ state, axis, name, value, onChoose }) {
  const labels = labelsOf(state, axis);
  const names = useMemo(() => labels.map((label, i) => `${legible(label)} · ${i}`), [labels]);
  return useMemo(
    () => html`<${Menu} ...${{ name, title: "", labels: names, index: value, onChoose }} />`,
    [names, value],
  );
}

/** The key of an edit, that of the picture until another one is chosen, and the row in which it is. */
function useLink(state, { query, key }) {
  const [other, setOther] = useState(/** @type {{of: string, key: number} | null} */ (null));
  const of = `${query} ${key}`;
  const to = other?.of === of ? other.key : key;
  const choose = (/** @type {number} */ next) => setOther({ of, key: next });
  const row = html`
    <div class="hs-lab-row">
      <span>${wordOf(state, "query", query)} →</span>
      <${Token} ...${{ state, axis: "key", name: "Key", value: to, onChoose: choose }} />
    </div>
  `;
  return { to: few(tokensOf(state, "key", to)), from: few(tokensOf(state, "query", query)), row };
}

function Cut({ state, ask, spot }) {
  const { site, head, query } = spot;
  const { to, from, row } = useLink(state, spot);
  const cut = (of) => ask({ do: "toggle", value: editAt(state, "Cut", site, { head, query: of, key: to }) });
  return html`
    ${row}
    <div class="hs-lab-row">
      <${Button} title=${`${wordOf(state, "query", query)} cannot look there`} onClick=${() => cut(from)}>Cut<//>
      <${Button} title="Nothing can look there" onClick=${() => cut(null)}>Cut from everything<//>
    </div>
  `;
}

function Weight({ state, ask, spot }) {
  const { to, from, row } = useLink(state, spot);
  const [keepsSum, setKeepsSum] = useState(true);
  const { site, head } = spot;
  const set = (percent) => {
    const value = Number((Math.min(100, percent) / 100).toFixed(3));
    const rest = keepsSum ? {} : { renormalise: false };
    const edit = editAt(state, "SetWeights", site, { head, query: from, key: to, value, ...rest });
    ask({ do: "toggle", value: edit });
  };
  return html`
    ${row}
    <${Amount} name="Weight in percent" value="50" min="0" max="100" unit="%" onSet=${set} />
    <label class="hs-lab-row">
      <input type="checkbox" checked=${keepsSum} onChange=${({ currentTarget }) => setKeepsSum(currentTarget.checked)} />
      <span>The row’s other weights share the rest</span>
    </label>
  `;
}

/** A number that is set by a button, or Enter. */
function Amount({ name, value, min, max, unit, onSet }) {
  const [typed, setTyped] = useState(value);
  const set = () => Number(typed) >= Number(min) && typed !== "" && onSet(Number(typed));
  const press = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    set();
  };
  return html`
    <div class="hs-lab-row">
      <input
        ...${{ min, max, value: typed, type: "number", step: "any", "aria-label": name }}
        class="hs-select hs-lab-number"
        onInput=${({ currentTarget }) => setTyped(currentTarget.value)}
        onKeyDown=${press}
      />
      <span>${unit}</span>
      <${Button} title=${`Set: ${name}`} onClick=${set}>Set<//>
    </div>
  `;
}

function Temperature({ state, ask, spot: { site, head } }) {
  const editOf = (value) =>
    editAt(state, "Temperature", site, { value: Number(value), ...(head === null ? {} : { head }) });
  return html`
    <${Values} ...${{ state, ask, editOf, choices: SHARPNESS, about: "The weights become" }} />
    <${Amount} name="Temperature" value="0.25" min="0.01" max="100" unit="below 1 sharper, above 1 flatter" onSet=${(value) => ask({ do: "toggle", value: editOf(value) })} />
  `;
}

function Pattern({ state, ask, spot: { site, head } }) {
  const { kind, heads } = state.base.sites[site];
  const choices = PATTERNS.filter(([use]) => kind !== "cross" || use === "uniform");
  const editOf = (use) => editAt(state, "UsePattern", site, { head, use });
  const others = [...Array(heads).keys()].filter((each) => each !== head);
  return html`
    <${Values} ...${{ state, ask, choices, editOf, about: "The head looks" }} />
    ${
      others.length > 0 &&
      html`<${Field} name="or where another head does">
        <${Menu}
          name="Another head"
          title="The pattern of that head"
          labels=${["–", ...others.map((each) => `head ${each}`)]}
          index=${others.findIndex((each) => isMade(state.props, editOf(each))) + 1}
          onChoose=${(index) => index && ask({ do: "toggle", value: editOf(others[index - 1]) })}
        />
      <//>`
    }
  `;
}

function Patch({ state, ask, spot }) {
  const { props } = state;
  const isPicture = state.base.patches;
  const { refusal: apart, token: there } = secondOf(state);
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const [what, setWhat] = useState("head");
  const [isOne, setOne] = useState(false);
  const source = isPicture ? (props.second?.source ?? "") : (typed ?? props.other?.title ?? "");
  if (isPicture && !source) return html`<p>Choose a second picture under “Compare” first.</p>`;
  const { site, query } = spot;
  // keys and values may be shared by several heads, and a state is read by all of them
  const head = what === "head" || what === "q" ? spot.head : null;
  const here = isOne ? few(tokensOf(state, "query", query)) : null;
  const patch = () => {
    /** @type {Edit} */
    const at = editAt(state, "Patch", site, {});
    const { layer, tower, ...address } = at;
    const value = {
      ...{ edit: "Patch", layer, what, source: "second" },
      ...(here === null ? {} : { token: here }),
      ...(here === null || there === null || there === here ? {} : { source_token: there }),
      ...(head === null ? {} : { head }),
      ...(tower === undefined ? {} : { tower }),
      ...(what === "hidden" ? {} : { ...address, edit: "Patch" }),
    };
    ask({ do: "toggle", value, second: source });
  };
  const refusal = !source ? "Type a second text." : what === "head" && !isOne ? apart : "";
  const tokens = [
    { value: false, label: isPicture ? "every patch" : "every word", title: "At every place" },
    { value: true, label: wordOf(state, "query", query), title: "At the chosen place alone" },
  ];
  return html`
    ${
      !isPicture &&
      html`<input
        ...${{ value: source, maxlength: LONGEST, placeholder: "another text", "aria-label": "Second text" }}
        class="hs-select hs-lab-wide"
        onInput=${({ currentTarget }) => setTyped(currentTarget.value)}
      />`
    }
    <${Field} name="Take">
      <${Menu}
        ...${{ name: "What is patched", title: "", labels: PATCHED.map(([, label]) => label) }}
        index=${PATCHED.findIndex(([value]) => value === what)}
        onChoose=${(index) => setWhat(PATCHED[index][0])}
      />
    <//>
    <${Switch} name="Where" choices=${tokens} chosen=${isOne} onChoose=${setOne} />
    <div class="hs-lab-row">
      <${Button}
        title=${refusal || "Put what the second gives here in the place of this one’s"}
        disabled=${Boolean(refusal)}
        onClick=${patch}
      >
        Patch
      <//>
    </div>
    <p class="hs-doubt hs-lab-said" role="status">${refusal}</p>
  `;
}

/** The token chosen in the second text, and why its heads’ values cannot be patched at every place; "" where they can. */
function secondOf(first) {
  const { second, props } = first;
  if (!props.other || !second?.baseOrNull) return { refusal: "", token: null };
  const { token, direction } = second.selection;
  const [mine, theirs] = [first, second].map((state) => state.site(first.selection.site).queries);
  const apart = `The texts have ${mine} and ${theirs} tokens: choose a token in each, and patch that one.`;
  return {
    refusal: mine === theirs ? "" : apart,
    token: token === null || direction === "in" ? null : tokensOf(second, "query", token)[0],
  };
}

function Cover({ state, ask, spot: { query } }) {
  if (!state.base.patches) {
    const key = few(tokensOf(state, "key", query));
    const edit = { edit: "Cut", layer: null, head: null, query: null, key };
    const isOn = isMade(state.props, edit);
    return html`
      <${Button}
        title="No word looks at it, in any layer"
        aria-pressed=${isOn}
        onClick=${() => ask({ do: "toggle", value: edit })}
      >
        ${isOn ? "Uncover" : "Cover"} ${wordOf(state, "key", query)}
      <//>
    `;
  }
  const patch = query - state.prefix;
  if (patch < 0) return html`<p>Choose a patch; several by dragging over the picture.</p>`;
  const editOf = (value) => ({ edit: "Cover", patch, ...(value === "mean" ? {} : { how: value }) });
  const choices = [
    ["mean", "mean colour"],
    ["blur", "blur"],
  ];
  return html`
    <${Values} ...${{ state, ask, choices, editOf, about: "Cover it by" }} />
    <p class="hs-doubt">Drag over the picture for several patches.</p>
  `;
}

// ---- what is changed now

function Changed({ state, ask }) {
  const { edits = [], edited, difference, both, beside, undo, redo } = state.props;
  const pass = difference ? "difference" : edited ? "after" : "before";
  const isOn = edits.some(({ on }) => on);
  return html`
    <h4 class="hs-lab-heading">Changed now</h4>
    ${edits.length === 0 && html`<p class="hs-doubt">Nothing yet: the model runs as it was trained.</p>`}
    <ol class="hs-lab-changed">
      ${edits.map(
        ({ values, said, on }) => html`
          <li>
            <label>
              <input type="checkbox" checked=${on} onChange=${() => ask({ do: "switch", value: values })} />
              <span>${said}</span>
            </label>
            <button type="button" class="hs-lab-link" aria-label=${`Undo: ${said}`} onClick=${() => ask({ do: "toggle", value: values })}>
              Undo
            </button>
          </li>
        `,
      )}
    </ol>
    <div class="hs-lab-row">
      <${Button} title="Take the last change back (Ctrl+Z)" disabled=${!undo} onClick=${() => ask({ do: "undo" })}>Undo<//>
      <${Button} title="Make it again (Ctrl+Y)" disabled=${!redo} onClick=${() => ask({ do: "redo" })}>Redo<//>
      <${Button} title="Remove every edit" disabled=${!edits.length} onClick=${() => ask({ do: "clear" })}>Undo all<//>
    </div>
    ${
      isOn &&
      html`<div class="hs-lab-row">
        <span>See</span>
        <${Switch} name="Shown" choices=${PASSES} chosen=${pass} onChoose=${(value) => ask({ do: "edited", value })} />
      </div>`
    }
    ${
      isOn &&
      beside?.chosen &&
      html`<label class="hs-lab-row">
        <input type="checkbox" checked=${both} onChange=${() => ask({ do: "edits_in", value: both ? "first" : "both" })} />
        <span>Change the second, too</span>
      </label>`
    }
  `;
}
