// Which heads an output needs: every head switched off in turn.

import { editAt } from "../core/edits.js";
import { html } from "../core/html.js";
import { capital, siteName } from "../core/labels.js";
import { Button, Field, Menu } from "../parts/controls.js";
import { EffectTable, logitOf, Sweep } from "./sweep.js";

/** @import {Selection, Swept, Theme} from "../types" */

const OFF = /** @type {Selection["matter"][]} */ (["zero", "mean"]);
const DOUBT =
  "What it does not prove: one head at a time is off, and others may do its work then; zero is not what the model" +
  " was trained with. By attribution, what follows the head is linearised.";

/** @param {{state: any, theme: Theme, ask: ((asked: import("../core/edits.js").Asked) => void) | null}} props */
export function HeadsThatMatter({ state, theme, ask }) {
  const { view } = state;
  const { matter, output, site } = state.selection;
  const isOn = matter !== "no";
  const explained = view.base.explains === "similarity" ? undefined : output || undefined; // which has no logit
  const nameOf = (index) => siteName(view.base, index);
  const switchOff = (index, head) => {
    const how = matter === "mean" ? { how: "mean" } : {};
    ask?.({ do: "toggle", value: editAt(view, "Ablate", index, { head, ...how }) });
  };
  const choices = html`
    <${Field} name="values become">
      <${Menu}
        name="What values become"
        labels=${OFF}
        index=${OFF.indexOf(matter)}
        onChoose=${(index) => state.select({ matter: OFF[index] })}
      />
    <//>
  `;
  return html`
    <${Sweep}
      ...${{ view, theme, isOn, choices, slot: "matters", doubt: DOUBT }}
      text="Which heads matter"
      title="Switch off every head in turn, and see what the output loses"
      asked=${isOn ? { site: state.group()[0] ?? site, off: matter, output: explained } : null}
      onToggle=${() => state.select({ matter: isOn ? "no" : "zero" })}
      subject=${subjectOf}
      nameOf=${({ sites }, { row, column }) => `${capital(nameOf(sites[row]))}, head ${column}`}
      cells=${(swept) => html`<${EffectTable} ...${{ ...swept, ...namesOf(swept, nameOf) }} />`}
      actions=${({ sites }, { row, column }) => html`
        <${Button}
          title="Show the attention of this head"
          onClick=${() => state.select({ site: sites[row], head: column })}
        >
          Show this head
        <//>
        <${Button}
          title="Make this an edit of the pass"
          disabled=${!ask}
          onClick=${() => switchOff(sites[row], column)}
        >
          Switch it off
        <//>
      `}
    />
  `;
}

/** @param {Swept} answer */
const subjectOf = (answer) =>
  answer.number === "distance"
    ? `How far the last state of the ${answer.name} moves without a head, as 1 − cosine`
    : logitOf("switching a head off", answer);

function namesOf({ answer: { sites, attribution } }, nameOf) {
  const width = Math.max(...attribution.map((heads) => heads.length));
  const names = sites.map((site) => ({
    name: nameOf(site).replace("layer ", ""),
    label: capital(nameOf(site)),
  }));
  const columns = Array.from({ length: width }, (_, head) => ({ name: String(head) }));
  return { label: "Effects by layer and head", names, columns };
}
