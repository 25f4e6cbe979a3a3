// Controls that several views have.

import { html } from "../core/html.js";
import { rove } from "../core/keys.js";
import { groupsOf, legible } from "../core/labels.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {ManyHeads} from "../types" */

/**
 * A button. Its name begins with its text, as speech control expects, and goes on with its title; a
 * button with children is named by these.
 *
 * @param {{text?: string, title: string, onClick: () => void, children?: unknown} & Record<string, unknown>} props
 */
export function Button({ text = "", title, children, ...others }) {
  const spoken = /\p{L}/u.test(text) && !title.startsWith(text);
  const name = children ? undefined : [spoken ? text : "", title].filter(Boolean).join(": ");
  return html`
    <button type="button" class="hs-button" title=${title} aria-label=${name} ...${others}>
      ${children ?? text}
    </button>
  `;
}

/**
 * Buttons of which one is pressed.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {{value: unknown, label: string, title: string, disabled?: boolean}[]} props.choices
 * @param {unknown} props.chosen
 * @param {(value: any) => void} props.onChoose
 */
export const Switch = ({ name, choices, chosen, onChoose }) => html`
  <div class="hs-switch" role="group" aria-label=${name}>
    ${choices.map(
      ({ value, label, title, disabled = false }) => html`
        <${Button}
          ...${{ text: label, title, disabled }}
          aria-pressed=${value === chosen}
          onClick=${() => onChoose(value)}
        />
      `,
    )}
  </div>
`;

/**
 * A menu of a few choices.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {string} props.title
 * @param {string[]} props.labels
 * @param {number} props.index of the chosen one
 * @param {(index: number) => void} props.onChoose
 * @param {boolean} [props.disabled]
 * @param {number} [props.without] the one that cannot be chosen
 */
export function Menu({ name, title, labels, index, onChoose, disabled = false, without = -1 }) {
  const changed = ({ currentTarget }) => onChoose(currentTarget.selectedIndex);
  return html`
    <select
      class="hs-select"
      aria-label=${name}
      title=${title}
      disabled=${disabled}
      value=${String(index)}
      onChange=${changed}
    >
      ${labels.map((label, i) => html`<option value=${String(i)} disabled=${i === without}>${label}</option>`)}
    </select>
  `;
}

/** “label”, kept apart from its surroundings, whatever its direction of writing. @param {{label: string}} props */
export const Quoted = ({ label }) => html`“<bdi>${legible(label)}</bdi>”`;

/**
 * Numbers as bars, the longest of which is whole unless it is said what is.
 *
 * @param {{rows: {label: string, value: number, text: string, even?: number}[], full?: number}} props even: where a tick stands
 */
export function Bars({ rows, full }) {
  const most = full ?? Math.max(...rows.map(({ value }) => value), 1e-9);
  const bar = (/** @type {number} */ value) => ({ "--share": `${(100 * value) / most}%` });
  return html`
    <ol class="hs-bars">
      ${rows.map(
        ({ label, value, text, even }) => html`
          <li class="hs-bar-row">
            <bdi class="hs-bar-label">${legible(label)}</bdi>
            <span class="hs-bar-line" aria-hidden="true" style=${bar(value)}>
              ${even !== undefined && html`<i class="hs-even-tick" style=${{ left: `${(100 * even) / most}%` }}></i>`}
            </span>
            <span class="hs-bar-number">${text}</span>
          </li>
        `,
      )}
    </ol>
  `;
}

/** A control with its name before it. @param {{name: string, children: unknown}} props */
export const Field = ({ name, children }) =>
  html`<label class="hs-label"><span>${name}</span> ${children}</label>`;

/**
 * A line of text that counts when it is left or confirmed; what somebody writes in it stays.
 *
 * @param {{value: string, onCommit: (value: string) => void} & Record<string, unknown>} props
 */
export function Entry({ value, onCommit, ...others }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => {
    if (input.current && !input.current.matches(":focus")) input.current.value = value;
  });
  const commit = () => onCommit(input.current?.value.trim() ?? "");
  return html`<input type="text" ref=${input} onChange=${commit} ...${others} />`;
}

/**
 * Turns from one page to the next, of tokens or of what else is many.
 *
 * @param {object} props
 * @param {string} props.noun
 * @param {string} props.text what the page shows
 * @param {boolean} props.isFirst
 * @param {boolean} props.isLast
 * @param {(by: 1 | -1) => void} props.onTurn
 */
