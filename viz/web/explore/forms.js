// The forms that a text has on the page: at most five, of which some hold two, then those of further folders.

import { FORMS, ON_SCREEN } from "../core/declared.js";
import { html } from "../core/html.js";
import { Switch } from "../parts/controls.js";

/** @import {TextState} from "../text/state.js" */

/**
 * @typedef {object} Form
 * @property {string} label
 * @property {string} title
 * @property {boolean} isOn
 * @property {string} [refused] why it cannot be chosen
 * @property {() => void} choose
 */

const PLAIN = ["sound", "text", "lines", "matrix", "head"];
const BESIDE_HEADS = "model"; // chosen there
const NEXT = { lens: "Layer by layer", parts: "What adds to it" };

/**
 * The forms of a text.
 *
 * @param {TextState} state
 * @returns {Form[]}
 */
export function formsOf(state) {
  const { form } = state.selection;
  const refused = state.refused();
  const { explains, sound } = state.base;
  /** @type {(name: string) => Form} */
  const plain = (name) => ({
    ...{ label: FORMS[name].label, title: FORMS[name].title, refused: refused[name], isOn: form === name },
    choose: () => state.select({ form: /** @type {any} */ (name) }),
  });
  const forms = PLAIN.filter((name) => name !== (sound ? "lines" : "sound")).map(plain);
  if (explains === "tokens" || explains === "classes") {
    const why = Object.keys(NEXT).find((name) => !(name in refused));
    forms.push({
      label: explains === "tokens" ? "Next word" : "Why this class",
      title: "What each layer would say, and what each head and each MLP adds to the answer",
      refused: why ? "" : refused.parts,
      isOn: form in NEXT,
      choose: () => state.select({ form: /** @type {any} */ (why ?? "parts") }),
    });
  }
  const further = ON_SCREEN.text.filter(
    (name) => ![...PLAIN, BESIDE_HEADS].includes(name) && !(name in NEXT),
  );
  return [...forms, ...further.map(plain)];
}

/** The two halves of “Next word”. */
export function NextWord({ state }) {
  const { form } = state.selection;
  if (!(form in NEXT)) return null;
  const refused = state.refused();
  const choices = Object.entries(NEXT).map(([value, label]) => ({
    ...{ value, label, title: refused[value] ?? FORMS[value].title },
    disabled: value in refused && value !== form,
  }));
  return html`<${Switch} name="Next word" ...${{ choices, chosen: form }} onChoose=${(next) => state.select({ form: next })} />`;
}
