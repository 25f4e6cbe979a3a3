// Which states carry what two pictures differ in: each state of the second one patched in, as a map of patches for
// each layer.

import { cellBeside, cellOf, tokenAt } from "../core/grids.js";
import { html } from "../core/html.js";
import { stepOf } from "../core/keys.js";
import { signed } from "../core/ticks.js";
import { pixelsOf } from "../painting/over.js";
import { Area, fitted, OverPicture } from "../parts/over_picture.js";
import { useMemo } from "../vendor/hooks.js";
import { logitOf, OF_STATES, PatchButton, Sweep } from "./sweep.js";

/** @import {Swept, Theme} from "../types" */
/** @import {PatchState} from "../image/state.js" */

const SPACE = { wide: 112, high: 112 }; // CSS pixels of a layer

/** @param {{state: PatchState, theme: Theme, ask: ((asked: import("../core/edits.js").Asked) => void) | null}} props */
export function StatesOfPictures({ state, theme, ask }) {
  const { view, base } = state;
  const { states, output } = state.selection;
  const { second, edits } = view.props;
  if (!view.remote || !second?.source) return null;
  const isOn = states === "yes";
  const explained = base.explains === "classes" && output ? output : undefined;
  const edit = edits && ask && ((value) => ask({ do: "toggle", value, second: second.source }));
  return html`
    <${Sweep}
      ...${{ view, theme, isOn, slot: "states", from: state.prefix, subject: subjectOf, doubt: OF_STATES }}
      text="Which states matter"
      title="Patch in each state of the second picture, and see what that does to the output"
      asked=${isOn ? { second: second.trace, output: explained } : null}
      onToggle=${() => state.select({ states: isOn ? "no" : "yes" })}
      nameOf=${(_, { row, column }) => `Layer ${row}, ${state.nameOf(column)}`}
      cells=${(swept) => html`
        <div class="hs-states" role="group" aria-label="Effects by layer and patch">
          ${swept.values.map((row, layer) => html`<${Layer} ...${{ state, row, layer, ...swept }} />`)}
        </div>
      `}
      actions=${(_, at) => html`<${PatchButton} ...${{ noun: "picture", at, edit }} />`}
    />
  `;
}

/** @param {Swept} answer */
const subjectOf = (answer) =>
  answer.number === "logit"
    ? logitOf("each state", answer)
    : `How far each state moves the last state of the ${answer.name} towards that of the second picture, where 1 is all the way`;

function Layer({ state, row, layer, most, at, choose }) {
  const { bitmap, prefix, bothWays } = state;
  const grid = state.grid();
  const layers = useMemo(() => {
    const values = Array.from(grid.places, (place) => row[place]);
    return [{ grid, pixels: pixelsOf(values, { ramp: bothWays, top: most, isSigned: true }) }];
  }, [row, most, grid]);
  const here = at.row === layer ? at.column : -1;
  const size = fitted(SPACE, bitmap, SPACE.high);
  const go = (token) => token >= 0 && choose({ row: layer, column: token });
  const walk = (event) => {
    const next = cellBeside([grid], here < 0 ? prefix : here, stepOf(event));
    if (next < 0) return;
    event.preventDefault();
    event.stopPropagation();
    go(next);
  };
  return html`
    <figure class="hs-states-layer">
      <figcaption>layer ${layer}</figcaption>
      ${
        size &&
        html`<${OverPicture}
          ...${{ bitmap, layers, size, isGrey: true, kind: "hs-small" }}
          label=${`Layer ${layer}: patches of the second picture. Arrow keys choose one.`}
          marks=${html`<${Area} sides=${cellOf([grid], here)} />`}
          onChoose=${(place) => go(tokenAt([grid], place))}
          onKey=${walk}
        />`
      }
      ${state
        .labels()
        .query.slice(0, prefix)
        .map(
          (label, token) => html`
          <button type="button" class="hs-edge" onClick=${() => go(token)}>${`${label}: ${signed(row[token], 2)}`}</button>
        `,
        )}
    </figure>
  `;
}
