// All layers together over a picture: where a method leads from the answer or from a patch, or what speaks
// for a class.

import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, legible } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import {
  explainedIn,
  largest,
  MethodChoices,
  methodOf,
  number,
  together,
} from "../../web/methods/choices.js";
import { Faithful } from "../../web/methods/faithful.js";
import { numbersOf, pixelsOf } from "../../web/painting/pixels.js";
import { Field, Switch } from "../../web/parts/controls.js";
import { useMemo } from "../../web/vendor/hooks.js";
import { PatchMap } from "../../web/image/map.js";

/** @import {PatchState} from "../../web/image/state.js" */

const UNEXPLAINED =
  "Methods that explain a class, and tests by its probability, need a model that gives classes.";
const FOLLOWED = [
  { value: "answer", label: "The answer", title: "Followed from what the model’s answer is read from" },
  {
    value: "token",
    label: "The chosen patch",
    title: "Followed from the patch that is chosen: click another one",
  },
];
const NAMED = 5; // tokens without a place, by their numbers

/** @param {{state: PatchState}} props */
export function OverPatches({ state }) {
  const { base, pointed, ramp, bothWays } = state;
  const { followed, tested, method, output, site, head, token } = state.selection;
  const info = methodOf(method);
  const isRelevance = info.kind === "relevance";
  const start = followed === "token" && !isRelevance ? (token ?? 0) : undefined;
  const place = info.of === "tower" ? { site: 0, head: "mean" } : { site, head };
  const path = isRelevance
    ? pathOf("relevance", { method: info.name, output: output || undefined })
    : pathOf("model_row", { ...place, method: info.name, index: start });
  const { answer, reason, isRefused } = useAnswer(state, "over", path, "Computing");
  const title = answer ? `${info.title} ${sourceOf(state, info, answer)}` : info.title;
  const grid = state.grid();
  const drawn = useMemo(() => {
    if (!answer) return null;
    const patches = Float32Array.from(grid.places, (at) => answer.values[at]);
    const isSigned = patches.some((value) => value < 0);
    const top = largest(patches);
    const colours = isSigned ? bothWays : ramp;
    return {
      pixels: pixelsOf(patches, { ramp: colours, top, isSigned }),
      framed: start === undefined ? null : undefined,
      scale: { ramp: colours, numberAt: numbersOf(top, isSigned), words: isRelevance ? "relevance" : "" },
      label: `${title}, ${base.model}: ${grid.shape.join(" × ")} patches. Arrow keys choose a patch.`,
    };
  }, [answer, title, start, ramp, grid]);
  const more = answer
    ? [
        "value" in answer && `${capital(explainedIn(answer))} ${number(answer.value)}. ${together(answer)}`,
        withoutPlace(state, answer.values),
        drawn?.scale.ramp === bothWays ? "Orange speaks for it, blue against it." : "Brighter = more.",
      ]
    : [isRefused && capital(reason)];
  const read =
    pointed === null
      ? "Point at a patch to read its number; click to choose it."
      : `${capital(state.nameOf(pointed))}: ${number(answer?.values[pointed] ?? 0)}`;
  const isTested =
    base.explains === "classes" && (isRelevance || (info.of === "tower" && start === undefined));
  return html`
    <section class="hs-section hs-model" aria-label="All layers over the picture">
      <div class="hs-row">
        <${MethodChoices} ...${{ state, always: tested === "yes" }} />
        ${
          !isRelevance &&
          html`<${Field} name="from">
            <${Switch}
              ...${{ name: "Followed from", chosen: followed, choices: FOLLOWED }}
              onChoose=${(next) => state.select({ followed: next })}
            />
          <//>`
        }
      </div>
      <div class="hs-model-parts hs-over-parts">
        <section class="hs-section">
          <h3 class="hs-heading">${title}</h3>
          <div class="hs-over-columns">
            <div class="hs-over-map">
              <${PatchMap} ...${{ state, drawn, reason, isRefused }} />
              ${
                answer &&
                html`<p class=${pointed === null ? "hs-read hs-muted" : "hs-read"} aria-live="polite">${read}</p>`
              }
            </div>
            <div>
              <p class="hs-sentence">${info.shows}</p>
              <p class="hs-read hs-muted">${more.filter(Boolean).join(" ")}</p>
              <p class="hs-doubt">${`${info.doubt} ${info.source}.`}</p>
              ${isTested && html`<${Faithful} ...${{ state, pictured: true, method: info.name }} />`}
            </div>
          </div>
        </section>
      </div>
      ${base.explains === "nothing" && html`<p class="hs-doubt">${UNEXPLAINED}</p>`}
    </section>
  `;
}

/** What a method's numbers are of, or where they start. */
function sourceOf(state, info, answer) {
  if (info.kind === "relevance")
    return `of ${answer.name ? `“${legible(answer.name)}”` : `output ${answer.id}`}`;
  const of = info.of === "head" ? ` (${state.siteName()}, ${state.headName()})` : "";
  return `from ${answer.reads ?? state.nameOf(state.selection.token ?? 0)}${of}`;
}

/** What the tokens before the patches hold, as a sentence. */
function withoutPlace(state, values) {
  const { prefix } = state;
  if (!prefix) return "";
  const named = values
    .slice(0, Math.min(prefix, NAMED))
    .map((value, i) => `${state.nameOf(i)} ${number(value)}`);
  return `Not on the picture: ${named.join(", ")}${prefix > named.length ? ", …" : ""}.`;
}
