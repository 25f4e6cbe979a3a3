// Which states carry what two pictures differ in: each state of the second one patched in, as a map of patches for
// each layer.

import { cellBeside, cellOf, tokenAt } from "../core/grids.js";
import { html } from "../core/html.js";
import { signed } from "../core/ticks.js";
import { colourOf } from "../methods/methods.js";
import { Area } from "../parts/over_picture.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";
import { logitOf, OF_STATES, PatchButton, Sweep } from "./sweep.js";

/** @import {Swept, Theme} from "../types" */
/** @import {PatchState} from "../image/state.js" */

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

function Layer({ state, theme, answer, row, layer, most, at, choose }) {
  const { prefix } = state;
  const grid = state.grid();
  const { shape } = grid;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    const image = context?.createImageData(shape[1], shape[0]);
    if (!context || !image) return;
    grid.places.forEach((token, i) =>
      image.data.set([...colourOf(theme, row[token], most, true), 255], 4 * i),
    );
    context.putImageData(image, 0, 0);
  }, [answer, theme]);
  const press = ({ clientX, clientY, currentTarget }) => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    const token = tokenAt([grid], [(clientX - left) / width, (clientY - top) / height]);
    if (token >= 0) choose({ row: layer, column: token });
  };
  const walk = (event) => {
    const next = cellBeside([grid], at.row === layer ? at.column : prefix, event.key);
    if (next < 0) return;
    event.preventDefault();
    event.stopPropagation();
    choose({ row: layer, column: next });
  };
  const cell = at.row === layer && cellOf([grid], at.column);
  return html`
    <figure class="hs-states-layer">
      <figcaption>layer ${layer}</figcaption>
      <div
        class="hs-states-map"
        tabindex="0"
        role="img"
        aria-label=${`Layer ${layer}: patches of the second picture. Arrow keys choose one.`}
        data-layer=${layer}
        onClick=${press}
        onKeyDown=${walk}
      >
        <canvas width=${shape[1]} height=${shape[0]} ref=${canvas} />
        ${cell && html`<${Area} sides=${cell} />`}
      </div>
      ${state
        .labels()
        .query.slice(0, prefix)
        .map(
          (label, token) => html`
          <button type="button" class="hs-edge" onClick=${() => choose({ row: layer, column: token })}>
            ${`${label}: ${signed(row[token], 2)}`}
          </button>
        `,
        )}
    </figure>
  `;
}
