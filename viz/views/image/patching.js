// Which states carry what two pictures differ in, as a map of patches for each layer.

import { html } from "../../web/core/html.js";
import { cellBeside, cellOf, tokenAt } from "../../web/core/grids.js";
import { legible } from "../../web/core/labels.js";
import { signed } from "../../web/core/ticks.js";
import { StatesThatMatter } from "../../web/matter/states.js";
import { colourOf } from "../../web/methods/methods.js";
import { Area } from "../../web/parts/over_picture.js";
import { Quoted } from "../../web/parts/controls.js";
import { useLayoutEffect, useRef } from "../../web/vendor/hooks.js";

/** @import {Theme} from "../../web/types" */
/** @import {ImageState} from "../../web/image/state.js" */

const ABOUT =
  "One at a time, the state of each layer and patch is replaced by that of the second picture; a map for each layer" +
  " shows what this does to the output. Choose a patch to read it.";

/** @param {{state: ImageState, theme: Theme, ask: ((asked: import("../../web/core/edits.js").Asked) => void) | null}} props */
export function States({ state, theme, ask }) {
  const { view } = state;
  const { states, output } = state.selection;
  const { second, edits } = view.props;
  if (!view.remote || !second?.source) return null;
  const isOn = states !== "";
  const [top = "10", ...place] = states ? states.split(".") : [];
  const explained = state.base.explains === "classes" && output ? output : undefined;
  const select = (...parts) => state.select({ states: parts.join(".") });
  return html`
    <${StatesThatMatter}
      ...${{ state, theme, isOn, top, about: ABOUT, slot: "states", noun: "picture" }}
      label="States of the second picture"
      asked=${isOn ? { second: second.trace, output: explained } : null}
      onTop=${(next) => select(next, ...place)}
      onToggle=${() => select(...(isOn ? [] : [top]))}
      subject=${subjectOf}
      chosenIn=${({ effects }) => chosenIn(state, effects)}
      nameOf=${(_, { row, column }) => `Layer ${row}, ${state.base.query_labels[column]}`}
      edit=${edits && ((value) => ask?.({ do: "toggle", value, second: second.source }))}
      cells=${(of) => html`<${Maps} ...${{ state, theme, ...of, choose: (layer, token) => select(top, layer, token) }} />`}
    />
  `;
}

function subjectOf({ number, name }) {
  if (number === "logit")
    return html`${"What each state does to the logit of "}<${Quoted} label=${legible(name)} />`;
  return `How far each state moves the last state of the ${name} towards that of the second picture, where 1 is all the way`;
}

/** The state that is read: the chosen one, else that with the largest effect. */
function chosenIn(state, effects) {
  const [row, column] = state.selection.states.split(".").slice(1).map(Number);
  if (effects[row]?.[column] !== undefined) return { row, column };
  const best = effects.map((_, layer) => ({ row: layer, column: strongestIn(state, effects[layer]) }));
  const size = (at) => Math.abs(effects[at.row][at.column]);
  return best.reduce((most, at) => (size(at) > size(most) ? at : most));
}

/** The patch of a layer with the largest effect. */
function strongestIn({ base: { prefix } }, row) {
  const sizes = row.slice(prefix).map(Math.abs);
  return prefix + sizes.indexOf(Math.max(...sizes));
}

const Maps = ({ state, effects, ...others }) => html`
  <div class="hs-states" role="group" aria-label="Effects by layer and patch">
    ${effects.map((row, layer) => html`<${Layer} ...${{ state, row, layer, ...others }} />`)}
  </div>
`;

function Layer({ state, theme, answer, row, layer, most, at, choose }) {
  const { grid: shape, prefix, query_labels: labels } = state.base;
  const grid = state.grid();
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
    if (token >= 0) choose(layer, token);
  };
  const isHere = at.row === layer;
  const walk = (event) => {
    const next = cellBeside([grid], at.column, event.key);
    if (next < 0) return;
    event.preventDefault();
    event.stopPropagation();
    choose(layer, next);
  };
  const cell = isHere && cellOf([grid], at.column);
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
        onFocus=${() => !isHere && choose(layer, strongestIn(state, row))}
        onKeyDown=${walk}
      >
        <canvas width=${shape[1]} height=${shape[0]} ref=${canvas} />
        ${cell && html`<${Area} sides=${cell} />`}
      </div>
      ${labels.slice(0, prefix).map(
        (label, token) => html`
          <button type="button" class="hs-edge" onClick=${() => choose(layer, token)}>
            ${`${label}: ${signed(row[token], 2)}`}
          </button>
        `,
      )}
    </figure>
  `;
}
