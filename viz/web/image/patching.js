// Which states carry what two pictures differ in: the state of each layer and patch that the second
// picture gives, patched in, and what that does to the output; a map of patches for each layer.

import { callOf } from "../core/edit_text.js";
import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { reachedOf, reachWords } from "../core/reachable.js";
import { signed } from "../core/ticks.js";
import { Exactly, Experiment, passesIn } from "../matter/experiment.js";
import { useTwoSteps } from "../matter/two_steps.js";
import { colourOf, disagreement, largest } from "../methods/methods.js";
import { Button, Quoted } from "../parts/controls.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** @import {Theme} from "../types" */
/** @import {ImageState} from "./state.js" */

/** @typedef {{state: ImageState, theme: Theme, edit: (text: string, second?: string) => void}} Props */

const SLOT = "states";
const DIGITS = 3;
const ABOUT =
  "One at a time, the state of each layer and patch is replaced by that of the second picture; a map for each layer" +
  " shows what this does to the output. Choose a patch to read it. By attribution, what follows the state is linearised.";

/** @param {Props} props */
export function States({ state, theme, edit }) {
  const { view } = state;
  const { states, output } = state.selection;
  const { second } = view.props;
  const isOffered = view.remote && Boolean(second?.source);
  const isOn = isOffered && states !== "";
  const [top = "10", ...place] = states ? states.split(".") : [];
  const explained = state.base.explains === "classes" && output ? output : undefined;
  const asked = isOn && second ? { second: second.trace, output: explained } : null;
  const { answer, reason } = useTwoSteps(view, SLOT, asked, top, "Patching states");
  if (!isOffered) return null;
  const select = (...parts) => state.select({ states: parts.join(".") });
  return html`
    <${Experiment}
      ...${{ view, slot: SLOT, isOn, reason, about: ABOUT, label: "States of the second picture" }}
      text="Which states matter"
      title="Patch in every state of the second picture, and see what the output gains"
      onToggle=${() => select(...(isOn ? [] : [top]))}
      choices=${html`<${Exactly} what="States" value=${top} onChange=${(next) => select(next, ...place)} />`}
    >
      ${
        answer &&
        html`<${Answer} ...${{ state, theme, edit, answer }} choose=${(layer, token) => select(top, layer, token)} />`
      }
    <//>
  `;
}

function Answer({ state, theme, edit, answer, choose }) {
  const { view } = state;
  const { attribution, exact } = answer;
  const effect = (layer, token) => exact?.[layer][token] ?? attribution[layer][token] ?? 0;
  const most = largest(attribution.flatMap((row, layer) => row.map((_, token) => effect(layer, token))));
  const chosen = placeIn(state, answer, effect);
  const passes = exact ? `, ${passesIn(exact)} exactly; ${disagreement(attribution, exact)}` : ".";
  const colours = `${theme.mode === "dark" ? "Orange" : "Brown"} adds, blue takes away; colours up to`;
  const reached = state.sought && reachedOf(view, state.sought);
  const reach = () => {
    const site = state.base.sites.findIndex(({ layer }) => layer === chosen.layer);
    if (site >= 0) state.reach({ site, what: "hidden", head: null, token: chosen.token });
  };
  const leave = () => state.reach(null);
  const patch = () => {
    const call = callOf("Patch", [chosen.layer, "hidden", "second"], { token: chosen.token });
    edit(call, view.props.second?.source);
  };
  const known = exact?.[chosen.layer][chosen.token] ?? null;
  const rough = signed(attribution[chosen.layer][chosen.token] ?? 0, DIGITS);
  return html`
    <p class="hs-check" aria-live="polite">
      <${Subject} answer=${answer} />${`: all by attribution${passes} ${colours} ${most.toPrecision(3)}.`}
    </p>
    <div class="hs-states" role="group" aria-label="Effects by layer and patch">
      ${attribution.map(
        (_, layer) => html`<${Layer} ...${{ state, theme, answer, layer, most, effect, chosen, choose }} />`,
      )}
    </div>
    <div class="hs-row">
      <p class="hs-matter-read" aria-live="polite">
        ${`Layer ${chosen.layer}, ${state.base.query_labels[chosen.token]}: ${rough} by attribution`}
        ${known === null ? "." : `, ${signed(known, DIGITS)} exactly.`}
      </p>
      <${Button}
        title="Make this an edit of the pass, with the second picture"
        disabled=${!view.props.edits}
        onClick=${patch}
        onPointerEnter=${reach}
        onFocus=${reach}
        onPointerLeave=${leave}
        onBlur=${leave}
      >
        Patch this state
      <//>
    </div>
    <p class="hs-even" role="status">${reached ? reachWords(state.base, reached) : ""}</p>
  `;
}

function Subject({ answer: { number, name } }) {
  if (number === "logit")
    return html`${"What each state does to the logit of "}<${Quoted} label=${legible(name)} />`;
  return `How far each state moves the last state of the ${name} towards that of the second picture, where 1 is all the way`;
}

/** The state that is read: the chosen one, else that with the largest effect. */
function placeIn(state, { attribution }, effect) {
  const [layer, token] = state.selection.states.split(".").slice(1).map(Number);
  if (attribution[layer]?.[token] !== undefined) return { layer, token };
  const best = attribution.map((_, each) => ({ layer: each, token: strongestIn(state, each, effect) }));
  return best.sort((a, b) => Math.abs(effect(b.layer, b.token)) - Math.abs(effect(a.layer, a.token)))[0];
}

/** The patch of a layer with the largest effect. */
function strongestIn({ base: { prefix, query_labels: labels } }, layer, effect) {
  const sizes = labels.slice(prefix).map((_, patch) => Math.abs(effect(layer, prefix + patch)));
  return prefix + sizes.indexOf(Math.max(...sizes));
}

function Layer({ state, theme, answer, layer, most, effect, chosen, choose }) {
  const { grid, prefix, query_labels: labels } = state.base;
  const [rows, cols] = grid;
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const pixels = context.createImageData(cols, rows);
    for (let i = 0; i < rows * cols; i++)
      pixels.data.set([...colourOf(theme, effect(layer, i + prefix), most, true), 255], 4 * i);
    context.putImageData(pixels, 0, 0);
  }, [answer, theme]);
  const press = ({ clientX, clientY, currentTarget }) => {
    const { left, top, width, height } = currentTarget.firstElementChild.getBoundingClientRect();
    const at = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
    choose(layer, prefix + cols * at((clientY - top) / height, rows) + at((clientX - left) / width, cols));
  };
  const focus = () => chosen.layer !== layer && choose(layer, strongestIn(state, layer, effect));
  const walk = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -cols, ArrowDown: cols }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = chosen.token + step;
    if (next >= prefix && next < prefix + rows * cols) choose(layer, next);
  };
  const patch = chosen.layer === layer ? chosen.token - prefix : -1;
  const share = (part, of) => `${(100 * part) / of}%`;
  const frame = {
    left: share(patch % cols, cols),
    top: share(Math.floor(patch / cols), rows),
    width: share(1, cols),
    height: share(1, rows),
  };
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
        onFocus=${focus}
        onKeyDown=${walk}
      >
        <canvas width=${cols} height=${rows} ref=${canvas} />
        <span class="hs-states-frame" hidden=${patch < 0} style=${frame}></span>
      </div>
      ${labels.slice(0, prefix).map(
        (label, token) => html`
          <button type="button" class="hs-edge" onClick=${() => choose(layer, token)}>
            ${`${label}: ${signed(effect(layer, token), 2)}`}
          </button>
        `,
      )}
    </figure>
  `;
}
