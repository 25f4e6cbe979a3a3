// Which states carry what two inputs differ in: the state of each layer and token that the second one gives,
// patched in, and what that does to the output; by attribution, and exactly for the largest.

import { html } from "../core/html.js";
import { signed } from "../core/ticks.js";
import { disagreement, largest } from "../methods/methods.js";
import { Button } from "../parts/controls.js";
import { useMemo } from "../vendor/hooks.js";
import { Exactly, Experiment, passesIn } from "./experiment.js";
import { useTwoSteps } from "./two_steps.js";

/** @import {Swept, Theme} from "../types" */

/** @typedef {{row: number, column: number}} At a layer and a token */
/** @typedef {{answer: any, effects: number[][], most: number}} Effects the largest is `most` */

/**
 * @param {object} props
 * @param {any} props.state
 * @param {Theme} props.theme
 * @param {string} props.slot
 * @param {Record<string, string | number | undefined> | null} props.asked null asks nothing
 * @param {boolean} props.isOn
 * @param {string} props.noun of the second input
 * @param {string} props.about
 * @param {string} [props.kind] classes
 * @param {string} [props.label]
 * @param {unknown} [props.choices]
 * @param {string} props.top how many are computed exactly
 * @param {(top: string) => void} props.onTop
 * @param {() => void} props.onToggle
 * @param {(answer: any) => unknown} props.subject what the numbers are, before a colon
 * @param {(effects: Effects) => At | null} props.chosenIn the state that is read
 * @param {(answer: any, at: At) => unknown} props.nameOf
 * @param {(edit: import("../core/edits.js").Edit) => void} [props.edit] makes an edit of the pass; none where it cannot be made
 * @param {(props: Effects & {at: At | null}) => unknown} props.cells
 */
export function StatesThatMatter({ state, slot, asked, isOn, top, onTop, noun, choices, ...others }) {
  const { about, kind, label, onToggle } = others;
  const { answer, reason } = useTwoSteps(state.view, slot, asked, top, "Patching states");
  return html`
    <${Experiment}
      ...${{ view: state.view, slot, isOn, reason, about, kind, label, onToggle }}
      text="Which states matter"
      title=${`Patch in each state of the second ${noun}, and see what that does to the output`}
      choices=${html`${choices}<${Exactly} what="States" value=${top} onChange=${onTop} />`}
    >
      ${answer && html`<${Answer} ...${{ noun, answer, ...others }} />`}
    <//>
  `;
}

/** @param {{answer: Swept} & Record<string, any>} props */
function Answer({ theme, noun, answer, subject, chosenIn, nameOf, edit, cells }) {
  const { attribution, exact } = answer;
  const effects = useMemo(
    () => attribution.map((row, i) => row.map((rough, j) => exact?.[i][j] ?? rough ?? 0)),
    [answer],
  );
  const most = largest(effects.flat());
  const at = chosenIn({ answer, effects, most });
  const passes = exact ? `, ${passesIn(exact)} exactly; ${disagreement(attribution, exact)}` : ".";
  const known = (at && exact?.[at.row][at.column]) ?? null;
  const patch = () =>
    at && edit({ edit: "Patch", layer: at.row, what: "hidden", source: "second", token: at.column });
  return html`
    <p class="hs-check" aria-live="polite">
      ${subject(answer)}${`: all by attribution${passes} ${theme.mode === "dark" ? "Orange" : "Brown"} adds, blue takes away; colours up to ${most.toPrecision(3)}.`}
    </p>
    ${cells({ answer, effects, most, at })}
    <div class="hs-row">
      <p class="hs-matter-read" aria-live="polite">
        ${
          at
            ? html`${nameOf(answer, at)}${`: ${signed(attribution[at.row][at.column] ?? 0, 3)} by attribution`}
              ${known === null ? "." : `, ${signed(known, 3)} exactly.`}`
            : "Choose a cell to read it, and to patch its state."
        }
      </p>
      <${Button}
        title=${`Make this an edit of the pass, with the second ${noun}`}
        disabled=${!at || !edit}
        onClick=${patch}
      >
        Patch this state
      <//>
    </div>
    <p class="hs-doubt">
      ${
        "What it does not prove: one state at a time is patched; by attribution, what follows it is linearised." +
        " Where nothing follows a state, it changes nothing."
      }
    </p>
  `;
}