export const Pager = ({ noun, text, isFirst, isLast, onTurn }) => html`
  <div class="hs-stepper hs-aid">
    <${Button} text="‹" title=${`Earlier ${noun}`} disabled=${isFirst} onClick=${() => onTurn(-1)} />
    <span class="hs-count" aria-live="polite">${text}</span>
    <${Button} text="›" title=${`Later ${noun}`} disabled=${isLast} onClick=${() => onTurn(1)} />
  </div>
`;

/**
 * ‹ [menu] ›, for what is one of many.
 *
 * @param {{name: string, labels: string[], index: number, onChoose: (index: number) => void}} props
 */
export const Stepper = ({ name, labels, index, onChoose }) => html`
  <div class="hs-stepper">
    <span class="hs-label" aria-hidden="true">${name}</span>
    <${Button} text="‹" title=${`Previous ${name.toLowerCase()}`} disabled=${index <= 0} onClick=${() => onChoose(index - 1)} />
    <${Menu} ...${{ name, title: "", labels, index, onChoose }} />
    <${Button}
      text="›"
      title=${`Next ${name.toLowerCase()}`}
      disabled=${index >= labels.length - 1}
      onClick=${() => onChoose(index + 1)}
    />
  </div>
`;

/** @typedef {{text: unknown, title?: string, kind?: string, disabled?: boolean, share?: number}} Chip share: of an underline */

/**
 * @param {object} props
 * @param {string} props.label
 * @param {Chip[]} props.chips
 * @param {number} props.chosen −1 for none
 * @param {(index: number) => void} props.onChoose
 */
export function Chips({ label, chips, chosen, onChoose }) {
  const walk = (event) => {
    const next = rove(event);
    if (next >= 0) onChoose(next);
  };
  return html`
    <div class="hs-words" role="radiogroup" aria-label=${label} onKeyDown=${walk}>
      ${chips.map(
        ({ text, title, kind = "", disabled = false, share }, i) => html`
          <button
            type="button"
            role="radio"
            dir="auto"
            class=${`hs-chip ${kind} ${i === chosen ? "hs-current" : ""}`}
            aria-checked=${i === chosen}
            tabindex=${i === Math.max(0, chosen) ? "0" : "-1"}
            ...${{ title, disabled }}
            style=${share === undefined ? undefined : { "--share": String(Math.sqrt(share)) }}
            onClick=${() => onChoose(i)}
          >
            ${text}
          </button>
        `,
      )}
    </div>
  `;
}

/** @type {Record<string, string>} */
const ABOUT_KINDS = {
  self: "The input’s positions attend to each other, both ways",
  causal: "A token attends to itself and to what came before it",
  cross: "The target’s tokens attend to the source",
  joint: "Encoder, cross-attention and decoder in one matrix: the source’s tokens, then the target’s",
};

/** @param {{state: Pick<ManyHeads, "base" | "selection" | "select">}} props */
export function Kinds({ state }) {
  const { base, selection } = state;
  const groups = [...groupsOf(base)];
  if (groups.length < 2) return null;
  const { layer } = base.sites[selection.site];
  const goTo = (sites) =>
    state.select({ site: sites.find((site) => base.sites[site].layer === layer) ?? sites[0] });
  const chosen = groups.findIndex(([, sites]) => sites.includes(selection.site));
  return html`<${Menu}
    name="Kind of attention"
    title=${ABOUT_KINDS[base.sites[selection.site].kind]}
    labels=${groups.map(([label]) => label)}
    index=${chosen}
    onChoose=${(index) => goTo(groups[index][1])}
  />`;
}

/**
 * @param {object} props
 * @param {string} props.text of the button
 * @param {string} props.title
 * @param {boolean} props.isOn
 * @param {() => void} props.onToggle
 * @param {string} props.reason why there is no answer
 * @param {string} [props.kind] classes
 * @param {unknown} [props.choices]
 * @param {unknown} [props.children] the answer
 */
export const OnRequest = ({ text, title, isOn, onToggle, reason, kind = "", choices, children }) => html`
  <div class=${`hs-faithful ${kind}`}>
    <${Button} ...${{ text, title, onClick: onToggle }} aria-pressed=${isOn} />
    ${
      isOn &&
      html`
      ${choices && html`<div class="hs-row">${choices}</div>`}
      ${reason && html`<p class="hs-even" role="status">${reason}</p>`}
      ${children}
    `
    }
  </div>
`;
